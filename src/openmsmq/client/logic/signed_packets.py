"""Signed packets: the client signs the bytes that will be on the wire ([MS-MQQB] 3.1.7.1.4).

A signature covers the destination, the queue manager that sends, and values that a transaction
changes. So these are in the packet before it is signed, and the queue manager does not change them.
"""

from typing import Final, NamedTuple

from openmsmq.client.certificates import CertificateStore, SigningKey
from openmsmq.client.message import Message
from openmsmq.client.property_check import check_properties
from openmsmq.security.signatures.hash_forms import SignatureVersion
from openmsmq.security.signatures.hashes import (
    DEFAULT_HASH,
    HASH_NAMES,
    NAMES_OF_HASHES,
    SIGNING_HASHES,
)
from openmsmq.security.signatures.signing import sign
from openmsmq.security.signatures.xml_forms import CertificatePlace
from openmsmq.security.signatures.xml_signing import sign_xml
from openmsmq.wire.checks import pad4
from openmsmq.wire.codes.algorithms import HashAlgorithm, ProviderType
from openmsmq.wire.codes.message_enums import SenderIdType
from openmsmq.wire.message.multi_queue_format_header import (
    MQF_SIGNATURE_HEADER_SIZE,
    MultiQueueFormatHeader,
)
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import UserMessageTemplate
from openmsmq.wire.names.direct_format_name import DirectFormatName, DirectProtocol
from openmsmq.wire.names.format_name import (
    DistributionListFormatName,
    MulticastFormatName,
    MultipleElementFormatName,
    SingleFormatName,
    parse_format_name,
)
from openmsmq.wire.names.queue_address_names import address_of, element_of
from openmsmq.wire.security.security_header import (
    ProviderInfo,
    SecurityHeader,
    SecurityHeaderFlags,
    security_layout,
)
from openmsmq.wire.srmp.signature import signed_info_of

from .packet_templates import MAX_FAMILIES, Family, Sender, message_options

VERSIONS: Final = {
    "1.0": SignatureVersion.SIG10,
    "2.0": SignatureVersion.SIG20,
    "3.0": SignatureVersion.SIG30,
}
# [MS-MQDMPR] 3.1.7.1.32: DE for a signature that the queuing system makes.
_FLAGS: Final = int(SecurityHeaderFlags.DE | SecurityHeaderFlags.AI)
# [MS-MQDMPR] 3.1.1.12: the provider that the queuing system names; keys have 1024 bits or more.
_PROVIDER: Final = ProviderInfo(
    ProviderType.RSA_FULL, "Microsoft Enhanced Cryptographic Provider, v1.0"
)
_SIGNATURE: Final = 2
XML: Final = "xml"
DEFAULT_HASH_NAME: Final = NAMES_OF_HASHES[DEFAULT_HASH]
_WEB: Final = frozenset((DirectProtocol.HTTP, DirectProtocol.HTTPS))


class _SignedFamily(NamedTuple):
    """A template of messages that differ in label, correlation and body, and their signing."""

    family: Family
    # None for the signature of SRMP.
    version: SignatureVersion | None
    algorithm: HashAlgorithm
    key: SigningKey


