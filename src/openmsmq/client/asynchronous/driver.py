"""Driver: runs operations over a transport and connects again when asked to."""

import asyncio
import time
from collections.abc import AsyncIterable, Callable, Iterable
from typing import TYPE_CHECKING, Concatenate, Final, ParamSpec, TypeAlias, TypeVar

from openmsmq.client.address import Address
from openmsmq.client.arguments import message_of, several
from openmsmq.client.backend import ChainBroken, SendChannel, SendHandle
from openmsmq.client.connecting import backend_of
from openmsmq.client.errors import ConnectionLost
from openmsmq.client.logic.manager import ManagerLogic
from openmsmq.client.logic.packets import SignatureWanted
from openmsmq.client.logic.patience import Patience, may_start
from openmsmq.client.logic.queue import QueueLogic
from openmsmq.client.message import Message
from openmsmq.client.operations import Operation

from .transport import Transport, open_transport

if TYPE_CHECKING:
    from openmsmq.client.remote.asynchronous_transport import RemoteTransport

AnyTransport: TypeAlias = "Transport | RemoteTransport"
P = ParamSpec("P")
T = TypeVar("T")


async def run(transport: AnyTransport, operation: Operation[T]) -> T:
    """Run an operation to its end."""
    try:
        wait = next(operation)
        while True:
            try:
                reply = await transport.wait(wait)
            except BaseException as exc:  # noqa: BLE001 - the operation decides, and raises again
                wait = operation.throw(exc)
            else:
                wait = operation.send(reply)
    except StopIteration as end:
        result: T = end.value
        return result
    finally:
        transport.flush()


def new_lock() -> asyncio.Lock:
    """What lets one caller at a time make a connection."""
    return asyncio.Lock()


