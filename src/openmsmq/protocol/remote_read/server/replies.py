"""The packet of a message for a remote reader, created by patching the stored packet."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING, Final, NamedTuple

from openmsmq.core.model.queue import QueueRole
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.remote_read.dead_letter_header import DeadLetterHeader
from openmsmq.wire.remote_read.extended_address_header import (
    AddressOverlay,
    ExtendedAddressHeader,
    HostAddressType,
)
from openmsmq.wire.remote_read.reply_packet import ReplyPacket, serialize_extension_headers
from openmsmq.wire.remote_read.subqueue_header import SubqueueHeader
from openmsmq.wire.scalars import guid_bytes

if TYPE_CHECKING:
    from openmsmq.core.model.message import History, Message
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.queue_manager import QueueManager

NAMES: Final = 1000


class Address(NamedTuple):
    """The origin of a message.

    Attributes:
        text: empty for an unknown address.
        overlay: as in UserHeader.QueueManagerAddress.
    """

    text: str
    header: ExtendedAddressHeader
    overlay: bytes


def address_of(text: str, header: ExtendedAddressHeader) -> Address:
    """The address in both forms."""
    return Address(text, header, AddressOverlay.of(header).serialize())


NO_ADDRESS: Final = address_of("", ExtendedAddressHeader())


class Replies:
    """Creates the packets of answers to remote reads.

    Common parts of messages of a queue are created once.

    Args:
        names: the number of addresses and of headers that are kept.
    """

    __slots__ = ("_addresses", "_extensions", "_manager", "_names")

    def __init__(self, manager: QueueManager, *, names: int = NAMES) -> None:
        self._manager = manager
        self._names = names
        self._addresses: dict[str, Address] = {}
        self._extensions: dict[tuple[str, int, str], bytes] = {}

    def __len__(self) -> int:
        """The number of cached entries."""
        return len(self._addresses) + len(self._extensions)

    def packet(self, message: Message, packet: bytes, local_address: str) -> ReplyPacket:
        """The packet of a message.

        Args:
            local_address: the address at which the client reached this machine, also used for
                messages that were sent here.
        """
        user_message = UserMessage(packet)
        source = user_message.source
        # The address of another machine is not stored; a reader ignores one that is missing.
        address = NO_ADDRESS
        if source == guid_bytes(self._manager.identifier):
            address = self._address(local_address)
        return ReplyPacket(
            user_message,
            extension_headers=self._extension(message, user_message, address),
            address_overlay=address.overlay,
            source=source,
        )

    def _address(self, text: str) -> Address:
        address = self._addresses.get(text)
        if address is None:
            number = ip_address(text)
            kind = HostAddressType.IP if number.version == 4 else HostAddressType.IPV6
            address = address_of(text, ExtendedAddressHeader(kind, number.packed))
            if len(self._addresses) < self._names:
                self._addresses[text] = address
        return address

    def _extension(self, message: Message, user_message: UserMessage, address: Address) -> bytes:
        history = message.history
        message_class = user_message.message_class
        if history is not None:
            return self._own_extension(message, history, message_class, address)
        subqueue = subqueue_name(message.queue)
        key = (subqueue, message_class, address.text)
        headers = self._extensions.get(key)
        if headers is None:
            headers = serialize_extension_headers(
                subqueue_header=SubqueueHeader(message_class, subqueue_name=subqueue),
                extended_address_header=address.header,
            )
            if len(self._extensions) < self._names:
                self._extensions[key] = headers
        return headers

    def _own_extension(
        self,
        message: Message,
        history: History,
        message_class: int,
        address: Address,
    ) -> bytes:
        dead_letter = None
        if history.deadletter_queue:
            path = f"{self._manager.name}\\{history.deadletter_queue}"
            dead_letter = DeadLetterHeader(path)
        return serialize_extension_headers(
            subqueue_header=SubqueueHeader(
                history.message_class or message_class,
                history.abort_count,
                history.move_count,
                history.last_move_time,
                subqueue_name(message.queue),
            ),
            extended_address_header=address.header,
            dead_letter_header=dead_letter,
            dead_letter_invalid=dead_letter is not None
            and not self._takes(history.deadletter_queue, message),
        )

    def _takes(self, path: str, message: Message) -> bool:
        """Whether the dead-letter queue that the sender named can take the message."""
        try:
            queue = self._manager.find_queue(f".\\{path}")
        except QueueError:
            return False
        return queue.properties.transactional == message.transactional


def subqueue_name(queue: Queue) -> str:
    """The name of a subqueue; empty for other queues."""
    return queue.path.rpartition(";")[2] if queue.role is QueueRole.SUBQUEUE else ""
