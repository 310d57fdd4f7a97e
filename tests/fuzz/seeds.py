"""The kept corpus: the example frames and one small packet or structure of every kind.

`python -m tests.fuzz.seeds` writes the files of `corpus/` anew; a test compares them.
"""

import json
import struct
from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address
from pathlib import Path
from typing import Final
from uuid import UUID

from tests.fuzz.srmp_server import example_requests
from tests.fuzz.targets import BODY_TYPES, NAMES, logon_packages
from tests.protocol.rpc.harness import (
    ADD,
    NDR64_ID,
    NDR_ID,
    TEST_ID,
    Number,
    bind_pdu,
    element,
    fragment,
    request_pdu,
)
from tests.wire.rpc_interfaces.layouts import LAYOUTS
from tests.wire.rpc_interfaces.stubs import STUBS

from openmsmq.security.mechanism import RPC_C_AUTHN_GSS_NEGOTIATE, RPC_C_AUTHN_WINNT
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.body_type import VT_VECTOR, BodyType
from openmsmq.wire.message.debug_header import DebugHeader
from openmsmq.wire.message.multi_queue_format_header import (
    MQFFormatNameElement,
    MQFFormatType,
    MultiQueueFormatHeader,
)
from openmsmq.wire.message.sequence_info import SequenceInfo
from openmsmq.wire.message.soap_header import SoapHeader
from openmsmq.wire.message.srmp_headers import CompoundMessageHeader, SRMPEnvelopeHeader
from openmsmq.wire.message.transaction_header import TransactionHeader
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address, private_address, public_address
from openmsmq.wire.ndr import NDR64
from openmsmq.wire.packets.connection_parameters import ConnectionParameters
from openmsmq.wire.packets.establish_connection import EstablishConnection, OperatingSystemFlags
from openmsmq.wire.packets.order_ack import (
    FinalAck,
    OrderAck,
    build_final_ack,
    build_order_ack,
    direct_order_queue,
    order_queue,
)
from openmsmq.wire.packets.ping import Ping, PingFlags
from openmsmq.wire.packets.session_header import SessionAck, SessionHeader
from openmsmq.wire.pgm import (
    DataPacket,
    Fragment,
    NakPacket,
    Options,
    PacketType,
    Reset,
    SourcePathMessage,
    TransportSessionId,
)
from openmsmq.wire.remote_read.dead_letter_header import DeadLetterHeader
from openmsmq.wire.remote_read.extended_address_header import (
    AddressOverlay,
    ExtendedAddressHeader,
    HostAddressType,
)
from openmsmq.wire.remote_read.extension_header import ExtensionHeader, ExtensionHeaderFlags
from openmsmq.wire.remote_read.remote_read_message import RemoteReadMessage
from openmsmq.wire.remote_read.subqueue_header import SubqueueHeader
from openmsmq.wire.remote_read.ta_address import TAAddress, TAAddressType
from openmsmq.wire.rpc.bind import Bind, BindAck, BindNak, ResultElement
from openmsmq.wire.rpc.call import Fault
from openmsmq.wire.rpc.header import PduType, pack_pdu
from openmsmq.wire.rpc.sec_trailer import SecTrailer
from openmsmq.wire.rpc.status import ContextResult
from openmsmq.wire.rpc.syntax import features_syntax
from openmsmq.wire.rpc.tower import TcpTower
from openmsmq.wire.rpc.verification_trailer import Header2, VerificationTrailer
from openmsmq.wire.scalars import TxSequenceID
from openmsmq.wire.security.key_blobs import (
    MQDSPublicKey,
    MQDSPublicKeys,
    PublicKeyBlob,
    SimpleBlob,
)
from openmsmq.wire.security.security_descriptor import (
    Ace,
    AceType,
    Acl,
    RawAce,
    SecurityDescriptor,
    SecurityDescriptorControl,
)
from openmsmq.wire.security.security_header import ProviderInfo, SecurityHeader
from openmsmq.wire.security.sid import BUILTIN_ADMINISTRATORS, EVERYONE, LOCAL_SYSTEM
from openmsmq.wire.srmp import cut_request, request_from_packet

CORPUS: Final = Path(__file__).parent / "corpus"
SRMP_VECTORS: Final = Path(__file__).parents[1] / "vectors" / "srmp"
FRAMES: Final = Path(__file__).parents[1] / "vectors" / "mqqb-frames.json"

