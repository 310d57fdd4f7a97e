"""Settings of the binary protocol, across restarts of real queue managers."""

import socket
import struct
import threading
import uuid
from pathlib import Path

import pytest
from tests.interop.loopback import new_address
from tests.interop.naive_peer import NaivePeer, counts, transaction, user_message

import openmsmq
from openmsmq import Message
from openmsmq.server.config import Config
from openmsmq.server.parts.binary import BinaryPart
from openmsmq.wire.errors import ConfigError

INSECURE = "MQMSG_CLASS_NACK_BAD_DST_Q"


@pytest.mark.spec("MQQB-3.1.1.3-13")
@pytest.mark.parametrize("wanted", [True, False])
def test_insecure_nacks_are_sent_as_configured_also_after_a_restart(
    tmp_path: Path, *, wanted: bool
) -> None:
    alpha, beta = new_address(), new_address()
    options = {"binary_port": 1801, "send_insecure_nacks": wanted}
    with openmsmq.embedded(name="alpha", bind=alpha, binary_port=1801) as sender:
        sender.create_queue(r".\private$\admin")
        for _ in range(2):
            with openmsmq.embedded(tmp_path / "beta", name="beta", bind=beta, **options):
                message = Message(
                    b"x",
                    acknowledge="full",
                    admin_queue=rf"DIRECT=TCP:{alpha}\private$\admin",
                )
                sender.send(rf"DIRECT=TCP:{beta}\private$\missing", message)
                admin = sender.open_queue(r".\private$\admin")
                found = admin.receive_many(1, timeout=15.0 if wanted else 1.5)
                assert [each.class_name for each in found] == ([INSECURE] if wanted else [])


@pytest.mark.spec("MQQB-3.1.1.3-18")
def test_resend_timeouts_are_those_of_the_configuration_at_every_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "qm.toml"
    names = ("short", "medium", "long", "final")
    lines = [f"resend_timeouts_{name} = {index + 2}" for index, name in enumerate(names)]
    file.write_text("\n".join(lines))
    tables: list[tuple[float, ...]] = []
    listen = BinaryPart.listen

    async def note(service: BinaryPart) -> dict[str, str]:
        tables.append(service.protocol.settings.resend_timer_table)
        return await listen(service)

    monkeypatch.setattr(BinaryPart, "listen", note)
    settings = Config.load(file, {})
    configured = {key: getattr(settings, key) for key in settings.named}
    for _ in range(2):
        with openmsmq.embedded(tmp_path / "data", **configured):
            pass
    assert tables == [(2.0,) * 3 + (3.0,) * 3 + (4.0,) * 3 + (5.0,)] * 2


def test_made_up_senders_stay_within_the_configured_limits_also_after_a_restart(
    tmp_path: Path,
) -> None:
    beta = new_address()
    limits = {"max_streams_per_address": 3, "max_streams": 100}
    name = rf"TCP:{beta}\private$\orders"
    for start in (0, 20):
        with openmsmq.embedded(
            tmp_path, name="beta", bind=beta, binary_port=1801, **limits
        ) as manager:
            if not start:
                manager.create_queue(r".\private$\orders", transactional=True)
            with NaivePeer(beta) as peer:
                peer.handshake()
                for count in range(1, 21):
                    packet = user_message(
                        name,
                        b"x",
                        count,
                        recoverable=True,
                        transaction=transaction(77 << 32 | 1, 1, 0),
                        source=uuid.UUID(int=start + count),
                    )
                    peer.send(packet + counts(count, count))
                while peer.session_ack()[0] < 20:
                    pass
            orders = manager.open_queue(r".\private$\orders", access="peek")
            assert len(list(orders.cursor())) == 3


@pytest.mark.spec("MQQB-2.1.2-02")
def test_the_answer_to_a_ping_is_awaited_where_the_ping_came_from() -> None:
    alpha, beta = new_address(), new_address()
    sources: list[tuple[str, int]] = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as responder:
        responder.bind((beta, 3527))
        responder.settimeout(15)

        def answer() -> None:
            data, source = responder.recvfrom(100)
            flags, signature, cookie = struct.unpack_from("<HHI", data)
            reply = struct.pack("<HHI", flags & 1, signature, cookie) + bytes(range(16))
            responder.sendto(reply, source)
            sources.append(source)

        thread = threading.Thread(target=answer)
        thread.start()
        with (
            socket.create_server((beta, 1801)) as acceptor,
            openmsmq.embedded(name="alpha", bind=alpha, binary_port=1801, send_ping=True) as sender,
        ):
            acceptor.settimeout(15)
            sender.send(rf"DIRECT=TCP:{beta}\private$\q", Message(b"x"))
            sender.flush()
            # Only the answer lets the initiator connect.
            connection, peer = acceptor.accept()
            connection.close()
        thread.join(15)
    assert sources[0][0] == peer[0] == alpha


def test_the_window_is_that_of_the_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    windows: list[int] = []
    listen = BinaryPart.listen

    async def note(service: BinaryPart) -> dict[str, str]:
        windows.append(service.protocol.settings.window_size)
        return await listen(service)

    monkeypatch.setattr(BinaryPart, "listen", note)
    with openmsmq.embedded(max_unacked_packet=100):
        pass
    with openmsmq.embedded():
        pass
    assert windows == [100, 1024]
    with pytest.raises(ConfigError, match="max_unacked_packet"):
        Config.load(None, {"max_unacked_packet": 0})
