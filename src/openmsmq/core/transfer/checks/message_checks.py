"""The checks of messages: decrypt the body, then verify the signature ([MS-MQQB] 3.1.5.8.3).

`MessageChecks` is the verifier of every queue manager. Data of the directory is looked up when
a check is created; the check itself runs in any thread.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol
from uuid import UUID

from openmsmq.core.events import SignatureFormFound
from openmsmq.core.model.timers import earlier
from openmsmq.core.sites.directory_events import read_directory
from openmsmq.directory.interface import AttributeFilter, FilterOperator
from openmsmq.directory.objects import ElementType, User
from openmsmq.security.signatures.hash_forms import SignatureVersion
from openmsmq.security.signatures.verification import Match, Verified, verify_after
from openmsmq.security.signatures.xml_forms import XmlForm
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.message_enums import Authenticated, SenderIdType
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.multi_queue_format_header import MQFFormatType
from openmsmq.wire.message.user_header import UserHeaderFlags
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_patch import patch_authentication
from openmsmq.wire.names.queue_address import QueueAddressType
from openmsmq.wire.scalars import GUID_NULL
from openmsmq.wire.security.security_header import (
    SecurityHeaderFlags,
    signature_and_certificate,
)
from openmsmq.wire.security.sid import SID

from .certificate_checks import BadSignature, CertificateChecks
from .checks import Verdict
from .srmp_signatures import judge_srmp
from .user_cert_cache import UserCertCache

if TYPE_CHECKING:
    from openmsmq.core.state import State
    from openmsmq.core.transfer.transports import Origin
    from openmsmq.wire.message.multi_queue_format_header import MQFFormatNameElement
    from openmsmq.wire.names.queue_address import QueueAddress

    from .checks import Check

_SH: Final = int(UserHeaderFlags.SH)
_MQ: Final = int(UserHeaderFlags.MQ)
_AH: Final = int(UserHeaderFlags.AH)
_EB: Final = int(SecurityHeaderFlags.EB)
_NO_QUEUE_MANAGER: Final = GUID_NULL.bytes_le
# Flags and SignatureSize of a SecurityHeader.
_FLAGS_AND_SIGNATURE: Final = Struct("<H4xH").unpack_from
_BAD_SIGNATURE: Final = MessageClass.NACK_BAD_SIGNATURE
_BAD_ENCRYPTION: Final = MessageClass.NACK_BAD_ENCRYPTION
_XML_LEVEL: Final = int(Authenticated.SIGXML)
_NO_SENDER: Final = int(SenderIdType.NONE)
_SIG30: Final = SignatureVersion.SIG30
# Choice: the number of senders whose form is remembered.
MAX_REMEMBERED_FORMS: Final = 1024


class DecryptionStep(Protocol):
    """The decryption of one message."""

    @property
    def cheap(self) -> bool:
        """Whether it is short and needs no private key."""

    def make(self) -> bytes | None:
        """The packet with a clear body, in any thread; None if it cannot be decrypted."""


class Decryptor(Protocol):
    """Decrypts the bodies of received messages, and keeps session keys for a while."""

    def begin(self, message: UserMessage, *, now: float) -> DecryptionStep:
        """The decryption of a message that has EB."""

    def next_timer(self) -> float | None:
        """The monotonic time at which `handle_timer` is to be called next."""

    def handle_timer(self, *, now: float) -> None:
        """Remove session keys that are old."""


class FormFound(NamedTuple):
    """The form of signatures of a source queue manager, seen for the first time."""

    source: bytes
    match: Match | XmlForm


class MessageCheck:
    """The check of one message: decryption and verification, each if the message needs it."""

    __slots__ = ("_checks", "_decryption", "_is_signed", "_known", "_message", "_utc", "cheap")

    def __init__(
        self,
        checks: MessageChecks,
        message: UserMessage,
        *,
        signed: bool,
        known: bool,
        decryption: DecryptionStep | None,
    ) -> None:
        self._checks = checks
        self._message = message
        self._is_signed = signed
        # Whether the directory has the certificate with the SID of the message.
        self._known = known
        self._decryption = decryption
        self._utc = checks.state.utc
        # The public half of a key is quick, the private one is not.
        self.cheap = decryption is None or decryption.cheap

    def make(self) -> Verdict:
        message = self._message
        if self._decryption is not None:
            clear = self._decryption.make()
            if clear is None:
                return Verdict(message.packet, _BAD_ENCRYPTION, failed=True)
            message = UserMessage(clear)
        if not self._is_signed:
            return Verdict(message.packet)
        judgment = self._checks.judge(message, known=self._known, utc=self._utc)
        if isinstance(judgment, BadSignature):
            return Verdict(message.packet, _BAD_SIGNATURE, failed=judgment.failed)
        return Verdict(authenticated(message, judgment))


def authenticated(message: UserMessage, match: Match | XmlForm) -> bytes:
    """The packet of a message whose signature is good.

    [MS-MQQB] 3.1.5.8.3: only the receiver sets AS; [MS-MQMQ] 2.2.20.6: AU follows it.
    """
    level = _XML_LEVEL if isinstance(match, XmlForm) else int(match.version)
    return patch_authentication(message, authenticated=True, level=level)


class MessageChecks:
    """Selects messages that must be decrypted or verified before they go into a queue.

    Args:
        decryptor: None if no body can be decrypted; then such a message is refused later.
    """

    __slots__ = (
        "_certificates",
        "_forms",
        "_xml_forms",
        "decryptor",
        "found",
        "has_timers",
        "state",
        "user_cert_cache",
    )

    def __init__(self, state: State, decryptor: Decryptor | None = None) -> None:
        self.state = state
        self.decryptor = decryptor
        self._certificates = CertificateChecks(state.settings.senders)
        # [MS-MQQB] 3.1.3.1: empty after a start.
        self.user_cert_cache = UserCertCache()
        # The form of the last good signature of each source queue manager.
        self._forms: dict[bytes, Verified] = {}
        self._xml_forms: dict[bytes, XmlForm] = {}
        # Forms that were not reported yet.
        self.found: list[FormFound] = []
        # Whether a cache may have expired entries: none has before the first check.
        self.has_timers = False

    def tell_found(self) -> None:
        """Report the forms of the signatures that workers have checked."""
        findings, self.found = self.found, []
        for source, match in findings:
            form = f"sigxml, {match}" if isinstance(match, XmlForm) else str(match)
            event = SignatureFormFound(source=UUID(bytes_le=source), form=form)
            self.state.outbox.tell(event)

    def next_timer(self) -> float | None:
        """The monotonic time at which `handle_timer` is to be called next."""
        due = self.user_cert_cache.due
        return due if self.decryptor is None else earlier(due, self.decryptor.next_timer())

    def handle_timer(self) -> None:
        """Handle the cleanup timers of UserCertCache and ReceiveSymmetricKeyCache."""
        due = self.user_cert_cache.due
        if due is not None and due <= self.state.now:
            self.user_cert_cache.clean(self.state.now)
        if self.decryptor is not None:
            self.decryptor.handle_timer(now=self.state.now)

    # Selection of messages

    def concerns(self, head: UserMessage, origin: Origin) -> bool:  # noqa: ARG002 - as asked
        return (
            head.flags & _SH != 0
            and needs_check(head)
            # [MS-MQQB] 3.1.5.8.3: a router checks nothing; a direct name has no GUID.
            and head.target in (self.state.identity, _NO_QUEUE_MANAGER)
        )

    def check(self, message: UserMessage, origin: Origin) -> Check:  # noqa: ARG002 - as asked
        decryption = None
        self.has_timers = True
        if self.decryptor is not None and message.encrypted:
            decryption = self.decryptor.begin(message, now=self.state.now)
        signed = is_signed(message)
        known = signed and self.is_registered(message)
        return MessageCheck(self, message, signed=signed, known=known, decryption=decryption)

    # Senders

    def is_registered(self, message: UserMessage) -> bool:
        """Whether the directory has the certificate of a message with its SID."""
        self.has_timers = True
        if message.sender_id_type == _NO_SENDER:
            return False
        header = message.security_header
        if header is None or not header.sender_cert:
            return False
        certificate, security_id = header.sender_cert, header.security_id
        cache = self.user_cert_cache
        if (security_id, certificate) in cache:
            return True
        if certificate not in self._registered(security_id):
            return False
        cache.add(security_id, certificate, self.state.now)
        return True

    def _registered(self, security_id: bytes) -> tuple[bytes, ...]:
        """The certificates that the directory has for a SID."""
        try:
            sid = SID.parse(security_id)[0]
        except MalformedPacket:
            return ()
        user = read_directory(
            self.state,
            ElementType.USER,
            [AttributeFilter("security_identifier", FilterOperator.EQUALS, sid)],
        ).directory_object
        return user.certificates if isinstance(user, User) else ()

    # Signatures

    def judge(
        self, message: UserMessage, *, known: bool, utc: float
    ) -> Match | XmlForm | BadSignature:
        """The form in which the signature of a message is valid, or why it proves nothing.

        Args:
            known: whether the directory has the certificate with the SID of the message.
        """
        # Only this queue manager sets AH, in messages that came by SRMP.
        if message.flags & _AH:
            return self.judge_xml(message, utc=utc)
        source = message.source
        algorithm = message.hash_algorithm
        if algorithm not in self._certificates.policy.accepted_hashes:
            return BadSignature(f"hash algorithm 0x{algorithm:04X} is not accepted")
        at = message.security_offset
        if not at or (not known and message.sender_id_type != _NO_SENDER):
            return BadSignature("the certificate is not registered with the SID of the sender")
        signature, encoded = signature_and_certificate(message.packet, at)
        certificate = self._certificates.usable(encoded, utc, known=known)
        if isinstance(certificate, BadSignature):
            return certificate
        if certificate.rsa_key is None:
            return BadSignature("the key of the certificate is not RSA")
        last = self._forms.get(source)
        verified = verify_after(last, message, signature, certificate.rsa_key, algorithm)
        if verified is None:
            return BadSignature("the signature does not fit the message", failed=True)
        match = verified.match
        if match.version is _SIG30 and not _names_destination(message):
            return BadSignature("the signed list does not name the destination", failed=True)
        if verified is not last:
            self._remember(source, verified)
        return match

    def judge_xml(self, message: UserMessage, *, utc: float) -> XmlForm | BadSignature:
        """The same for a message that came by SRMP, or that a local client sends to a URL."""
        source = message.source
        form = judge_srmp(message, self._certificates, utc, self._xml_forms.get(source))
        if isinstance(form, XmlForm):
            self._remember_xml(source, form)
        return form

    def _remember(self, source: bytes, verified: Verified) -> None:
        known = self._forms.get(source)
        if known is None and len(self._forms) >= MAX_REMEMBERED_FORMS:
            self._forms.clear()
        self._forms[source] = verified
        if known is None or known.match != verified.match:
            self.found.append(FormFound(source, verified.match))

    def _remember_xml(self, source: bytes, form: XmlForm) -> None:
        if self._xml_forms.get(source) == form:
            return
        if len(self._xml_forms) >= MAX_REMEMBERED_FORMS:
            self._xml_forms.clear()
        self._xml_forms[source] = form
        self.found.append(FormFound(source, form))


def needs_check(message: UserMessage) -> bool:
    """Whether a message with a SecurityHeader is encrypted or signed."""
    flags, signature = _FLAGS_AND_SIGNATURE(message.packet, message.security_offset)
    return bool(flags & _EB or signature or (message.flags & _MQ and is_signed(message)))


def is_signed(message: UserMessage) -> bool:
    """Whether a message with a SecurityHeader has a signature."""
    if _FLAGS_AND_SIGNATURE(message.packet, message.security_offset)[1]:
        return True
    names = message.multi_queue_format_header
    return names is not None and names.signature != b""


def _names_destination(message: UserMessage) -> bool:
    """Whether the signed list of names has the destination, which the signature does not cover."""
    names = message.multi_queue_format_header
    address = message.destination_queue
    if names is None or address is None:
        return False
    return any(_is_for(element, address) for element in names.destination)


def _is_for(element: MQFFormatNameElement, address: QueueAddress) -> bool:
    match element.format_type:
        case MQFFormatType.DISTRIBUTION_LIST:
            # Only the sender knows the contents of the list at the time of sending.
            return True
        case MQFFormatType.DIRECT:
            return (
                address.direct is not None
                and element.format_name.casefold() == f"DIRECT={address.direct}".casefold()
            )
        case MQFFormatType.PRIVATE:
            return address.type == QueueAddressType.PRIVATE_ON_OTHER and (
                element.guid,
                element.private_queue_identifier,
            ) == (address.guid, address.number)
        case _:
            return address.type == QueueAddressType.PUBLIC and element.guid == address.guid
