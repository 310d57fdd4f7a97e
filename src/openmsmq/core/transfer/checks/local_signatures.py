"""Signed messages of local clients: those for local queues are verified like those of peers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.core.transfer.incoming.addressing import Local, locate
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.user_message import UserMessage

from .certificate_checks import BadSignature
from .message_checks import authenticated, is_signed

if TYPE_CHECKING:
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State
    from openmsmq.security.signatures.verification import Match
    from openmsmq.security.signatures.xml_forms import XmlForm
    from openmsmq.wire.message.user_message_run import UserMessageRun

_URL: Final = "http"


def verify_local(state: State, queue: Queue, run: UserMessageRun) -> None:
    """Verify the signed messages of a local client, like those of other queue managers.

    Args:
        queue: the destination.

    Raises:
        QueueError: a signature is invalid.
    """
    checks = state.message_checks
    packets: list[bytes] = []
    for packet in run.packets:
        message = UserMessage(packet)
        if not is_signed(message):
            packets.append(packet)
            continue
        place = locate(state, message)
        judgment: Match | XmlForm | BadSignature
        if message.source != state.identity:
            # The queue manager writes its own GUID into the packet.
            judgment = BadSignature("another queue manager is signed as the source")
        elif not isinstance(place, Local) or place.queue is not queue:
            judgment = BadSignature("another queue is signed as the destination")
        else:
            judgment = (
                checks.judge_xml(message, utc=state.utc)
                if _is_for_url(message)
                else checks.judge(message, known=checks.is_registered(message), utc=state.utc)
            )
        if isinstance(judgment, BadSignature):
            raise QueueError(
                Hresult.MQ_ERROR_MESSAGE_NOT_AUTHENTICATED,
                f"the signature is refused: {judgment.reason}",
                cause="A queue takes a signature that proves its sender, or none.",
                remedy="`openmsmq key register` puts your certificate into the directory; without "
                "a directory see `trusted_certificates` of the receiving queue manager.",
            )
        packets.append(authenticated(message, judgment))
    run.replace(packets)


def _is_for_url(message: UserMessage) -> bool:
    """Whether the signature is one of SRMP, as its sender addressed the message to a URL."""
    address = message.destination_queue
    direct = None if address is None else address.direct
    return direct is not None and direct[: len(_URL)].casefold() == _URL
