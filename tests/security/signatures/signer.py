"""Signed messages for tests: keys that are made once, packets with a good signature."""

from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding

from openmsmq.client.certificates import SigningKey
from openmsmq.security.signatures.hash_forms import FIRST_FORM, HashForm, SignatureVersion
from openmsmq.security.signatures.signing import sign
from openmsmq.wire.codes.algorithms import HashAlgorithm
from openmsmq.wire.codes.message_enums import SenderIdType
from openmsmq.wire.message.multi_queue_format_header import MultiQueueFormatHeader
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.message.user_message_rebuild import rebuild
from openmsmq.wire.names.format_name import parse_format_name
from openmsmq.wire.names.queue_address_names import element_of, format_name_of
from openmsmq.wire.security.security_header import SecurityHeader
from openmsmq.wire.security.sid import SID

ALICE = SID(5, (21, 1, 2, 3, 1001))
MALLORY = SID(5, (21, 1, 2, 3, 1666))
# The clock of the harness starts in November 2023.
NOT_BEFORE = datetime(2023, 1, 1, tzinfo=UTC)
NOT_AFTER = datetime(2033, 1, 1, tzinfo=UTC)


def private_key(name: str, bits: int = 2048) -> rsa.RSAPrivateKey:
    """A key, the same one for the same arguments."""
    return _private_key(name, bits)


@cache
def _private_key(name: str, bits: int) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, bits)


@cache
def signing_key(
    name: str = "alice",
    *,
    bits: int = 2048,
    not_before: datetime = NOT_BEFORE,
    not_after: datetime = NOT_AFTER,
) -> SigningKey:
    """A certificate that signs itself, the same one for the same arguments."""
    key = private_key(name, bits)
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(not_before)
        .not_valid_after(max(not_after, not_before + timedelta(days=1)))
        .sign(key, hashes.SHA256())
    )
    return SigningKey(certificate.public_bytes(Encoding.DER), key)


def signed(
    packet: bytes,
    key: SigningKey | None = None,
    *,
    sid: SID | None = ALICE,
    version: SignatureVersion = SignatureVersion.SIG20,
    algorithm: HashAlgorithm = HashAlgorithm.SHA_512,
    form: HashForm = FIRST_FORM,
    **changes: Any,
) -> bytes:
    """The message with a signature, 3.0 in its list of names."""
    key = key or signing_key()
    message = UserMessage(packet)
    names = message.multi_queue_format_header
    in_list = version is SignatureVersion.SIG30
    if in_list and names is None:
        address = message.destination_queue
        assert address is not None
        names = MultiQueueFormatHeader((element_of(format_name_of(address)),))

    def with_signature(message: UserMessage, signature: bytes) -> bytes:
        header = names
        if in_list and header is not None:
            header = MultiQueueFormatHeader(
                header.destination, header.administration, header.response, signature
            )
        security = SecurityHeader(
            SenderIdType.NONE if sid is None else SenderIdType.SID,
            security_id=b"" if sid is None else sid.serialize(),
            signature=b"" if in_list else signature,
            sender_cert=key.certificate,
        )
        return rebuild(
            message,
            security_header=security,
            multi_queue_format_header=header,
            hash_algorithm=algorithm,
            **changes,
        )

    bare = UserMessage(with_signature(message, bytes(key.key.key_size // 8)))
    signature = sign(bare, key.key, version=version, algorithm=algorithm, form=form)
    changes = {}
    return with_signature(bare, signature)


def message(body: bytes = b"body", **properties: Any) -> bytes:
    """A message to sign; by default with every property that a signature covers."""
    options: dict[str, Any] = {
        "destination_queue": _address(r"DIRECT=OS:b\private$\orders"),
        "response_queue": _address(r"DIRECT=OS:a\private$\answers"),
        "admin_queue": _address(r"DIRECT=OS:a\private$\acknowledgments"),
        "label": "a label",
        "correlation_id": bytes(range(20)),
        "application_tag": 0x01020304,
        "extension": b"extension",
        "body_type": 0x2011,
        "priority": 5,
        "acknowledgments": 0x0F,
        "sent_time": 1_700_000_000,
    }
    return build_user_message(body=body, **{**options, **properties})


def _address(name: str) -> Any:
    from openmsmq.wire.names.queue_address_names import address_of

    return address_of(parse_format_name(name))