class SignedPacketBuilder:
    """Builds the signed packets of one sender, in or outside transactions."""

    def __init__(self, sender: Sender, *, transactional: bool) -> None:
        self._sender = sender
        self._transactional = transactional
        self._keys: dict[str | None, SigningKey] = {}
        self._families: dict[tuple[object, ...], _SignedFamily] = {}

    def build(self, message: Message, destination: str, properties: tuple[object, ...]) -> bytes:
        """The packet of a message, signed.

        Args:
            destination: the format name that the queue manager knows the queue by.
            properties: all properties shared by messages of one template.

        Raises:
            ValueError: a property is invalid; the text names it.
            ConfigError: the certificate or its key cannot be used.
        """
        body, body_type = message.encoded_body()
        key = (properties, body_type, destination, message.certificate, message.hash_algorithm)
        signed = self._families.get(key)
        if signed is None:
            signed = self._family(message, body_type, destination)
            if len(self._families) >= MAX_FAMILIES:
                self._families.clear()
            self._families[key] = signed
        packet = signed.family.build(body, message.label, message.correlation_id)
        view = UserMessage(packet)
        signature = self._sign(view, signed)
        at = _signature_offset(view, signed.version, len(signature))
        return b"".join((packet[:at], signature, packet[at + len(signature) :]))

    def _sign(self, message: UserMessage, signed: _SignedFamily) -> bytes:
        key, version, sender = signed.key.key, signed.version, self._sender
        if version is None:
            return sign_xml(signed_info_of(message), key, sender.srmp_signature_form)
        return sign(
            message,
            key,
            version=version,
            algorithm=signed.algorithm,
            form=sender.signature_form,
        )

    def _family(self, message: Message, body_type: int, destination: str) -> _SignedFamily:
        check_properties(message)
        names = _names(destination)
        version = None
        if any(map(_is_srmp, names)):
            _check_srmp(message, names)
            algorithm = HashAlgorithm.SHA1
        else:
            several = len(names) > 1 or _is_list(names[0])
            version = _version(wanted=message.sign, several=several)
            algorithm = _algorithm(message.hash_algorithm)
        key = self._key(message.certificate)
        placeholder = bytes(key.key.key_size + 7 >> 3)
        in_list = version is SignatureVersion.SIG30
        options = message_options(
            self._sender, message, body_type, transactional=self._transactional
        )
        options["source_queue_manager"] = self._sender.queue_manager
        options["hash_algorithm"] = algorithm
        options["security_header"] = self._security(
            key, b"" if in_list else placeholder, srmp=version is None
        )
        if in_list:
            options["multi_queue_format_header"] = MultiQueueFormatHeader(
                tuple(map(element_of, names)), signature=placeholder
            )
        destination_queue = address_of(names[0]) if _is_one(names) else None
        template = UserMessageTemplate(destination_queue=destination_queue, **options)
        return _SignedFamily(Family(template), version, algorithm, key)

    def _security(self, key: SigningKey, signature: bytes, *, srmp: bool) -> SecurityHeader:
        # [MS-MQQB] 3.1.5.8.3: a SID is accepted only with a certificate known to the directory.
        sid = self._sender.sid if self._sender.directory else b""
        kind = SenderIdType.SID if sid else SenderIdType.NONE
        certificate = key.certificate
        if srmp and self._sender.srmp_signature_form.certificate is CertificatePlace.KNOWN:
            certificate = b""
        return SecurityHeader(
            kind | _FLAGS,
            security_id=sid,
            signature=signature,
            sender_cert=certificate,
            provider_info=None if srmp else _PROVIDER,
        )

    def _key(self, certificate: str | SigningKey | None) -> SigningKey:
        if isinstance(certificate, SigningKey):
            return certificate
        key = self._keys.get(certificate)
        if key is None:
            key = self._keys[certificate] = CertificateStore().signing_key(certificate)
        return key


def _names(destination: str) -> tuple[SingleFormatName, ...]:
    """The destination names of a message."""
    name = parse_format_name(destination)
    return name.elements if isinstance(name, MultipleElementFormatName) else (name,)


def _is_srmp(name: SingleFormatName) -> bool:
    """Whether messages to a name travel by SRMP."""
    return isinstance(name, MulticastFormatName) or (
        isinstance(name, DirectFormatName) and name.protocol in _WEB
    )


def _check_srmp(message: Message, names: tuple[SingleFormatName, ...]) -> None:
    """[MC-MQSRM] 2.2.7: SRMP has a signature of its own, with SHA-1.

    Raises:
        ValueError: the message cannot be signed in this form.
    """
    other = next((name for name in names if not _is_srmp(name)), None)
    if other is not None:
        raise ValueError(f"sign: no signature is for SRMP and for {other}; send it twice")
    if message.sign not in (True, XML):
        raise ValueError(f"sign: messages to {names[0]} have {XML!r}, not {message.sign!r}")
    # The default is the strongest one.
    if message.hash_algorithm not in (DEFAULT_HASH_NAME, "sha1"):
        raise ValueError(f"hash_algorithm: SRMP signs with sha1, not {message.hash_algorithm}")


def _is_list(name: SingleFormatName) -> bool:
    return isinstance(name, DistributionListFormatName)


def _is_one(names: tuple[SingleFormatName, ...]) -> bool:
    """Whether the packet has its destination; else the queue manager adds that of each copy."""
    return len(names) == 1 and not _is_list(names[0])


def _version(*, wanted: bool | str, several: bool) -> SignatureVersion:
    """The version of the signature.

    Raises:
        ValueError: it is unknown, or does not support several queues.
    """
    if wanted is True:
        return SignatureVersion.SIG30 if several else SignatureVersion.SIG20
    version = VERSIONS.get(str(wanted))
    if version is None:
        raise ValueError(f"sign: {wanted!r} must be True or one of {', '.join(VERSIONS)}")
    if several and version is not SignatureVersion.SIG30:
        # [MS-MQQB] 3.1.7.1.4: one signature for all copies.
        raise ValueError(f"sign: messages to several queues are signed as 3.0, not {wanted}")
    return version


def _algorithm(name: str) -> HashAlgorithm:
    if name not in SIGNING_HASHES:
        raise ValueError(f"hash_algorithm: {name!r} must be one of {', '.join(SIGNING_HASHES)}")
    return HASH_NAMES[name]


def _signature_offset(message: UserMessage, version: SignatureVersion | None, size: int) -> int:
    """The offset of the signature in the packet."""
    trailing = message.trailing
    if version is SignatureVersion.SIG30 and trailing is not None:
        # The last part of the last header.
        return trailing.end - pad4(MQF_SIGNATURE_HEADER_SIZE + size) + MQF_SIGNATURE_HEADER_SIZE
    start: int = security_layout(message.packet, message.security_offset)[0][_SIGNATURE].start
    return start
