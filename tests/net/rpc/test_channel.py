"""The client's channel against a real server on loopback."""

import asyncio
import os
import socket
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from tests.net.rpc.serving import HOST, Serving
from tests.protocol.rpc.harness import (
    ADD,
    ECHO,
    HOLD,
    OPEN,
    SECRET,
    STRANGE,
    TEST,
    USE,
    Number,
    Octets,
    bind_pdu,
    request_pdu,
)
from tests.security.ntlm.peers import PASSWORD
from tests.service.loops import run, until

from openmsmq.net.rpc.client import RpcChannel
from openmsmq.protocol.rpc import (
    ClientSecurity,
    CloseReason,
    ConnectionClosed,
    InterfaceUnknown,
    RpcFault,
    RpcSettings,
)
from openmsmq.security.mechanism import RPC_C_AUTHN_GSS_NEGOTIATE, RPC_C_AUTHN_WINNT
from openmsmq.security.ntlm import NtlmCredentials, nt_hash
from openmsmq.security.packages import initiators
from openmsmq.wire.rpc.status import RPC_ACCESS_DENIED, AuthnLevel

TYPES = (RPC_C_AUTHN_WINNT, RPC_C_AUTHN_GSS_NEGOTIATE)
LEVELS = (
    AuthnLevel.CONNECT,
    AuthnLevel.PKT,
    AuthnLevel.PKT_INTEGRITY,
    AuthnLevel.PKT_PRIVACY,
)


def drive(
    test: Callable[[Serving, int], Coroutine[Any, Any, None]], settings: RpcSettings | None = None
) -> None:
    async def main() -> None:
        serving = Serving(settings)
        try:
            await test(serving, await serving.listen())
        finally:
            await serving.shell.close()

    run(main)


def security(auth_type: int, level: AuthnLevel, password: str = PASSWORD) -> ClientSecurity:
    packages = initiators(
        NtlmCredentials("alice", "", nt_hash(password)),
        random=os.urandom,
        utc=time.time,
        seal=level is AuthnLevel.PKT_PRIVACY,
    )
    return ClientSecurity(auth_type, level, packages[auth_type])


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("auth_type", TYPES)
def test_calls_are_carried_with_ntlm_and_spnego_at_every_level(
    auth_type: int, level: AuthnLevel
) -> None:
    async def test(_serving: Serving, port: int) -> None:
        way = security(auth_type, level)
        channel = await RpcChannel.open(HOST, port, [TEST], security=way)
        data = os.urandom(50_000)
        answers = await asyncio.gather(
            *(channel.call(TEST, ECHO, Octets(data[: 5000 * n])) for n in range(10))
        )
        assert [answer.octets for answer in answers] == [data[: 5000 * n] for n in range(10)]
        if level is AuthnLevel.PKT_PRIVACY:
            assert await channel.call(TEST, SECRET, Number(3)) == Number(3)
        else:
            with pytest.raises(RpcFault, match="access denied"):
                await channel.call(TEST, SECRET, Number(3))
        await channel.close()

    drive(test)


@pytest.mark.parametrize("auth_type", TYPES)
def test_a_wrong_password_is_refused(auth_type: int) -> None:
    async def test(serving: Serving, port: int) -> None:
        way = security(auth_type, AuthnLevel.PKT_PRIVACY, "wrong")

        async def call() -> None:
            # NTLM by itself shows it with the first call, since its last leg has no answer.
            channel = await RpcChannel.open(HOST, port, [TEST], security=way)
            await channel.call(TEST, ADD, Number(1))

        with pytest.raises(RpcFault) as caught:
            await call()
        assert caught.value.status == RPC_ACCESS_DENIED
        await until(lambda: bool(serving.ended))
        assert serving.ended[0].reason is CloseReason.AUTHENTICATION_FAILED

    drive(test)


def test_a_second_connection_of_the_association_uses_the_handles_of_the_first() -> None:
    async def test(serving: Serving, port: int) -> None:
        first = await RpcChannel.open(HOST, port, [TEST])
        handle = await first.call(TEST, OPEN, Number(7))
        group = first.connection.assoc_group_id
        second = await RpcChannel.open(HOST, port, [TEST], assoc_group_id=group)
        assert await second.call(TEST, USE, handle) == Number(7)
        await first.close()
        assert serving.case.rundowns == []
        await second.close()
        await until(lambda: serving.case.rundowns == [7])

    drive(test)


