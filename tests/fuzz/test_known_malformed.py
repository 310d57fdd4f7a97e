"""The known classes of malformed packets: each must fail in its field and do nothing else."""

import pytest
from tests.fuzz.seeds import DESCRIPTOR, KEYS, LISTS, SECURITY, SOAP, seeds

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.multi_queue_format_header import MultiQueueFormatHeader
from openmsmq.wire.message.srmp_headers import CompoundMessageHeader, SRMPEnvelopeHeader
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.packets.framer import Framer
from openmsmq.wire.remote_read.remote_read_message import RemoteReadMessage
from openmsmq.wire.security.security_descriptor import SecurityDescriptor

SEEDS = dict(seeds())
ENVELOPE = SRMPEnvelopeHeader('<se:Envelope xmlns:se="http://schemas.xmlsoap.org/soap/envelope/"/>')
COMPOUND = CompoundMessageHeader(b"POST /msmq HTTP/1.1\r\n\r\nMessage", 7, 23)
EXTENSION = bytes.fromhex("0c000000 00000000 00000000")


def probe() -> bytearray:
    """A message like the public probe for CVE-2023-21554: SRMP headers, then an ExtensionHeader."""
    packet = bytearray(
        build_user_message(
            destination_queue=direct_address("http://192.168.56.113/msmq/private$/queuejumper"),
            label="poc",
            routing_count=1,
            srmp_headers=(ENVELOPE, COMPOUND),
        )
        + EXTENSION
    )
    packet[3] = 0x10
    packet[8:12] = len(packet).to_bytes(4, "little")
    return packet


def refuse(packet: bytes | bytearray, field: str) -> None:
    """The packet must fail in this field on every way it can come in."""
    raw = bytes(packet)
    for parse in (UserMessage, RemoteReadMessage.parse):
        with pytest.raises(MalformedPacket) as caught:
            parse(raw)
        assert caught.value.field == field
        assert 0 <= caught.value.offset <= len(raw)


def patched(packet: bytes | bytearray, part: bytes, position: int, value: int) -> bytearray:
    """The packet with another u32 at `position` of the part that it contains."""
    out = bytearray(packet)
    at = out.index(part) + position
    out[at : at + 4] = (value & 0xFFFFFFFF).to_bytes(4, "little")
    return out


def test_the_probe_itself_is_well_formed() -> None:
    message = UserMessage(bytes(probe()))
    assert message.srmp_envelope_header == ENVELOPE
    assert message.compound_message_header == COMPOUND
    assert message.body == b"Message"
    assert RemoteReadMessage.parse(bytes(probe())).extension_header is not None


@pytest.mark.parametrize(
    "data_length",
    [
        # 2 * 0x80000000 is 0 modulo 2**32: the length that made QueueJumper.
        0x80000000 + len(ENVELOPE.data) + 1,
        0x80000000,
        0x80000001,
        0x7FFFFFFF,
        0xFFFFFFFF,
        0x00200000,
        1000,
    ],
)
def test_srmp_envelope_beyond_the_packet(data_length: int) -> None:
    refuse(patched(probe(), ENVELOPE.serialize(), 4, data_length), "SRMPEnvelopeHeader.Data")


@pytest.mark.parametrize("http_body_size", [0xFFFFFFFF, 0xFFFFFFF0, 0x7FFFFFFF, 0x400000, 60])
def test_compound_message_beyond_the_packet(http_body_size: int) -> None:
    refuse(patched(probe(), COMPOUND.serialize(), 4, http_body_size), "CompoundMessageHeader.Data")


@pytest.mark.parametrize(
    ("position", "value"),
    [
        (8, len(COMPOUND.data)),
        # 23 + 0xFFFFFFF0 is 7 modulo 2**32.
        (8, 0xFFFFFFF0),
        (12, len(COMPOUND.data) - 6),
        # 0xFFFFFFF9 + 7 is 0 modulo 2**32.
        (12, 0xFFFFFFF9),
    ],
)
def test_compound_message_body_beyond_its_data(position: int, value: int) -> None:
    packet = patched(probe(), COMPOUND.serialize(), position, value)
    refuse(packet, "CompoundMessageHeader.MsgBodyOffset")


