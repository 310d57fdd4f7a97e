"""Driver: runs operations over a transport and connects again when asked to."""

import contextlib
import threading
import time
import weakref
from collections.abc import Callable, Iterable
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
from openmsmq.wire.errors import MsmqError

from .transport import LINGER_SECONDS, Transport, open_transport

# How long a program that ends without closing waits for what it has sent to be accepted.
FINISH_SECONDS: Final = 5.0

if TYPE_CHECKING:
    from openmsmq.client.remote.blocking_transport import RemoteTransport

AnyTransport: TypeAlias = "Transport | RemoteTransport"
P = ParamSpec("P")
T = TypeVar("T")


def run(transport: AnyTransport, operation: Operation[T]) -> T:
    """Run an operation to its end; its steps are under the lock, its waiting is not."""
    told: BaseException | None = None
    try:
        with transport.lock:
            wait = next(operation)
        while True:
            try:
                transport.wait(wait)
            except BaseException as exc:  # noqa: BLE001 - the operation decides, and raises again
                told = exc
                with transport.lock:
                    wait = operation.throw(exc)
            else:
                with transport.lock:
                    wait = operation.send(transport.channel.take(wait.request))
    except StopIteration as end:
        result: T = end.value
    except BaseException as exc:
        if exc is not told and not isinstance(exc, Exception):
            # Ctrl-C in a step of the operation.
            transport.lose_track()
        # What the operation posted on its way out still leaves if it can.
        with contextlib.suppress(ConnectionLost):
            transport.flush()
        raise
    transport.flush()
    return result


