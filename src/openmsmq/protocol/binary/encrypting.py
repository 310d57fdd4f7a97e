"""Encryption of private bodies when they are sent ([MS-MQQB] 3.1.7.1.5), never in the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.core.transfer.outgoing.states import OutgoingInput
from openmsmq.security.encryption.published_keys import CannotEncrypt
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.format_name import (
    PrivateFormatName,
    PublicFormatName,
    parse_format_name,
)

if TYPE_CHECKING:
    from openmsmq.core.queue_manager import QueueManager
    from openmsmq.core.transfer.outgoing.departures import Departure
    from openmsmq.protocol.timer_heap import TimerHeap
    from openmsmq.security.encryption.body_encryption import BodyEncryption

    from .transfer import Transfer

KEYS_TIMER: Final = "SendSymmetricKeyCache Cleanup Timer"


class Encrypting:
    """Encrypts the messages of a departure for their destination.

    Args:
        encryption: None if this queue manager does not encrypt.
    """

    __slots__ = ("_encryption", "_manager", "_timers")

    def __init__(
        self, manager: QueueManager, encryption: BodyEncryption | None, timers: TimerHeap
    ) -> None:
        self._manager = manager
        self._encryption = encryption
        self._timers = timers

    def encrypt(self, transfer: Transfer, departure: Departure, *, now: float) -> None:
        """Encrypt bodies as required; the departure ends before the first message that cannot be.

        That message is given up, and those after it go back in place: in a sequence another
        message precedes them now.
        """
        packets = departure.packets
        tokens = departure.tokens
        for position, packet in enumerate(packets):
            message = UserMessage(packet)
            if not message.private_body:
                continue
            try:
                packets[position] = self._encrypted(transfer, message, now)
            except CannotEncrypt as exc:
                del packets[position:]
                departure.tokens = tokens[:position]
                transfer.stream.release(tokens[position + 1 :])
                self._give_up(transfer, tokens[position], exc)
                return

    def _encrypted(self, transfer: Transfer, message: UserMessage, now: float) -> bytes:
        encryption = self._encryption
        if encryption is None:
            raise CannotEncrypt(
                Hresult.MQ_ERROR_COMPUTER_DOES_NOT_SUPPORT_ENCRYPTION,
                "this queue manager does not encrypt",
            )
        # [MS-MQQB] 3.1.7.1.5: the keys of a queue manager are looked up by its GUID.
        name = parse_format_name(transfer.outgoing.destination_format_name)
        if not isinstance(name, (PrivateFormatName, PublicFormatName)):
            raise CannotEncrypt(
                Hresult.MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION,
                "only messages to PUBLIC= and PRIVATE= names can be encrypted",
            )
        keys = transfer.published_keys
        if keys is None:
            keys = self._manager.outgoing.published_keys(transfer.destination)
            transfer.published_keys = keys
        packet = encryption.encrypt(message, transfer.destination, keys, now=now)
        self._timers.set(KEYS_TIMER, encryption.next_timer())
        return packet

    def _give_up(self, transfer: Transfer, token: object, fault: CannotEncrypt) -> None:
        """Handling Encryption Errors ([MS-MQQB] 3.1.7.1.5.1)."""
        connection = transfer.connection
        self._manager.outgoing.change(
            transfer.queue,
            OutgoingInput.NOT_ENCRYPTED,
            reason=f"a message could not be encrypted: {fault.reason}",
            address=connection.address if connection is not None else "",
            error=int(fault.code),
        )
        transfer.stream.refused(token, MessageClass.NACK_COULD_NOT_ENCRYPT)

    def timer(self, now: float) -> None:
        """SendSymmetricKeyCache Cleanup Timer, and that of the Base provider."""
        if self._encryption is not None:
            self._encryption.handle_timer(now=now)
            self._timers.set(KEYS_TIMER, self._encryption.next_timer())