LISTS_PACKET = build_user_message(
    destination_queue=direct_address("OS:h\\q"), multi_queue_format_header=LISTS
)


@pytest.mark.parametrize("count", [3, 100, 513, 0x10000, 0x40000001, 0x80000000, 0xFFFFFFFF])
def test_counts_of_a_multi_queue_format_header(count: int) -> None:
    packet = patched(LISTS_PACKET, LISTS.serialize(), 8, count)
    with pytest.raises(MalformedPacket, match=r"MultiQueueFormatHeader\.Destination"):
        UserMessage(bytes(packet))


@pytest.mark.parametrize(
    "size",
    # 0xFFFFFFFD to 0xFFFFFFFF are 0 modulo 2**32 when rounded up to 4.
    [0, 11, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFC, 0xFFFFFFFD, 0xFFFFFFFE, 0xFFFFFFFF],
)
def test_sizes_of_a_multi_queue_format_header(size: int) -> None:
    packet = patched(LISTS_PACKET, LISTS.serialize(), 0, size)
    refuse(packet, "MultiQueueFormatHeader.Destination.HeaderSize")


@pytest.mark.parametrize("size", [9, 0x7FFFFFFF, 0xFFFFFFF8, 0xFFFFFFFF])
def test_size_of_the_signature_of_a_multi_queue_format_header(size: int) -> None:
    signature = bytes.fromhex("5e010000 06000000") + b"signed"
    refuse(patched(LISTS_PACKET, signature, 4, size), "MultiQueueFormatHeader.Signature.Size")


def test_an_empty_list_of_the_largest_size_is_no_loop() -> None:
    raw = MultiQueueFormatHeader(()).serialize()
    damaged = raw[:8] + b"\xff\xff\xff\xff" + raw[12:]
    with pytest.raises(MalformedPacket, match="ElementCount"):
        MultiQueueFormatHeader.parse(damaged)


PLAIN = SEEDS["message-plain"]
PROPERTIES = UserMessage(PLAIN).properties_offset


def with_byte(packet: bytes, position: int, value: int) -> bytes:
    return packet[:position] + bytes([value]) + packet[position + 1 :]


def with_number(packet: bytes, position: int, value: int) -> bytes:
    return packet[:position] + value.to_bytes(4, "little") + packet[position + 4 :]


@pytest.mark.parametrize("length", [0xFB, 0xFE, 0xFF])
def test_a_label_longer_than_labels_are(length: int) -> None:
    refuse(with_byte(PLAIN, PROPERTIES + 1, length), "MessagePropertiesHeader.LabelLength")


@pytest.mark.parametrize("length", [20, 0x80, 0xFA])
def test_a_label_beyond_the_packet(length: int) -> None:
    with pytest.raises(MalformedPacket, match=r"Label|MessageBody"):
        UserMessage(with_byte(PLAIN, PROPERTIES + 1, length))


@pytest.mark.parametrize("size", [5, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFF0, 0xFFFFFFFF])
def test_an_extension_beyond_the_packet(size: int) -> None:
    with pytest.raises(MalformedPacket, match=r"MessagePropertiesHeader\."):
        UserMessage(with_number(PLAIN, PROPERTIES + 52, size))


@pytest.mark.parametrize("size", [9, 0x400000, 0x7FFFFFFF, 0xFFFFFFFF])
def test_a_body_beyond_the_packet(size: int) -> None:
    refuse(with_number(PLAIN, PROPERTIES + 32, size), "MessagePropertiesHeader.MessageBody")


def test_extension_and_body_sizes_that_wrap_together() -> None:
    # The sum of both is 4, the size of the body, modulo 2**32.
    packet = with_number(PLAIN, PROPERTIES + 52, 0xFFFFFFF0)
    refuse(with_number(packet, PROPERTIES + 32, 0x14), "MessagePropertiesHeader.ExtensionData")


def test_label_and_extension_sizes_that_wrap_together() -> None:
    packet = with_byte(PLAIN, PROPERTIES + 1, 0x08)
    refuse(
        with_number(packet, PROPERTIES + 52, 0xFFFFFFFC), "MessagePropertiesHeader.ExtensionData"
    )