def guarded(
    transport: AnyTransport, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> T:
    """Run a step of the logic under the lock; if Ctrl-C cuts it, the connection is given up."""
    try:
        with transport.lock:
            return function(*args, **kwargs)
    except Exception:
        raise
    except BaseException:
        transport.lose_track()
        raise


def new_lock() -> threading.Lock:
    """What lets one caller at a time make a connection."""
    return threading.Lock()


class Driver:
    """What the queues and transactions of a blocking client share."""

    def __init__(
        self, address: Address, *, timeout: float | None, reconnect: bool, act_for: str = ""
    ) -> None:
        self.address: Final = address
        self.backend: Final = backend_of(
            address, timeout=timeout, reconnects=reconnect, act_for=act_for
        )
        self._timeout = timeout
        self._closed = False
        self._opening = threading.Lock()
        self._last_ship = 0.0
        self._transport: AnyTransport

    def open_first(self, wait: float | None) -> None:
        """Connect, and wait for the queue manager to start if that is wanted.

        Raises:
            ConnectionLost: nobody answers.
        """
        began = time.monotonic()
        patience: Patience | None = None
        while True:
            try:
                self.open()
            except ConnectionLost as exc:
                patience = patience or Patience(wait, began)
                if not may_start(exc) or (pause := patience.next_pause(time.monotonic())) is None:
                    raise
            else:
                return
            time.sleep(pause)

    def open(self) -> None:
        """Connect.

        Raises:
            ConnectionLost: nobody answers.
        """
        channel = self.backend.new_channel()
        transport = open_transport(self.address, channel, self._timeout)
        try:
            run(transport, self.backend.greet(channel))
        except BaseException:
            transport.close()
            raise
        # A program that ends without closing still sends what it has sent.
        self._finalizer = weakref.finalize(self, finish, transport, self.backend.flush)
        self._transport = transport

    @property
    def usable(self) -> bool:
        """Whether there is a connection right now."""
        return self._transport.channel.fault is None

    # Calls

    def step(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a step of the logic, which waits for nothing."""
        return guarded(self._transport, function, *args, **kwargs)

    def call(self, operation: Callable[P, Operation[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run an operation.

        Raises:
            ConnectionLost: the queue manager is gone; whether it did the operation is not known.
        """
        transport = self._ready()
        self.backend.tell_loss()
        return self._run(transport, operation(*args, **kwargs))

    def _run(self, transport: AnyTransport, operation: Operation[T]) -> T:
        """Run an operation whose failure tells of everything that was under way."""
        try:
            return run(transport, operation)
        except ConnectionLost:
            transport.channel.told = True
            raise

    def call_waiting(
        self,
        timeout: float | None,
        operation: Callable[Concatenate[float | None, P], Operation[T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run an operation that takes how long to wait, again after a loss if that is wanted.

        Raises:
            ConnectionLost: the queue manager is gone, and not back in time.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            try:
                transport = self._ready()
                return run(transport, operation(timeout, *args, **kwargs))
            except ConnectionLost:
                if not self.backend.reconnects or self._closed:
                    raise
            timeout = None if deadline is None else max(deadline - time.monotonic(), 0.0)
            self._await_return(Patience(timeout, time.monotonic()))
            timeout = None if deadline is None else max(deadline - time.monotonic(), 0.0)

    def _ready(self) -> AnyTransport:
        """The transport, a new one after a loss if that is wanted."""
        if self.usable:
            return self._transport
        if self._closed or not self.backend.reconnects:
            self._transport.channel.told = True
            raise ConnectionLost(str(self._transport.channel.fault))
        with self._opening:
            if not self.usable:
                self._finalizer()
                self.open()
        return self._transport

    def _await_return(self, patience: Patience) -> None:
        while True:
            try:
                self._ready()
            except ConnectionLost:
                pause = patience.next_pause(time.monotonic())
                if self._closed or pause is None:
                    raise
                time.sleep(pause)
            else:
                return

    # Sending without waiting

    def target(self, manager: ManagerLogic, name: str) -> QueueLogic:
        """A queue to send to by a name that is not known yet; another may be closed for it."""
        return self.step(manager.target, name)

    def send(self, queue: QueueLogic, message: Message, transaction: int) -> None:
        """Send a message with others; a refusal is raised later."""
        transport = self._transport
        handle = queue.sender
        # Mostly all is well, and this is the way of every message.
        if (
            handle is None
            or (channel := handle.channel) is not transport.channel
            or channel.fault
            or channel.refused
        ):
            transport, handle = self._sender(queue)
            channel = handle.channel
        try:
            packet = handle.build_transactional(message) if transaction else handle.build(message)
        except SignatureWanted:
            handle, packet = self._run(transport, queue.signed_packet(message, transaction))
            channel = handle.channel
        try:
            with transport.lock:
                full = channel.add_packet(handle.number, transaction, packet)
        except KeyboardInterrupt:
            transport.lose_track()
            raise
        if full or not (transport.lingers or transaction):
            self._pace(transport, channel, ship=full)

    def send_many(
        self, queue: QueueLogic, messages: Iterable[Message | str | bytes], transaction: int
    ) -> int:
        """Send messages with many on their way; return how many, when all are accepted."""
        several("messages", messages, "messages")
        transport, handle = self._sender(queue)
        channel, lock = handle.channel, transport.lock
        build, number, add_packet = handle.builder(transaction), handle.number, channel.add_packet
        with lock:
            channel.check(transaction)
            chain = 0 if transaction else channel.new_chain()
        count = 0
        try:
            for message in messages:
                if type(message) is not Message:
                    message = message_of(message)
                try:
                    packet = build(message)
                except SignatureWanted:
                    packet = self._run(transport, queue.signed_packet(message, transaction))[1]
                try:
                    with lock:
                        full = add_packet(number, transaction, packet, chain)
                except KeyboardInterrupt:
                    transport.lose_track()
                    raise
                count += 1
                if full or not (transport.lingers or transaction):
                    self._pace(transport, channel, ship=full)
        except ChainBroken:
            pass
        except BaseException:
            guarded(transport, channel.disown, chain)
            raise
        return self._run(transport, channel.settle(chain, count)) if chain else count

    def _sender(self, queue: QueueLogic) -> tuple[AnyTransport, SendHandle]:
        transport = self._ready()
        self.backend.tell_loss()
        handle = guarded(transport, queue.open_sender)
        if handle is None:
            handle = self._run(transport, queue.opened_to_send())
        return transport, handle

    def _pace(self, transport: AnyTransport, channel: SendChannel, *, ship: bool) -> None:
        """Let a message leave at once when none came for a while, else together with others."""
        now = time.monotonic()
        if not ship and now - self._last_ship <= LINGER_SECONDS:
            transport.linger()
            return
        self._last_ship = now
        guarded(transport, channel.close_sends)
        self._run(transport, channel.make_room())

    def flush_data(self) -> bool:
        """Let everything that was posted leave; say whether there is a connection."""
        with contextlib.suppress(ConnectionLost):
            self._transport.flush()
        return self.usable

    def close(self) -> None:
        """Hang up; what was not accepted yet may be lost."""
        self._closed = True
        self._finalizer()
        self._transport.channel.told = True


def finish(transport: AnyTransport, flush: Callable[[], Operation[None]]) -> None:
    """Let everything leave, wait a while until it is accepted, and hang up.

    A queue manager that answers into a connection which is closed reads no further in it.
    """
    with contextlib.suppress(MsmqError):
        if transport.channel.fault is None:
            run_for(FINISH_SECONDS, transport, flush())
    transport.close()


def run_for(seconds: float, transport: AnyTransport, operation: Operation[None]) -> None:
    """Run an operation, but no longer than so many seconds."""
    deadline = time.monotonic() + seconds
    with transport.lock:
        wait = next(operation, None)
    transport.flush()
    while wait is not None and (left := deadline - time.monotonic()) > 0:
        transport.wait(wait._replace(seconds=left))
        with transport.lock:
            try:
                wait = operation.send(transport.channel.take(wait.request))
            except StopIteration:
                wait = None