SEGMENT: Final = 1400
SMALL_STUB: Final = 20
SENDER: Final = UUID("1f742305-be5e-4177-bc77-c4dd7719e474")
RECEIVER: Final = UUID("3c3a6aeb-f567-4143-87d3-85cf4d68ceb4")
DIRECT: Final = direct_address("TCP:127.0.0.2\\private$\\orders")
SEQUENCE: Final = TxSequenceID(0x44332211, 0x88776655)
SESSION: Final = SessionHeader(7, 5, 0b1011, 3, 2)
SECURITY: Final = SecurityHeader(
    0x0041,
    EVERYONE.serialize(),
    SimpleBlob(0x6610, bytes(range(64))).serialize(),
    b"signature",
    b"certificate",
    ProviderInfo(1, "Provider"),
)
LISTS: Final = MultiQueueFormatHeader(
    (
        MQFFormatNameElement(MQFFormatType.DIRECT, direct_format_name="OS:host\\private$\\q"),
        MQFFormatNameElement(MQFFormatType.PUBLIC, SENDER),
    ),
    (MQFFormatNameElement(MQFFormatType.PRIVATE, RECEIVER, 9),),
    (MQFFormatNameElement(MQFFormatType.DISTRIBUTION_LIST, SENDER),),
    b"signed",
)
SOAP: Final = SoapHeader("<h/>", "<b>text</b>")
SRMP: Final = (
    SRMPEnvelopeHeader("<se:Envelope/>"),
    CompoundMessageHeader(b"POST /msmq/private$/q HTTP/1.1\r\nHost: h\r\n\r\nbody", 4, 43),
)
KEYS: Final = MQDSPublicKeys(
    (MQDSPublicKey(1, "Base", PublicKeyBlob(65537, bytes(64)).serialize()),)
)
DESCRIPTOR: Final = SecurityDescriptor(
    BUILTIN_ADMINISTRATORS,
    LOCAL_SYSTEM,
    Acl((Ace(AceType.SYSTEM_AUDIT, 1, EVERYONE, 0x40),)),
    Acl(
        (
            Ace(AceType.ACCESS_DENIED, 4, EVERYONE),
            Ace(AceType.ACCESS_ALLOWED_OBJECT, 0x24, EVERYONE, 0, SENDER, RECEIVER, b"data"),
            RawAce(bytes.fromhex("11001400 01000000") + EVERYONE.serialize()),
        ),
        4,
    ),
    SecurityDescriptorControl.PD,
)
ADDRESS: Final = ExtendedAddressHeader(HostAddressType.IPV6, bytes(15) + b"\1", 2)


def seeds() -> Iterator[tuple[str, bytes]]:
    """Name and bytes of every file."""
    yield from _frames()
    yield from _internal_packets()
    yield from _messages()
    yield from _acknowledgments()
    yield from _remote_reads()
    yield from _stubs()
    yield from _rpc()
    yield from _structures()
    yield from _bodies()
    yield from _srmp()
    yield from _pgm()
    yield from _logon()
    yield "capture", capture(_plain_message())
    yield "name-direct", "DIRECT=HTTPS://host:443/msmq/private$/q".encode("utf-16-le")
    yield "name-list", f"PUBLIC={SENDER},PRIVATE={RECEIVER}\\1a".encode("utf-16-le")
    yield "name-path", "host\\private$\\queue;poison".encode("utf-16-le")


def _srmp() -> Iterator[tuple[str, bytes]]:
    """Examples of the specification, and one message with everything."""
    for name in ("4.1-simple", "4.3-1-request", "4.4-1-stream-message-1"):
        yield f"srmp-envelope-{name}", (SRMP_VECTORS / f"{name}.envelope.xml").read_bytes()
    for name in ("4.2-simple-with-msmq", "4.3-5-commitment-receipt", "4.4-2-stream-receipt-1"):
        request = (SRMP_VECTORS / "wire" / f"{name}.http").read_bytes()
        yield f"srmp-request-{name}", request
    message = build_user_message(
        destination_queue=direct_address("http://host/msmq/private$/q"),
        admin_queue=direct_address("http://host/msmq/admin"),
        response_queue=public_address(SENDER),
        source_queue_manager=SENDER,
        message_id=7,
        sent_time=1_700_000_000,
        label="a & b",
        body=b"body",
        extension=b"extension",
        acknowledgments=0x0B,
        negative_journaling=True,
        tracing_requested=True,
        connector_type=RECEIVER,
        transaction_header=TransactionHeader(0xE, SEQUENCE, 2, 1, SENDER),
        multi_queue_format_header=LISTS,
    )
    content = request_from_packet(UserMessage(message), number=1)
    yield "srmp-requests", example_requests()
    yield "srmp-content", content.data
    yield "srmp-envelope", cut_request(content.content_type, content.data).envelope


