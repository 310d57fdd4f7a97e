"""Every parser of the package as a function of bytes that may raise nothing but MalformedPacket."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import Any, Final, Protocol

from tests.fuzz.srmp_server import serve_srmp
from tests.protocol.rpc.harness import TEST, Case

from openmsmq.protocol.rpc import ClientConnection
from openmsmq.security.caller import ANONYMOUS_CALLER
from openmsmq.security.mechanism import RPC_C_AUTHN_GSS_NEGOTIATE, AuthenticationFailed
from openmsmq.security.ntlm import MachineNames, NtlmAccount
from openmsmq.security.ntlm.av_pairs import AvPairs
from openmsmq.security.ntlm.initiator import NtlmCredentials
from openmsmq.security.ntlm.messages import (
    AuthenticateMessage,
    ChallengeMessage,
    NegotiateMessage,
)
from openmsmq.security.packages import Packages, acceptors, initiators
from openmsmq.security.spnego.tokens import NegTokenInit, NegTokenResp
from openmsmq.wire.bodies import decode_body, decode_body_leniently
from openmsmq.wire.capture import read_capture
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.dissect import StreamPackets, dissect, dissect_ping, summarize
from openmsmq.wire.errors import MalformedPacket, MsmqError
from openmsmq.wire.message.body_type import VT_ARRAY, VT_VECTOR, BodyType
from openmsmq.wire.message.debug_header import DebugHeader
from openmsmq.wire.message.message_properties_header import MessagePropertiesHeader
from openmsmq.wire.message.multi_queue_format_header import MultiQueueFormatHeader
from openmsmq.wire.message.sequence_info import SequenceInfo
from openmsmq.wire.message.soap_header import SoapHeader
from openmsmq.wire.message.srmp_headers import CompoundMessageHeader, SRMPEnvelopeHeader
from openmsmq.wire.message.transaction_header import TransactionHeader
from openmsmq.wire.message.user_header import UserHeader
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.format_name import parse_queue_reference
from openmsmq.wire.names.queue_address import QueueAddress
from openmsmq.wire.names.queue_address_names import format_name_of, format_name_of_element
from openmsmq.wire.ndr import NDR, NDR64, Stub, TransferSyntax
from openmsmq.wire.packets.base_header import BaseHeader
from openmsmq.wire.packets.connection_parameters import ConnectionParameters
from openmsmq.wire.packets.establish_connection import EstablishConnection
from openmsmq.wire.packets.framer import Framer
from openmsmq.wire.packets.internal_header import InternalHeader
from openmsmq.wire.packets.order_ack import FinalAck, OrderAck, recognize_ack
from openmsmq.wire.packets.ping import Ping
from openmsmq.wire.packets.session_header import SessionAck, SessionHeader
from openmsmq.wire.pgm import OtherPacket, parse_packet
from openmsmq.wire.remote_read.dead_letter_header import DeadLetterHeader
from openmsmq.wire.remote_read.extended_address_header import AddressOverlay, ExtendedAddressHeader
from openmsmq.wire.remote_read.extension_header import ExtensionHeader
from openmsmq.wire.remote_read.remote_read_message import RemoteReadMessage
from openmsmq.wire.remote_read.subqueue_header import SubqueueHeader
from openmsmq.wire.remote_read.ta_address import TAAddress
from openmsmq.wire.rpc.bind import Bind, BindAck, BindNak
from openmsmq.wire.rpc.call import CallHeader, Fault
from openmsmq.wire.rpc.header import CommonHeader
from openmsmq.wire.rpc.sec_trailer import SecTrailer, parse_verifier
from openmsmq.wire.rpc.tower import TcpTower
from openmsmq.wire.rpc.verification_trailer import VerificationTrailer
from openmsmq.wire.rpc_interfaces import epm, mgmt, qm2qm, qmcomm, remote_read
from openmsmq.wire.scalars import MessageIdentifier, TxSequenceID, XactUow
from openmsmq.wire.security.key_blobs import MQDSPublicKeys, PublicKeyBlob, SimpleBlob
from openmsmq.wire.security.security_descriptor import Acl, SecurityDescriptor
from openmsmq.wire.security.security_header import SecurityHeader
from openmsmq.wire.security.sid import SID
from openmsmq.wire.srmp import (
    Request,
    cut_compound_message,
    cut_request,
    envelope_from_packet,
    forwarded_request,
    kind_of,
    packet_from_request,
    read_envelope,
    write_envelope,
)
from openmsmq.wire.srmp.reader import read_any_envelope

ADDRESS_TYPES: Final = 8
NAMES: Final = MachineNames.of_computer("server")
ACCOUNT: Final = NtlmAccount("user", bytes(16), ANONYMOUS_CALLER)
BODY_TYPES: Final = (
    *map(int, BodyType),
    VT_VECTOR | BodyType.VT_UI1,
    VT_ARRAY | BodyType.VT_UI1,
    VT_VECTOR | BodyType.VT_BSTR,
    VT_VECTOR | BodyType.VT_VARIANT,
)
PROPERTIES: Final = tuple(
    name for name, value in vars(UserMessage).items() if isinstance(value, property)
)


RPC_SERVER: Final = Case()


class Parser(Protocol):
    """A structure with the usual `parse`."""

    def __call__(self, buf: bytes | memoryview, offset: int = 0, /) -> tuple[object, int]: ...


@dataclass(frozen=True, slots=True)
class Target:
    """A parser, what it may raise, and how many times longer than a packet it may take."""

    name: str
    run: Callable[[bytes], object]
    allowed: type[MsmqError] = MalformedPacket
    slack: int = 1

    def __call__(self, data: bytes) -> bool:
        """Parse; return whether the data was accepted."""
        try:
            self.run(data)
        except self.allowed:
            return False
        return True


PARSERS: Final[tuple[Parser, ...]] = (
    AddressOverlay.parse,
    Acl.parse,
    BaseHeader.parse,
    Bind.parse,
    BindAck.parse,
    BindNak.parse,
    CallHeader.parse,
    CommonHeader.parse,
    CompoundMessageHeader.parse,
    ConnectionParameters.parse,
    DeadLetterHeader.parse,
    DebugHeader.parse,
    EstablishConnection.parse,
    ExtendedAddressHeader.parse,
    ExtensionHeader.parse,
    Fault.parse,
    FinalAck.parse,
    InternalHeader.parse,
    MQDSPublicKeys.parse,
    MessageIdentifier.parse,
    MessagePropertiesHeader.parse,
    MultiQueueFormatHeader.parse,
    OrderAck.parse,
    Ping.parse,
    PublicKeyBlob.parse,
    SID.parse,
    SRMPEnvelopeHeader.parse,
    SecTrailer.parse,
    SecurityDescriptor.parse,
    SecurityHeader.parse,
    SequenceInfo.parse,
    SessionAck.parse,
    SessionHeader.parse,
    SimpleBlob.parse,
    SoapHeader.parse,
    SubqueueHeader.parse,
    TAAddress.parse,
    TcpTower.parse,
    TransactionHeader.parse,
    TxSequenceID.parse,
    UserHeader.parse,
    VerificationTrailer.parse,
    XactUow.parse,
)


def read_verifier(pdu: bytes) -> None:
    """The authentication part of a PDU, as long as its header says."""
    parse_verifier(pdu, CommonHeader.parse(pdu)[0].auth_length)


def serve_rpc(data: bytes) -> None:
    """A whole RPC server takes any bytes, before a bind and after one."""
    for link in (RPC_SERVER.link(), RPC_SERVER.link().bound()):
        link.send(data)
        link.lose()
    RPC_SERVER.links.clear()


def call_rpc(data: bytes) -> None:
    """A client of RPC takes any bytes."""
    connection = ClientConnection([TEST])
    connection.receive_data(data)
    connection.connection_lost()


def read_message(packet: bytes) -> None:
    """The whole path of a message: locate, then decode every property and the body."""
    message = UserMessage(packet)
    # Once the packet is accepted, none of these may raise anything.
    try:
        for name in PROPERTIES:
            getattr(message, name)
        decode_body_leniently(message.body_type, message.body)
    except MalformedPacket as exc:
        raise AssertionError("a property of an accepted message failed") from exc
    recognize_ack(message)


def read_message_names(packet: bytes) -> None:
    """The format names of all queues that a message names."""
    message = UserMessage(packet)
    for address in (message.destination_queue, message.admin_queue, message.response_queue):
        if address is not None:
            with suppress(QueueError):
                str(format_name_of(address))
    lists = message.multi_queue_format_header
    if lists is not None:
        for element in (*lists.destination, *lists.administration, *lists.response):
            with suppress(QueueError):
                str(format_name_of_element(element))


def read_stream(data: bytes) -> None:
    """The path of received bytes: in three pieces through the framer, then by kind of packet."""
    framer = Framer()
    cut = len(data) // 3
    for piece in (data[:cut], data[cut : 2 * cut], data[2 * cut :]):
        for packet, session_header in framer.feed(piece):
            if session_header is not None:
                SessionHeader.parse(session_header)
            _read_packet(packet)


def _read_packet(packet: bytes) -> None:
    if not packet[2] & 0x08:
        read_message(packet)
        return
    kinds = {1: SessionAck.parse, 2: EstablishConnection.parse, 3: ConnectionParameters.parse}
    kinds[InternalHeader.parse(packet, 16)[0].packet_type](packet)


def read_remote(data: bytes) -> None:
    message = RemoteReadMessage.parse(data)
    assert message.user_message.packet == message.packet
    assert message.subqueue is None or message.subqueue.subqueue_name
    assert message.address is None or message.address.address
    message.address_overlay  # noqa: B018 (a property that may raise)
    message.serialize()


# Any: stubs of all records.
def read_stub(stub: Stub[Any], data: bytes) -> None:
    """In both syntaxes; what is accepted can be written, and is then read the same."""
    with suppress(MalformedPacket):
        _read_stub(stub, data, NDR64)
    _read_stub(stub, data, NDR)


def _read_stub(stub: Stub[Any], data: bytes, syntax: TransferSyntax) -> None:
    record, end = stub.decode(data, syntax)
    assert end <= len(data)
    assert stub.decode(memoryview(stub.encode(record, syntax)), syntax)[0] == record


def read_addresses(data: bytes) -> None:
    for address_type in range(ADDRESS_TYPES):
        with suppress(MalformedPacket):
            QueueAddress.parse(data, 0, address_type)


def read_body(data: bytes) -> None:
    """The first byte chooses the type, the rest is the body."""
    body_type = BODY_TYPES[data[0] % len(BODY_TYPES)] if data else 0
    decode_body_leniently(body_type, data[1:])
    decode_body(body_type, data[1:])


def read_captured(data: bytes) -> None:
    for event in read_capture(BytesIO(data)):
        str(event)


def read_dissected(data: bytes) -> None:
    root = dissect(data)
    summary = summarize(data)
    if (summary.name, summary.text) != (root.name, root.meaning):
        raise AssertionError(f"{summary} is not the summary of the tree")
    dissect_ping(data)
    packets = StreamPackets()
    packets.feed(data)
    packets.gap()


def read_srmp_envelope(data: bytes) -> None:
    """What is accepted is read alike by both readers, and can be written."""
    envelope = read_envelope(data)
    if envelope != read_any_envelope(data):
        raise AssertionError("the short cut reads something else than the parser")
    read_envelope(write_envelope(envelope))


def read_srmp_content(data: bytes) -> None:
    """The content of a request with the boundary that it begins with."""
    boundary = data[2 : max(data.find(b"\r\n"), 2)].decode("latin-1").replace('"', "x")
    _receive(cut_request(f'multipart/related; boundary="{boundary}"', data))


def read_srmp_request(data: bytes) -> None:
    """A whole request, as PGM brings it; what came is forwarded as it is."""
    request = cut_compound_message(data)
    message = _receive(request)
    assert forwarded_request(message).data == data[request.content_offset :]


def _receive(request: Request) -> UserMessage:
    """Each message that is accepted makes a packet that can be read and sent on."""
    envelope = request.read_envelope()
    kind_of(envelope)
    message = UserMessage(packet_from_request(request, envelope, utc=0.0))
    assert message.body == request.body
    with suppress(ValueError):
        write_envelope(envelope_from_packet(message))
    return message


def read_pgm(data: bytes) -> None:
    """What is accepted can be written, and is then read the same."""
    # Most mutations break the checksum; zero says that there is none.
    for packet in (data, data[:6] + b"\0\0" + data[8:]):
        with suppress(MalformedPacket):
            _read_pgm(packet)
    _read_pgm(data)


def _read_pgm(data: bytes) -> None:
    packet = parse_packet(data)
    if not isinstance(packet, OtherPacket):
        assert parse_packet(packet.serialize()) == packet


def read_text(data: bytes) -> None:
    str(parse_queue_reference(data.decode("utf-16-le", "replace")))


def logon_packages() -> tuple[Packages, Packages]:
    """Both sides of a logon, always the same."""
    credentials = NtlmCredentials("user", "", bytes(16))
    return (
        acceptors(NAMES, lambda _: ACCOUNT, random=bytes, utc=lambda: 0.0, allow_anonymous=True),
        initiators(credentials, random=bytes, utc=lambda: 0.0, seal=True),
    )


def read_logon(token: bytes) -> None:
    """A token at every leg of a logon, by itself and inside SPNEGO."""
    accepting, starting = logon_packages()
    for auth_type in accepting:
        client, server = starting[auth_type](), accepting[auth_type]()
        server.step(client.step(b""))
        for context in (client, server):
            with suppress(AuthenticationFailed):
                context.step(token)
    accepting[RPC_C_AUTHN_GSS_NEGOTIATE]().step(token)


def _structure_name(parser: Parser) -> str:
    return str(getattr(parser, "__qualname__", parser)).removesuffix(".parse")


def _stub_targets() -> tuple[Target, ...]:
    """One for each stub; calls that share a stub share the target."""
    stubs: dict[int, tuple[str, Stub[Any]]] = {}
    for module in (epm, mgmt, qm2qm, qmcomm, remote_read):
        for call in module.CALLS.values():
            for direction, stub in (("request", call.request), ("response", call.response)):
                stubs.setdefault(id(stub), (f"{call.name} {direction}", stub))
    return tuple(Target(name, partial(read_stub, stub)) for name, stub in stubs.values())


# Many packets in one, or only for people to look at.
PATIENT: Final = 20

TARGETS: Final = (
    *(Target(_structure_name(parser), parser) for parser in PARSERS),
    *_stub_targets(),
    Target("Verifier", read_verifier),
    Target("RpcServer", serve_rpc, slack=PATIENT),
    Target("RpcClient", call_rpc, slack=PATIENT),
    Target("UserMessage", read_message),
    Target("RemoteReadMessage", read_remote),
    Target("QueueAddress", read_addresses),
    Target("Stream", read_stream, slack=PATIENT),
    Target("MessageNames", read_message_names, slack=PATIENT),
    Target("Body", read_body, slack=PATIENT),
    Target("Capture", read_captured, slack=PATIENT),
    Target("Dissect", read_dissected, slack=PATIENT),
    Target("SrmpEnvelope", read_srmp_envelope, slack=PATIENT),
    Target("SrmpContent", read_srmp_content, slack=PATIENT),
    Target("SrmpRequest", read_srmp_request, slack=PATIENT),
    Target("SrmpServer", serve_srmp, slack=PATIENT),
    Target("Pgm", read_pgm, slack=PATIENT),
    Target("AvPairs", AvPairs.parse),
    Target("NEGOTIATE_MESSAGE", NegotiateMessage.parse),
    Target("CHALLENGE_MESSAGE", ChallengeMessage.parse),
    Target("AUTHENTICATE_MESSAGE", AuthenticateMessage.parse),
    Target("NegTokenInit", NegTokenInit.parse),
    Target("NegTokenResp", NegTokenResp.parse),
    Target("Logon", read_logon, AuthenticationFailed, slack=PATIENT),
    Target("Name", read_text, QueueError, slack=PATIENT),
)