class Driver:
    """What the queues and transactions of an asynchronous client share."""

    def __init__(
        self, address: Address, *, timeout: float | None, reconnect: bool, act_for: str = ""
    ) -> None:
        self.address: Final = address
        self.backend: Final = backend_of(
            address, timeout=timeout, reconnects=reconnect, act_for=act_for
        )
        self._timeout = timeout
        self._closed = False
        self._opening = asyncio.Lock()
        self._transport: AnyTransport

    async def open_first(self, wait: float | None) -> None:
        """Connect, and wait for the queue manager to start if that is wanted.

        Raises:
            ConnectionLost: nobody answers.
        """
        began = time.monotonic()
        patience: Patience | None = None
        while True:
            try:
                await self.open()
            except ConnectionLost as exc:
                patience = patience or Patience(wait, began)
                if not may_start(exc) or (pause := patience.next_pause(time.monotonic())) is None:
                    raise
            else:
                return
            await asyncio.sleep(pause)

    async def open(self) -> None:
        """Connect.

        Raises:
            ConnectionLost: nobody answers.
        """
        channel = self.backend.new_channel()
        transport = await open_transport(self.address, channel, self._timeout)
        try:
            await run(transport, self.backend.greet(channel))
        except BaseException:
            await transport.close()
            raise
        self._transport = transport

    @property
    def usable(self) -> bool:
        """Whether there is a connection right now."""
        return self._transport.channel.fault is None

    # Calls

    def step(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a step of the logic; one thread runs everything, so it needs no lock."""
        return function(*args, **kwargs)

    async def call(
        self, operation: Callable[P, Operation[T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run an operation.

        Raises:
            ConnectionLost: the connection broke; whether the operation was done is not known.
        """
        transport = await self._ready()
        self.backend.tell_loss()
        return await self._run(transport, operation(*args, **kwargs))

    async def _run(self, transport: AnyTransport, operation: Operation[T]) -> T:
        """Run an operation whose failure covers everything that was under way."""
        try:
            return await run(transport, operation)
        except ConnectionLost:
            transport.channel.told = True
            raise

    async def call_waiting(
        self,
        timeout: float | None,
        operation: Callable[Concatenate[float | None, P], Operation[T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run an operation that takes how long to wait, again after a loss if that is wanted.

        Raises:
            ConnectionLost: the connection broke, and the queue manager did not come back in time.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            try:
                transport = await self._ready()
                return await run(transport, operation(timeout, *args, **kwargs))
            except ConnectionLost:
                if not self.backend.reconnects or self._closed:
                    raise
            timeout = None if deadline is None else max(deadline - time.monotonic(), 0.0)
            await self._await_return(Patience(timeout, time.monotonic()))
            timeout = None if deadline is None else max(deadline - time.monotonic(), 0.0)

    async def _ready(self) -> AnyTransport:
        """The transport, a new one after a loss if that is wanted."""
        if self.usable:
            return self._transport
        if self._closed or not self.backend.reconnects:
            self._transport.channel.told = True
            raise ConnectionLost(str(self._transport.channel.fault))
        async with self._opening:
            if not self.usable:
                await self._transport.close()
                await self.open()
        return self._transport

    async def _await_return(self, patience: Patience) -> None:
        while True:
            try:
                await self._ready()
            except ConnectionLost:
                pause = patience.next_pause(time.monotonic())
                if self._closed or pause is None:
                    raise
                await asyncio.sleep(pause)
            else:
                return

    # Sending without waiting

    def target(self, manager: ManagerLogic, name: str) -> QueueLogic:
        """A queue to send to by a name that is not known yet; another may be closed for it."""
        return manager.target(name)

    async def send(self, queue: QueueLogic, message: Message, transaction: int) -> None:
        """Send a message with others; a refusal is raised later."""
        transport, handle = await self._sender(queue)
        try:
            packet = handle.builder(transaction)(message)
        except SignatureWanted:
            handle, packet = await self._run(transport, queue.signed_packet(message, transaction))
        if handle.channel.add_packet(handle.number, transaction, packet):
            await self._ship(transport, handle.channel)
        elif not transaction:
            transport.linger()

    async def send_many(
        self,
        queue: QueueLogic,
        messages: Iterable[Message | str | bytes] | AsyncIterable[Message | str | bytes],
        transaction: int,
    ) -> int:
        """Send messages with many on their way; return how many, when all are accepted."""
        several("messages", messages, "messages")
        transport, handle = await self._sender(queue)
        channel = handle.channel
        build, number, add_packet = handle.builder(transaction), handle.number, channel.add_packet
        channel.check(transaction)
        chain = 0 if transaction else channel.new_chain()
        count = 0
        try:
            if isinstance(messages, AsyncIterable):
                async for item in messages:
                    message = message_of(item)
                    try:
                        packet = build(message)
                    except SignatureWanted:
                        packet = await self._signed(transport, queue, message, transaction)
                    full = add_packet(number, transaction, packet, chain)
                    count += 1
                    if full:
                        await self._ship(transport, channel)
                    elif not transaction:
                        transport.linger()
            else:
                for item in messages:
                    message = message_of(item)
                    try:
                        packet = build(message)
                    except SignatureWanted:
                        packet = await self._signed(transport, queue, message, transaction)
                    full = add_packet(number, transaction, packet, chain)
                    count += 1
                    if full:
                        await self._ship(transport, channel)
        except ChainBroken:
            pass
        except BaseException:
            channel.disown(chain)
            raise
        return await self._run(transport, channel.settle(chain, count)) if chain else count

    async def _signed(
        self, transport: AnyTransport, queue: QueueLogic, message: Message, transaction: int
    ) -> bytes:
        """The packet of a message that is to be signed; the first one asks for its destination."""
        return (await self._run(transport, queue.signed_packet(message, transaction)))[1]

    async def _sender(self, queue: QueueLogic) -> tuple[AnyTransport, SendHandle]:
        transport = await self._ready()
        self.backend.tell_loss()
        handle = queue.open_sender()
        if handle is None:
            handle = await self._run(transport, queue.opened_to_send())
        return transport, handle

    async def _ship(self, transport: AnyTransport, channel: SendChannel) -> None:
        channel.close_sends()
        await self._run(transport, channel.make_room())

    def flush_data(self) -> bool:
        """Let everything that was posted leave; say whether there is a connection."""
        self._transport.flush()
        return self.usable

    async def close(self) -> None:
        """Hang up; what was not accepted yet may be lost."""
        self._closed = True
        await self._transport.close()
        self._transport.channel.told = True