SECURE = build_user_message(
    destination_queue=direct_address("OS:h\\q"), security_header=SECURITY, soap_header=SOAP
)


@pytest.mark.parametrize(
    ("position", "value"),
    [
        (0, 0xFFFF0041),
        (4, 0x0009FFFF),
        (4, 0xFFFF0000),
        (8, 0xFFFF),
        (8, 0x10000),
        (8, 0xFFFFFFF0),
        (12, 0xFFFFFFF0),
        (12, 0xFFFFFFFE),
        (12, 0x7FFFFFFE),
        (12, 2),
    ],
)
def test_sizes_of_a_security_header(position: int, value: int) -> None:
    packet = patched(SECURE, SECURITY.serialize(), position, value)
    with pytest.raises(MalformedPacket, match=r"SecurityHeader\."):
        UserMessage(bytes(packet))


@pytest.mark.parametrize("length", [0x80000005, 0x80000000, 0x7FFFFFFF, 0xFFFFFFFF, 1000])
def test_lengths_of_a_soap_header(length: int) -> None:
    soap = SOAP.serialize()
    refuse(patched(SECURE, soap, 4, length), "SoapHeader.Header")
    body = soap[soap.index(b"\x84\x03\0\0") :]
    refuse(patched(SECURE, body, 4, length), "SoapHeader.Body")


@pytest.mark.parametrize("count", [0, 1, 27, 0x8000, 0xFFFE, 0xFFFF])
def test_counts_of_a_direct_name(count: int) -> None:
    packet = PLAIN[:64] + count.to_bytes(2, "little") + PLAIN[66:]
    with pytest.raises(MalformedPacket):
        UserMessage(packet)


@pytest.mark.parametrize("size", [0, 15, 0x400001, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF])
def test_packet_sizes_are_refused_before_anything_is_buffered(size: int) -> None:
    framer = Framer()
    with pytest.raises(MalformedPacket) as caught:
        framer.feed(with_number(PLAIN, 8, size))
    assert caught.value.field == "BaseHeader.PacketSize"
    assert framer.pending_bytes == 0


REMOTE = SEEDS["remote-read-binary"]


@pytest.mark.parametrize("size", [1, 175, 0x7FFFFFFF, 0xFFFFFFF4, 0xFFFFFFFF])
def test_sizes_behind_an_extension_header(size: int) -> None:
    packet = patched(REMOTE, b"\x0c\0\0\0", 4, size)
    with pytest.raises(MalformedPacket, match=r"ExtensionHeader\.RemainingHeadersSize"):
        RemoteReadMessage.parse(bytes(packet))


@pytest.mark.parametrize("size", [0, 4, 0x7FFFFFFF, 0xFFFFFFFC, 0xFFFFFFFF])
def test_size_of_a_dead_letter_header(size: int) -> None:
    name = "host\\private$\\dead".encode("utf-16-le")
    packet = patched(REMOTE, name, -4, size)
    with pytest.raises(MalformedPacket, match=r"DeadLetterHeader\."):
        RemoteReadMessage.parse(bytes(packet))


@pytest.mark.parametrize("position", [4, 8, 12, 16])
@pytest.mark.parametrize("value", [19, 0x7FFFFFFF, 0xFFFFFFEC, 0xFFFFFFFF])
def test_offsets_of_a_security_descriptor(position: int, value: int) -> None:
    packet = with_number(DESCRIPTOR.serialize(), position, value)
    with pytest.raises(MalformedPacket):
        SecurityDescriptor.parse(packet)


def test_lists_of_a_security_descriptor_may_overlap_but_not_loop() -> None:
    raw = bytearray(DESCRIPTOR.serialize())
    raw[12:16] = raw[16:20]
    found, _ = SecurityDescriptor.parse(bytes(raw))
    assert found.sacl == found.dacl


@pytest.mark.parametrize("count", [2, 0x15555556, 0x55555556, 0xFFFFFFFF])
def test_counts_of_public_keys(count: int) -> None:
    packet = with_number(KEYS.serialize(), 4, count)
    with pytest.raises(MalformedPacket, match=r"MQDSPUBLICKEY"):
        type(KEYS).parse(packet)