def _pgm() -> Iterator[tuple[str, bytes]]:
    """One packet of each kind, with every option."""
    tsi, source, group = TransportSessionId(b"source", 9), IPv4Address(1), IPv4Address(0xE0000001)
    spm = SourcePathMessage(tsi, 8001, 1, 2, 3, source, Options(fin=True, rst=Reset(True, 1)))
    yield "pgm-spm", spm.serialize()
    options = Options(Fragment(5, 0, 9), join=4, syn=True)
    yield "pgm-odata", DataPacket(tsi, 8001, False, 5, 4, b"data", options).serialize()
    options = Options(nak_list=(8, 9))
    for kind in (PacketType.NAK, PacketType.NCF):
        nak = NakPacket(kind, tsi, 8001, 7, source, group, options)
        yield f"pgm-{kind.name.lower()}", nak.serialize()


def _logon() -> Iterator[tuple[str, bytes]]:
    """The messages of NTLM by themselves, and those of SPNEGO around them."""
    accepting, starting = logon_packages()
    for name, auth_type in (("ntlm", RPC_C_AUTHN_WINNT), ("spnego", RPC_C_AUTHN_GSS_NEGOTIATE)):
        client, server = starting[auth_type](), accepting[auth_type]()
        negotiate = client.step(b"")
        challenge = server.step(negotiate)
        yield f"{name}-negotiate", negotiate
        yield f"{name}-challenge", challenge
        yield f"{name}-authenticate", client.step(challenge)
    yield "ntlm-av-pairs", NAMES.av_pairs(bytes(8)).serialize()


def _stubs() -> Iterator[tuple[str, bytes]]:
    """The parameters of RPC calls that hold more than a few numbers."""
    for name, record, octets, _ in LAYOUTS:
        raw = bytes.fromhex(octets)
        if len(raw) > SMALL_STUB:
            yield f"stub-{name}", raw
            yield f"stub-{name}-ndr64", STUBS[name].encode(record, NDR64)


def _rpc() -> Iterator[tuple[str, bytes]]:
    """PDUs of RPC, the bodies of some of them, and what stands inside others."""
    offer = element(0, TEST_ID, NDR_ID, NDR64_ID)
    proposal = Bind(5840, 5840, 0, (offer, element(1, TEST_ID, features_syntax(3))))
    accepted = ResultElement(ContextResult.ACCEPTANCE, 0, NDR_ID)
    trailer = VerificationTrailer(1, TEST_ID, NDR_ID, Header2(0, b"\x10\0\0\0", 2, 0, 0))
    signed = SecTrailer(10, 6, 1, 4).serialize() + bytes(16)
    bind = pack_pdu(PduType.BIND, 1, proposal.serialize(), verifier=signed)
    yield "rpc-bind", proposal.serialize()
    yield "rpc-bind-ack", BindAck(5840, 5840, 7, "2103", (accepted,)).serialize()
    yield "rpc-bind-nak", BindNak(4).serialize()
    yield "rpc-bind-pdu", bind
    yield "rpc-fault", Fault(2, 5, 3).serialize()
    yield "rpc-request", request_pdu(ADD, Number(1))
    yield "rpc-signed-request", fragment(bytes(16), verifier=signed)
    yield "rpc-fragments", fragment(b"\1\2", flags=1) + fragment(b"\3\4", flags=2)
    yield (
        "rpc-alter-and-cancel",
        b"".join(
            (
                bind_pdu(element(3), ptype=PduType.ALTER_CONTEXT),
                pack_pdu(PduType.CO_CANCEL, 2, b""),
                pack_pdu(PduType.AUTH3, 2, bytes(4), verifier=signed),
            )
        ),
    )
    yield "rpc-tower", TcpTower(TEST_ID, NDR_ID, 2103).serialize()
    yield "rpc-verification-trailer", trailer.serialize()[8:]


def _frames() -> Iterator[tuple[str, bytes]]:
    """The frames of [MS-MQQB] 4.1, the cut one as it is printed."""
    for frame in json.loads(FRAMES.read_text())["frames"]:
        yield frame["name"], bytes.fromhex(frame["hex"])


