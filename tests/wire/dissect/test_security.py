"""SecurityHeaders as trees."""

from uuid import UUID

import pytest

from openmsmq.wire.codes.algorithms import EncryptionAlgorithm
from openmsmq.wire.codes.message_enums import SenderIdType
from openmsmq.wire.dissect import Node, dissect
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.security.key_blobs import SimpleBlob
from openmsmq.wire.security.security_header import ProviderInfo, SecurityHeader
from openmsmq.wire.security.sid import ANONYMOUS, SID

KEY = SimpleBlob(EncryptionAlgorithm.AES_256, bytes(128)).serialize()


def build(header: SecurityHeader) -> bytes:
    return build_user_message(
        destination_queue=direct_address("OS:host\\q"), security_header=header
    )


def shown(header: SecurityHeader) -> dict[str, Node]:
    node = dissect(build(header)).find("SecurityHeader")
    assert node is not None
    return {child.name: child for child in node.children}


@pytest.mark.parametrize(
    ("sender_type", "security_id", "value", "meaning"),
    [
        (SenderIdType.SID, SID(5, (21, 1, 2, 3, 500)).serialize(), "S-1-5-21-1-2-3-500", ""),
        (SenderIdType.SID, ANONYMOUS.serialize(), "S-1-5-7", "anonymous"),
        (
            SenderIdType.QM,
            UUID(int=7).bytes_le,
            "{00000000-0000-0000-0000-000000000007}",
            "queue manager",
        ),
        (
            SenderIdType.SID,
            b"\x02" + bytes(11),
            b"\x02" + bytes(11),
            "not a SID: SID.Revision at offset 0: is 2, not 1",
        ),
        (SenderIdType.QM, b"abcd", b"abcd", "not a SID: SID at offset 0: needs 8 bytes, 4 remain"),
    ],
)
def test_senders_are_shown_by_their_type(
    sender_type: int, security_id: bytes, value: str | bytes, meaning: str
) -> None:
    node = shown(SecurityHeader(sender_type, security_id=security_id))["SecurityID"]
    assert (node.value, node.meaning) == (value, meaning)


@pytest.mark.parametrize(
    ("key", "meaning"),
    [
        (KEY, "SIMPLEBLOB, AES_256 key under RSA of 1024 bits"),
        (b"no key", "not a SIMPLEBLOB: SIMPLEBLOB at offset 0: needs 12 bytes, 6 remain"),
    ],
)
def test_keys_are_shown_with_what_they_are(key: bytes, meaning: str) -> None:
    node = shown(SecurityHeader(0, encryption_key=key))["EncryptionKey"]
    assert (node.value, node.meaning) == (key, meaning)


def test_signature_certificate_and_provider() -> None:
    items = shown(
        SecurityHeader(
            0, signature=b"sig", sender_cert=b"cert", provider_info=ProviderInfo(24, "Enhanced")
        )
    )
    assert (items["Signature"].value, items["SenderCert"].value) == (b"sig", b"cert")
    assert items["SenderCert"].meaning == "X.509 certificate"
    assert (items["ProviderInfo"].value, items["ProviderInfo"].meaning) == (
        "Enhanced",
        "type 24, RSA_AES",
    )
    assert "SecurityID" not in items


def test_items_before_one_that_does_not_fit_are_shown() -> None:
    data = bytearray(build(SecurityHeader(1, security_id=ANONYMOUS.serialize(), signature=b"s")))
    root = dissect(bytes(data))
    size = root.find("SecurityHeader", "SignatureSize")
    assert size is not None
    data[size.offset : size.offset + 2] = b"\xff\xff"
    damaged = dissect(bytes(data))
    sender = damaged.find("SecurityHeader", "SecurityID")
    assert sender is not None
    assert sender.value == "S-1-5-7"
    fault = damaged.first_fault()
    assert fault is not None
    assert fault.field == "SecurityHeader.Signature"
    assert damaged.find("MessagePropertiesHeader") is None
