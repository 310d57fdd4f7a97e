"""The frames of the specification, replayed ([MS-MQQB] 4.1)."""

import json
from pathlib import Path
from uuid import UUID

import pytest
from tests.protocol.binary.pair import Network
from tests.protocol.binary.sessions import release_all

from openmsmq.protocol.binary.events import MessagesReceived, Opened
from openmsmq.protocol.binary.session import BinarySession
from openmsmq.protocol.binary.settings import BinarySettings
from openmsmq.wire.packets.connection_parameters import ConnectionParameters
from openmsmq.wire.packets.establish_connection import EstablishConnection
from openmsmq.wire.packets.session_header import SessionAck

VECTORS = Path(__file__).parents[2] / "vectors" / "mqqb-frames.json"
FRAMES = {frame["name"].split("-")[0]: frame for frame in json.loads(VECTORS.read_text())["frames"]}
CLIENT = UUID("557358D1-9150-9595-4997-B6E611EA26C6")
SERVER = UUID("43CD8907-394C-8F11-4445-9078909EA0FC")


def frame(name: str) -> bytes:
    return bytes.fromhex(FRAMES[name]["hex"])


def user_message() -> bytes:
    """Frame 7 is printed in part; the rest is more of the same."""
    rebuild = FRAMES["frame7"]["rebuild"]
    body = bytes.fromhex(rebuild["body_unit_hex"]) * int(rebuild["body_units"])
    prefix: int = rebuild["prefix_bytes"]
    return frame("frame7")[:prefix] + body + bytes(int(rebuild["padding_bytes"]))


def acceptor() -> BinarySession:
    return BinarySession(BinarySettings(), SERVER, initiator=False, now=0.0)


@pytest.mark.spec("MQQB-4.1.3-01", "MQQB-4.1.4-01", "MQQB-3.1.5.1.1-01")
def test_the_request_is_answered_as_specified() -> None:
    session = acceptor()
    session.receive_data(frame("frame3"), now=0.0)
    (raw,) = session.data_to_send()
    answer = EstablishConnection.parse(raw)[0]
    specified = EstablishConnection.parse(frame("frame4"))[0]
    # The GUIDs of the printed answer are from another capture.
    assert (answer.client_guid, answer.server_guid) == (CLIENT, SERVER)
    assert answer.time_stamp == specified.time_stamp
    assert answer.operating_system == specified.operating_system
    assert raw[60:] == frame("frame4")[60:]
    assert raw[2:4] == frame("frame4")[2:4]


@pytest.mark.spec("MQQB-4.1.5-01", "MQQB-4.1.6-01")
def test_the_parameters_are_answered_as_specified() -> None:
    session = acceptor()
    session.receive_data(frame("frame3"), now=0.0)
    session.data_to_send()
    session.receive_data(frame("frame5"), now=0.0)
    (raw,) = session.data_to_send()
    assert ConnectionParameters.parse(raw) == ConnectionParameters.parse(frame("frame6"))
    assert session.next_event() == Opened()


@pytest.mark.spec("MQQB-4.1.7-01", "MQQB-4.1.8-01")
def test_the_message_is_acknowledged_as_specified() -> None:
    session = acceptor()
    session.receive_data(frame("frame3") + frame("frame5") + user_message(), now=0.0)
    session.data_to_send()
    session.next_event()
    event = session.next_event()
    assert isinstance(event, MessagesReceived)
    release_all(session, now=0.0)
    session.handle_timer(now=60.0)
    (raw,) = session.data_to_send()
    assert SessionAck.parse(raw) == SessionAck.parse(frame("frame8"))


def test_the_initiator_of_the_specification_could_be_us() -> None:
    session = BinarySession(
        BinarySettings(ack_timeout=120.0),
        CLIENT,
        initiator=True,
        now=501140.046,
        remote_guid=SERVER,
    )
    (request,) = session.data_to_send()
    assert EstablishConnection.parse(request) == EstablishConnection.parse(frame("frame3"))
    answer = EstablishConnection.parse(frame("frame4"))[0]
    ours = EstablishConnection(
        CLIENT, SERVER, answer.time_stamp, answer.operating_system
    ).serialize()
    session.receive_data(ours, now=501140.046 + 0.1875)
    (parameters,) = session.data_to_send()
    assert parameters[16:] == frame("frame5")[16:]
    session.receive_data(frame("frame6"), now=501140.3)
    session.send(user_message(), "message", now=501140.3)
    session.data_to_send()
    session.receive_data(frame("frame8"), now=501141.0)
    assert session.sent.unacked == 0
    assert session.open


def test_the_message_of_the_specification_reaches_its_queue() -> None:
    network = Network()
    node = network.add("A04BM02", "10.0.0.2")
    queue = node.create("private$\\q")
    # The frame names a public queue, which a workgroup does not have; ours takes its place.
    node.qm.state.paths["q"] = queue
    number = node.binary.accept("10.0.0.1", now=network.now)
    assert number is not None
    hello = frame("frame3")
    hello = hello[:36] + bytes(16) + hello[52:]
    message = user_message()
    # SentTime was overwritten by the printer with the signature.
    message = message[:52] + int(network.utc).to_bytes(4, "little") + message[56:]
    for packet in (hello, frame("frame5"), message):
        node.binary.receive_data(number, packet, now=network.now)
    assert [each.label for each in node.messages(queue)] == ["mqsender label"]