def _internal_packets() -> Iterator[tuple[str, bytes]]:
    establish = EstablishConnection(SENDER, RECEIVER, 1234, OperatingSystemFlags.SE)
    yield "establish-connection", establish.serialize()
    yield "connection-parameters", ConnectionParameters(500, 20000, 64).serialize()
    yield "session-ack", SessionAck(SESSION).serialize()
    yield "ping", Ping(PingFlags.RC, 99, SENDER).serialize()


def _plain_message() -> bytes:
    return build_user_message(destination_queue=DIRECT, label="label", body=b"body")


def _messages() -> Iterator[tuple[str, bytes]]:
    plain = _plain_message()
    yield "message-plain", plain
    # Two packets of a stream, the first with the SessionHeader behind it.
    yield "message-stream", plain[:2] + b"\x13" + plain[3:] + SESSION.serialize() + plain
    yield (
        "message-full",
        build_user_message(
            destination_queue=private_address(RECEIVER, 7),
            admin_queue=private_address(SENDER, 8),
            response_queue=public_address(SENDER),
            source_queue_manager=SENDER,
            connector_type=RECEIVER,
            transaction_header=TransactionHeader(0x1234E, SEQUENCE, 9, 8, SENDER),
            security_header=SECURITY,
            acknowledgments=0x0F,
            correlation_id=bytes(range(20)),
            body_type=8,
            body="text".encode("utf-16-le"),
            label="a label",
            extension=b"extension",
            tracing_requested=True,
            tracing_queue=RECEIVER,
            soap_header=SOAP,
            multi_queue_format_header=LISTS,
        ),
    )
    yield (
        "message-encrypted",
        build_user_message(
            destination_queue=public_address(RECEIVER),
            admin_queue=DIRECT,
            response_queue=DIRECT,
            security_header=SECURITY,
            privacy_level=3,
            encryption_algorithm=0x6801,
            body=bytes(32),
        ),
    )
    srmp = build_user_message(destination_queue=DIRECT, srmp_headers=SRMP)
    yield "message-srmp", srmp
    # As the public probe for CVE-2023-21554 has it: an ExtensionHeader behind a UserMessage.
    size = (len(srmp) + 12).to_bytes(4, "little")
    probe = srmp[:3] + b"\x10" + srmp[4:8] + size + srmp[12:]
    yield "message-probe", probe + ExtensionHeader(0, ExtensionHeaderFlags(0)).serialize()


def _acknowledgments() -> Iterator[tuple[str, bytes]]:
    order = OrderAck(SEQUENCE, 5)
    final = FinalAck(SEQUENCE, 5, 3, SENDER, 77)
    yield "order-ack-body", order.serialize()
    yield "final-ack-body", final.serialize()
    yield (
        "order-ack",
        build_order_ack(
            order,
            order_queue(SENDER),
            source_queue_manager=RECEIVER,
            message_id=1,
            sent_time=1_700_000_000,
        ),
    )
    yield (
        "final-ack",
        build_final_ack(
            final,
            MessageClass.NACK_Q_PURGED,
            direct_order_queue("10.0.0.1"),
            source_queue_manager=RECEIVER,
            message_id=2,
            sent_time=1_700_000_000,
        ),
    )


def _remote_reads() -> Iterator[tuple[str, bytes]]:
    for name, packet in (
        ("binary", _plain_message()),
        ("srmp", build_user_message(destination_queue=DIRECT, srmp_headers=SRMP)),
    ):
        message = RemoteReadMessage.build(
            UserMessage(packet),
            subqueue_header=SubqueueHeader(2, 1, 1, 1_700_000_000, "poison", "retry"),
            extended_address_header=ADDRESS,
            dead_letter_header=DeadLetterHeader("host\\private$\\dead"),
            source=SENDER,
        )
        yield f"remote-read-{name}", message.serialize()


