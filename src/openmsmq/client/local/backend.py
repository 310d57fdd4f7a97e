"""LocalBackend: the connection to an openmsmq queue manager, over the local protocol."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NoReturn
from uuid import UUID

from openmsmq.client.backend import (
    READ_BYTES,
    Channel,
    Handle,
    HoldMany,
    Identity,
    LookUp,
    MoveStep,
    PurgeStep,
    Read,
    SendDetails,
    SendHandle,
)
from openmsmq.client.errors import ConnectionLost
from openmsmq.client.logic.packet_templates import Sender
from openmsmq.client.logic.packets import PacketBuilder
from openmsmq.client.operations import Operation, Wait
from openmsmq.client.received_message import ReceivedMessage
from openmsmq.protocol.local import messages as local
from openmsmq.protocol.local.messages import MAX_MESSAGES
from openmsmq.security.signatures.hash_forms import FIRST_FORM, HashForm
from openmsmq.security.signatures.xml_forms import FIRST_XML_FORM, XmlForm
from openmsmq.wire.security.sid import SID

from .channel import RequestChannel
from .management import LocalManagement
from .ranges import LocalRanges
from .requests import checked, done, failure, messages

# The number of concurrent requests of a cursor.
WINDOW: Final = 256


class LocalBackend:
    """A `client.backend.Backend` over the local protocol.

    Args:
        description: the address of the queue manager, for error texts.
        clock: monotonic time in seconds.
        token: identifies this client over TCP.
        timeout: seconds in which the queue manager must answer the greeting.
        reconnects: whether a driver opens a new channel when one is lost.
    """

    can_send: Final = True
    largest_read: Final = MAX_MESSAGES
    window: Final = WINDOW
    cursor_read: Final = 1

    def __init__(
        self,
        description: str,
        clock: Callable[[], float],
        *,
        token: str = "",
        act_for: str = "",
        timeout: float | None,
        reconnects: bool,
    ) -> None:
        self.clock: Final = clock
        self.reconnects: Final = reconnects
        self._description = description
        self._token = token
        self._act_for = act_for
        self._timeout = timeout
        self.channel: RequestChannel
        self._last: RequestChannel | None = None
        self._untold: RequestChannel | None = None
        self.identity: Identity
        # The GUID, as in packets.
        self._machine = b""
        # Shared by all queues: packets to different ones do not differ.
        self._builder: PacketBuilder
        self._transactional_builder: PacketBuilder
        self.ranges: Final = LocalRanges(self)

    @property
    def management(self) -> LocalManagement:
        return LocalManagement(self)

    # Connecting

    def new_channel(self) -> RequestChannel:
        return RequestChannel(self._description)

    def greet(self, channel: Channel) -> Operation[None]:
        assert isinstance(channel, RequestChannel)  # noqa: S101 - from `new_channel`
        hello = local.Hello(channel.next_id(), local.VERSION, self._token, self._act_for)
        channel.post(hello)
        try:
            reply = yield Wait(hello.id, self._timeout)
        except ConnectionLost as exc:
            raise channel.refuse() from exc
        if reply is None:
            raise channel.lose(
                f"{channel.description} has not answered within {self._timeout:g} seconds."
            )
        value = done(reply)
        sid: bytes = value["sid"]
        identity = Identity(
            value["name"],
            value["guid"],
            str(SID.parse(sid)[0]),
            value["version"],
            frozenset(value.get("names", ())),
            value.get("directory", False),
            value.get("signature_form", ""),
            value.get("srmp_signature_form", ""),
        )
        self.introduce(identity, sid)
        if self._last is not None and self._last.fate_unknown:
            self._untold = self._last
        self.channel = self._last = channel

    def introduce(self, identity: Identity, sid: bytes) -> None:
        """Set the identity of the queue manager, and the user for whom it takes this client."""
        self.identity = identity
        self._machine = UUID(identity.guid).bytes_le
        form, srmp_form = identity.signature_form, identity.srmp_signature_form
        sender = Sender(
            computer_name=identity.name,
            sid=sid,
            queue_manager=UUID(identity.guid),
            directory=identity.directory,
            signature_form=HashForm.parse(form) if form else FIRST_FORM,
            srmp_signature_form=XmlForm.parse(srmp_form) if srmp_form else FIRST_XML_FORM,
        )
        self._builder = PacketBuilder(sender, transactional=False)
        self._transactional_builder = PacketBuilder(sender, transactional=True)

    def tell_loss(self) -> None:
        for channel in (self._untold, self._last):
            if channel is not None and channel.fate_unknown and not channel.told:
                channel.told = True
                raise ConnectionLost(str(channel.fault))

    def check(self, transaction: int = 0) -> None:
        self.channel.check(transaction)

    def flush(self) -> Operation[None]:
        return self.channel.flush()

    def call(self, kind: Callable[..., local.Request], *fields: Any) -> Operation[Any]:
        """Send a request of this kind and return the value of its answer.

        Raises:
            QueueError: it was refused, or a message sent before was.
            TypeError: an argument has the wrong type.
        """
        channel = self.channel
        channel.check()
        request = checked(kind(channel.next_id(), *fields))
        channel.post(request)
        return done((yield Wait(request.id)))

    # Queues

    def open(self, name: str, access: str, share: str) -> Operation[Handle]:
        value = yield from self.call(local.OpenQueue, name, access, share)
        return Handle(self.channel, value["handle"], value["format_name"])

    def open_to_send(self, name: str, share: str) -> Operation[SendHandle]:
        value = yield from self.call(local.OpenQueue, name, "send", share)
        details = SendDetails(value["format_name"], value["transactional"])
        return self._send_handle(value["handle"], details)

    def open_later(self, name: str) -> SendHandle:
        return self._send_handle(self.channel.open_later(name))

    def _send_handle(self, number: int, details: SendDetails | None = None) -> SendHandle:
        return SendHandle(self.channel, number, self._builder, self._transactional_builder, details)

    def packet_builder(self, *, transactional: bool) -> PacketBuilder:
        return self._transactional_builder if transactional else self._builder

    def close(self, handles: Iterable[Handle | SendHandle]) -> Operation[None]:
        channel = self.channel
        requests = [local.CloseQueue(channel.next_id(), handle.number) for handle in handles]
        for request in requests:
            channel.post(request)
        for request in requests:
            done((yield Wait(request.id)))

    def close_later(self, handle: Handle | SendHandle) -> None:
        channel = self.channel
        close = local.CloseQueue(channel.next_id(), handle.number)
        channel.post(close)
        # A handle that could not be opened is not open.
        channel.ignore(close.id)

    # Reading

    def ask(self, handle: Handle, read: Read | LookUp | HoldMany) -> int:
        channel = self.channel
        request: local.Request
        if isinstance(read, Read):
            action, limit, timeout, cursor, transaction, two_phase = read
            request = local.Receive(
                channel.next_id(),
                handle.number,
                action,
                limit,
                READ_BYTES,
                timeout,
                cursor,
                transaction,
                two_phase,
            )
        elif isinstance(read, LookUp):
            request = checked(local.Lookup(channel.next_id(), handle.number, *read))
        else:
            request = checked(local.Hold(channel.next_id(), handle.number, *read))
        channel.post(request)
        return request.id

    def answer(
        self, request: int, seconds: float | None = None
    ) -> Operation[list[ReceivedMessage] | None]:
        reply = yield Wait(request, seconds)
        return None if reply is None else messages(reply, self._machine)

    def cancel(self, request: int) -> None:
        channel = self.channel
        cancel = local.Cancel(channel.next_id(), request)
        channel.post(cancel)
        channel.ignore(cancel.id)

    def withdraw(self, request: int, handle: Handle | None) -> None:
        self.channel.withdraw(request, 0 if handle is None else handle.number)

    def end(
        self,
        handle: Handle,
        lookup_ids: Sequence[int],
        *,
        delete: bool,
        handed: Sequence[int] = (),
        answered: Callable[[Sequence[int]], None] | None = None,
    ) -> None:
        channel = self.channel
        for at in range(0, len(lookup_ids), MAX_MESSAGES):
            part = list(lookup_ids[at : at + MAX_MESSAGES])
            channel.post_in_background(
                local.EndReceive(channel.next_id(), handle.number, part, delete, tuple(handed)),
                answered=None if answered is None else _accepted_or_not(answered, part),
            )

    def open_cursor(self, handle: Handle) -> Operation[int]:
        return self.call(local.OpenCursor, handle.number)

    def close_cursor(self, handle: Handle, cursor: int) -> None:
        channel = self.channel
        channel.post_in_background(local.CloseCursor(channel.next_id(), handle.number, cursor))

    # Managing messages

    def purge(self, handle: Handle, upto: int | None) -> Operation[PurgeStep]:
        value = yield from self.call(local.Purge, handle.number, upto)
        return PurgeStep(value["count"], value["upto"], value["done"])

    def move_messages(
        self,
        source: Handle,
        target: Handle,
        lookup_ids: list[int] | None,
        count: int,
        transaction: int,
        *,
        dry_run: bool,
        message_class: int,
    ) -> Operation[MoveStep]:
        fields = (lookup_ids, count, transaction, dry_run, message_class)
        value = yield from self.call(local.Move, source.number, target.number, *fields)
        return MoveStep(value["count"], value["lookup_ids"])

    def reject_messages(
        self, handle: Handle, lookup_ids: list[int], transaction: int
    ) -> Operation[None]:
        return self.call(local.Reject, handle.number, transaction, lookup_ids)

    def purge_messages(self, handle: Handle, lookup_ids: list[int]) -> Operation[list[int]]:
        return self.call(local.PurgeMessages, handle.number, lookup_ids)

    def find_message(
        self, handle: Handle, identifier: bytes, *, correlation: bool
    ) -> Operation[int | None]:
        return self.call(local.FindMessage, handle.number, identifier, correlation)

    # Sending and transactions

    def send_and_wait(
        self,
        handle: SendHandle,
        packet: bytes,
        transaction: int,
        deliver_at: float | None = None,
    ) -> Operation[str]:
        channel = self.channel
        request = local.Send(
            channel.next_id(), handle.number, [packet], transaction, deliver_at=deliver_at
        )
        channel.post(request)
        reply = yield Wait(request.id)
        if isinstance(reply, local.Failed):
            channel.refused.add(handle.number)
            error = failure(reply)
            error.refused = 1
            raise error
        return f"{{{str(UUID(self.identity.guid)).upper()}}}\\{done(reply)}"

    def begin_transaction(self) -> int:
        channel = self.channel
        begin = local.BeginTransaction(channel.next_id())
        channel.post_in_background(begin, owner=begin.id)
        return begin.id

    def propagation_token(self, number: int) -> Operation[tuple[bytes, bytes]]:
        value = yield from self.call(local.PropagateTransaction, number)
        return value["id"], value["token"]

    def enlist(self, identifier: bytes, token: bytes, name: str) -> NoReturn:  # noqa: ARG002
        raise ValueError("transaction: it belongs to another connection")

    def is_broken(self, number: int) -> bool:  # noqa: ARG002 - a commit tells what was refused
        return False

    def end_transaction(self, number: int, *, commit: bool) -> Operation[None]:
        channel = self.channel
        request = local.EndTransaction(channel.next_id(), number, commit)
        channel.post(request)
        reply = yield Wait(request.id)
        try:
            if commit:
                channel.check(number)
                done(reply)
        finally:
            channel.forget_failures(number)


def _accepted_or_not(
    answered: Callable[[Sequence[int]], None], lookup_ids: Sequence[int]
) -> Callable[[bool], None]:
    """Call with the lookup ids, whatever the answer is: a refusal is raised by `check`."""

    def call(accepted: bool) -> None:  # noqa: ARG001, FBT001 - the signature of the channel
        answered(lookup_ids)

    return call
