"""The actions of a remote read: the values of ulAction ([MS-MQRR] 3.1.4.7, [MS-MQQP] 2.2.2.1)."""

from enum import Enum, auto
from typing import Final, NamedTuple

from openmsmq.core.model.read import MessageSeekAction
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_enums import LookupAction, ReceiveAction
from openmsmq.wire.codes.queue_error import QueueError


class Kind(Enum):
    """How a read finds its message."""

    # The first message, or the one at the cursor.
    CURRENT = auto()
    # The message after the cursor.
    NEXT = auto()
    # The message in some relation to a lookup id.
    LOOKUP = auto()


class Action(NamedTuple):
    """One value of ulAction."""

    kind: Kind
    receive: bool
    seek: MessageSeekAction = MessageSeekAction.CURRENT


ACTIONS: Final[dict[int, Action]] = {
    ReceiveAction.RECEIVE: Action(Kind.CURRENT, receive=True),
    ReceiveAction.PEEK_CURRENT: Action(Kind.CURRENT, receive=False),
    ReceiveAction.PEEK_NEXT: Action(Kind.NEXT, receive=False),
    LookupAction.PEEK_CURRENT: Action(Kind.LOOKUP, receive=False),
    LookupAction.PEEK_NEXT: Action(Kind.LOOKUP, False, MessageSeekAction.NEXT),
    LookupAction.PEEK_PREV: Action(Kind.LOOKUP, False, MessageSeekAction.PREVIOUS),
    LookupAction.RECEIVE_CURRENT: Action(Kind.LOOKUP, receive=True),
    LookupAction.RECEIVE_NEXT: Action(Kind.LOOKUP, True, MessageSeekAction.NEXT),
    LookupAction.RECEIVE_PREV: Action(Kind.LOOKUP, True, MessageSeekAction.PREVIOUS),
}

FOR_EVER: Final = 0xFFFFFFFF


def seconds(timeout: int) -> float | None:
    """A time-out in milliseconds as seconds; None is for ever."""
    return None if timeout == FOR_EVER else timeout / 1000


def check_combination(ul_action: int, lookup_id: int, h_cursor: int, ul_timeout: int) -> Action:
    """The action, if the other parameters are valid for it ([MS-MQRR] 3.1.4.7).

    Raises:
        QueueError: MQ_ERROR_INVALID_PARAMETER.
    """
    action = ACTIONS.get(ul_action)
    if action is None:
        raise _invalid(f"ulAction {ul_action:#x} is not a read")
    if action.kind is Kind.LOOKUP:
        if not lookup_id or h_cursor or ul_timeout:
            raise _invalid("a read by lookup id takes a lookup id, no cursor and no time-out")
    elif lookup_id:
        raise _invalid(f"ulAction {ul_action:#x} takes no lookup id")
    elif action.kind is Kind.NEXT and not h_cursor:
        raise _invalid("MQ_ACTION_PEEK_NEXT needs a cursor")
    return action


def _invalid(detail: str) -> QueueError:
    return QueueError(Hresult.MQ_ERROR_INVALID_PARAMETER, detail)