def test_cancelling_a_call_orphans_it_and_the_connection_stays() -> None:
    async def test(serving: Serving, port: int) -> None:
        channel = await RpcChannel.open(HOST, port, [TEST])
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await channel.call(TEST, HOLD, Number(1))
        await until(lambda: bool(serving.case.cancelled))
        assert serving.case.cancelled[0].abandoned
        assert await channel.call(TEST, ADD, Number(1)) == Number(2)
        await channel.close()

    drive(test)


def test_a_server_that_cannot_be_reached_or_does_not_answer_is_an_error() -> None:
    async def test(_serving: Serving, port: int) -> None:
        with pytest.raises(InterfaceUnknown):
            await RpcChannel.open(HOST, port, [STRANGE])
        with socket.create_server((HOST, 0)) as silent:
            with pytest.raises(ConnectionClosed, match=r"within 0\.1 seconds"):
                await RpcChannel.open(HOST, silent.getsockname()[1], [TEST], connect_seconds=0.1)
            closed = silent.getsockname()[1]
        with pytest.raises(ConnectionClosed, match=HOST):
            await RpcChannel.open(HOST, closed, [TEST])

    drive(test)


def test_calls_fail_when_either_side_hangs_up() -> None:
    async def test(serving: Serving, port: int) -> None:
        channel = await RpcChannel.open(HOST, port, [TEST])
        held = asyncio.ensure_future(channel.call(TEST, HOLD, Number(1)))
        await until(lambda: bool(serving.case.held))
        serving.server.stop()
        serving.wake()
        with pytest.raises(ConnectionClosed) as caught:
            await held
        assert caught.value.was_sent
        with pytest.raises(ConnectionClosed):
            await channel.call(TEST, ADD, Number(1))
        await channel.close()

    drive(test)


def test_a_connection_that_does_not_bind_is_closed_by_the_timer() -> None:
    async def test(serving: Serving, port: int) -> None:
        reader, writer = await asyncio.open_connection(HOST, port)
        assert await reader.read() == b""
        writer.close()
        assert serving.ended[0].reason is CloseReason.NOT_BOUND

    drive(test, RpcSettings(bind_seconds=0.05))


def test_connections_beyond_the_limit_are_refused_and_others_go_on() -> None:
    async def test(_serving: Serving, port: int) -> None:
        channel = await RpcChannel.open(HOST, port, [TEST])
        with pytest.raises(ConnectionClosed):
            await RpcChannel.open(HOST, port, [TEST])
        assert await channel.call(TEST, ADD, Number(1)) == Number(2)
        await channel.close()

    drive(test, RpcSettings(max_connections_per_address=1))


def test_a_client_that_does_not_read_is_bounded_and_stops_nobody_else() -> None:
    async def test(serving: Serving, port: int) -> None:
        loop = asyncio.get_running_loop()
        with socket.create_connection((HOST, port)) as lazy:
            lazy.setblocking(False)
            await loop.sock_sendall(lazy, bind_pdu())
            big = request_pdu(ECHO, Octets(bytes(5000)))
            # About 50 MB of answers, if they were all made.
            sent = 0
            try:
                for number in range(1, 10_001):
                    pdu = big[:12] + number.to_bytes(4, "little") + big[16:]
                    async with asyncio.timeout(0.3):
                        await loop.sock_sendall(lazy, pdu)
                    sent += 1
            except TimeoutError:
                pass
            assert sent < 5000
            (connection,) = serving.server._connections.values()
            assert connection.reply_bytes < 2 * 1024 * 1024
            channel = await RpcChannel.open(HOST, port, [TEST])
            assert await channel.call(TEST, ADD, Number(1)) == Number(2)
            await channel.close()

    drive(test)


def test_dead_machines_are_noticed_within_two_minutes() -> None:
    async def test(serving: Serving, port: int) -> None:
        channel = await RpcChannel.open(HOST, port, [TEST])
        streams = serving.shell.streams._streams.values()
        transports = [channel._transport, *(stream._transport for stream in streams)]
        assert len(transports) == 2
        for transport in transports:
            assert transport is not None
            sock = transport.get_extra_info("socket")
            assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
            idle, interval, probes = (
                sock.getsockopt(socket.IPPROTO_TCP, option)
                for option in (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT)
            )
            assert idle + interval * probes < 120
        await channel.close()

    drive(test)