def _structures() -> Iterator[tuple[str, bytes]]:
    yield "acl", DESCRIPTOR.dacl.serialize() if DESCRIPTOR.dacl else b""
    yield "address-overlay", AddressOverlay.of(ADDRESS).serialize()
    yield "compound-message-header", SRMP[1].serialize()
    yield "dead-letter-header", DeadLetterHeader("host\\private$\\dead").serialize()
    yield "debug-header", DebugHeader(SENDER).serialize()
    yield "extended-address-header", ADDRESS.serialize()
    extension = ExtensionHeader(4, ExtensionHeaderFlags.SQ | ExtensionHeaderFlags.EA)
    yield "extension-header", extension.serialize() + b"more"
    yield "multi-queue-format-header", LISTS.serialize()
    yield "public-key-blob", PublicKeyBlob(65537, bytes(64)).serialize()
    yield "public-keys", KEYS.serialize()
    yield "security-descriptor", DESCRIPTOR.serialize()
    yield "security-header", SECURITY.serialize()
    yield "sequence-info", SequenceInfo(-1, 2, 1).serialize()
    yield "session-header", SESSION.serialize()
    yield "sid", BUILTIN_ADMINISTRATORS.serialize()
    yield "simple-blob", SimpleBlob(0x6610, bytes(64)).serialize()
    yield "soap-header", SOAP.serialize()
    yield "srmp-envelope-header", SRMP[0].serialize()
    yield "subqueue-header", SubqueueHeader(2, 1, 1, 9, "poison", "retry").serialize()
    yield "ta-address", TAAddress(TAAddressType.IPX, bytes(10)).serialize()
    transaction = TransactionHeader(0x1234E, SEQUENCE, 9, 8, SENDER)
    yield "transaction-header", transaction.serialize()


def _bodies() -> Iterator[tuple[str, bytes]]:
    yield "body-xml", body(BodyType.VT_EMPTY, b'<?xml version="1.0"?><string>text</string>')
    yield "body-json", body(BodyType.VT_EMPTY, b'{"a": [1, 2.5, null, "x"]}')
    yield "body-text", body(BodyType.VT_BSTR, "text".encode("utf-16-le"))
    yield "body-object", body(BodyType.VT_STREAMED_OBJECT, SENDER.bytes_le + b"state")
    yield "body-date", body(BodyType.VT_DATE, struct.pack("<d", 45000.5))
    yield "body-vector", body(VT_VECTOR | BodyType.VT_UI1, b"bytes")
    start, end = bytes.fromhex("00 01000000 ffffffff 01000000 00000000"), b"\x0b"
    text = bytes.fromhex("06 01000000 04 74657874")
    yield "body-nrbf-text", body(BodyType.BINARY_FORMATTER, start + text + end)
    array = bytes.fromhex("11 01000000 02000000 06 02000000 01 61 0a")
    yield "body-nrbf-array", body(BodyType.BINARY_FORMATTER, start + array + end)
    library = bytes.fromhex("0c 02000000 03 6c6962")
    instance = bytes.fromhex("05 01000000 01 43 01000000 01 78 00 08 02000000 2a000000")
    yield "body-nrbf-class", body(BodyType.BINARY_FORMATTER, start + library + instance + end)


def body(body_type: int, data: bytes) -> bytes:
    """A body behind a byte that chooses its type: see `targets.read_body`."""
    return bytes([BODY_TYPES.index(body_type)]) + data


def capture(stream: bytes) -> bytes:
    """A pcap file with a TCP stream to port 1801, in segments as they are on an Ethernet."""
    out = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    for start in range(0, len(stream), SEGMENT):
        piece = stream[start : start + SEGMENT]
        tcp = struct.pack(">HHIIBBHHH", 40000, 1801, 1 + start, 0, 0x50, 0x18, 0xFFFF, 0, 0) + piece
        addresses = bytes([127, 0, 0, 1, 127, 0, 0, 2])
        ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp), 1, 0, 64, 6, 0) + addresses + tcp
        ethernet = bytes(12) + b"\x08\0" + ip
        out += struct.pack("<IIII", 1, 0, len(ethernet), len(ethernet)) + ethernet
    return out


def load(only: Sequence[str] = ()) -> list[bytes]:
    """The kept corpus, in the order of the names: all, or what has one of these words in it."""
    paths = sorted(CORPUS.glob("*.bin"))
    return [path.read_bytes() for path in paths if _is_wanted(path.stem, only)]


def _is_wanted(name: str, only: Sequence[str]) -> bool:
    return not only or any(word in name for word in only)


def write() -> None:
    CORPUS.mkdir(exist_ok=True)
    for path in CORPUS.glob("*.bin"):
        path.unlink()
    for name, data in seeds():
        (CORPUS / f"{name}.bin").write_bytes(data)


if __name__ == "__main__":
    write()
