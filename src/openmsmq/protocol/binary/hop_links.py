"""HopLink: successive connections to one next hop ([MS-MQQB] 3.1.5.2)."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from openmsmq.core.model.outgoing_queue import NextHop

    from .transfer import Transfer


class HopLinkState(Enum):
    """The state of a link; WAITING is the SessionState WAITING_RECONNECT."""

    IDLE = "idle"
    PINGING = "pinging"
    CONNECTING = "connecting"
    CONNECTED = "connected"
    WAITING = "waiting to reconnect"
    DUE = "about to reconnect"


class HopLinkInput(Enum):
    """An input of a hop link."""

    PING = "messages wait, and a ping asks first whether a session would be accepted"
    CONNECT = "messages wait"
    ANSWERED = "the ping was answered: a session would be accepted"
    REACHED = "the connection is made"
    BROKE = "the attempt or the session is over, and messages wait"
    ENDED = "the attempt or the session is over, and no message waits"
    RETRY = "the Session Retry Connect Timer is over, and messages wait"
    REST = "no message waits any more"


class HopLinkAction(Enum):
    """An action of a hop link."""

    NOTHING = "nothing"
    SEND_PING = "send a ping"
    CONNECT = "connect"
    RETRY_LATER = "start the Session Retry Connect Timer"
    TRY_NEXT_HOP = "let each outgoing queue try its next hop, which may be this one again"
    REST = "forget the way unless an outgoing queue leads there"


_S = HopLinkState
_In = HopLinkInput
_Act = HopLinkAction
_Rows = dict[tuple[HopLinkState, HopLinkInput], tuple[HopLinkState, HopLinkAction]]
_CHANGES: Final[_Rows] = {
    (_S.IDLE, _In.PING): (_S.PINGING, _Act.SEND_PING),
    (_S.IDLE, _In.CONNECT): (_S.CONNECTING, _Act.CONNECT),
    # [MS-MQQB] 3.1.5.2.2: no ping before a retry.
    (_S.DUE, _In.PING): (_S.CONNECTING, _Act.CONNECT),
    (_S.DUE, _In.CONNECT): (_S.CONNECTING, _Act.CONNECT),
    (_S.PINGING, _In.ANSWERED): (_S.CONNECTING, _Act.CONNECT),
    (_S.CONNECTING, _In.REACHED): (_S.CONNECTED, _Act.NOTHING),
    **{
        (state, _In.BROKE): (_S.WAITING, _Act.RETRY_LATER)
        for state in (_S.PINGING, _S.CONNECTING, _S.CONNECTED)
    },
    **{
        (state, _In.ENDED): (_S.IDLE, _Act.REST)
        for state in (_S.PINGING, _S.CONNECTING, _S.CONNECTED)
    },
    (_S.WAITING, _In.RETRY): (_S.DUE, _Act.TRY_NEXT_HOP),
    (_S.WAITING, _In.REST): (_S.IDLE, _Act.REST),
    (_S.DUE, _In.REST): (_S.IDLE, _Act.REST),
    (_S.IDLE, _In.REST): (_S.IDLE, _Act.REST),
}
# Inputs missing in the table above change nothing.
HOP_LINK_TABLE: Final[_Rows] = {
    (state, link_input): _CHANGES.get((state, link_input), (state, _Act.NOTHING))
    for state in HopLinkState
    for link_input in HopLinkInput
}


class HopLink:
    """The connection to one next hop, opened when messages wait for it."""

    __slots__ = ("connection", "hop", "pinged", "retry_at", "state", "transfers")

    def __init__(self, hop: NextHop) -> None:
        self.hop = hop
        self.state = HopLinkState.IDLE
        # The number of the connection in progress or in use; 0 for none.
        self.connection = 0
        self.pinged = False
        self.retry_at: float | None = None
        # The outgoing queues that try this next hop.
        self.transfers: dict[Transfer, None] = {}

    def step(self, what: HopLinkInput) -> HopLinkAction:
        """Process an input; return the action."""
        self.state, action = HOP_LINK_TABLE[self.state, what]
        return action

    @property
    def has_work(self) -> bool:
        """Whether messages that may leave are waiting."""
        return any(transfer.stream.has_work for transfer in self.transfers)
