"""The state machines of a transaction across machines: at its coordinator, and at a participant."""

from enum import Enum, auto
from typing import Final, NamedTuple

from openmsmq.wire.transactions.coordination import Order, Standing


class SharedState(Enum):
    """The state of a transaction at its coordinator."""

    # The program still uses it.
    ACTIVE = "active"
    # The program wants to commit, and participants are asked whether they can.
    PREPARING = "preparing"
    # It is decided; participants that have not confirmed it are told again.
    COMMITTED = "committed"


class SharedInput(Enum):
    """An input of the coordinator."""

    ENLIST = auto()
    COMMIT = auto()
    ABORT = auto()
    # A participant is prepared, and others are not yet.
    VOTE = auto()
    LAST_VOTE = auto()
    # A participant cannot prepare, went away before, or takes too long.
    FAILURE = auto()
    # A participant has committed, and others have not yet.
    CONFIRMATION = auto()
    LAST_CONFIRMATION = auto()


class SharedAction(Enum):
    """An action of the coordinator."""

    ADD = auto()
    REFUSE = auto()
    ASK = auto()
    WAIT = auto()
    DECIDE = auto()
    ABORT = auto()
    TELL = auto()
    NOTE = auto()
    FORGET = auto()


class SharedStep(NamedTuple):
    """An action, and the next state; None when the coordinator forgets the transaction."""

    action: SharedAction
    state: SharedState | None


_ACTIVE, _PREPARING, _COMMITTED = SharedState.ACTIVE, SharedState.PREPARING, SharedState.COMMITTED
_ABORTED: Final = SharedStep(SharedAction.ABORT, None)

# Transactions unknown to the coordinator were aborted, so an abort stores nothing.
SHARED_STEPS: Final[dict[tuple[SharedState, SharedInput], SharedStep]] = {
    (_ACTIVE, SharedInput.ENLIST): SharedStep(SharedAction.ADD, _ACTIVE),
    (_ACTIVE, SharedInput.COMMIT): SharedStep(SharedAction.ASK, _PREPARING),
    (_ACTIVE, SharedInput.ABORT): _ABORTED,
    # No one was asked to prepare or to commit: the participant is unreliable.
    (_ACTIVE, SharedInput.VOTE): _ABORTED,
    (_ACTIVE, SharedInput.LAST_VOTE): _ABORTED,
    (_ACTIVE, SharedInput.FAILURE): _ABORTED,
    (_ACTIVE, SharedInput.CONFIRMATION): _ABORTED,
    (_ACTIVE, SharedInput.LAST_CONFIRMATION): _ABORTED,
    (_PREPARING, SharedInput.ENLIST): SharedStep(SharedAction.REFUSE, _PREPARING),
    (_PREPARING, SharedInput.COMMIT): SharedStep(SharedAction.REFUSE, _PREPARING),
    (_PREPARING, SharedInput.ABORT): _ABORTED,
    (_PREPARING, SharedInput.VOTE): SharedStep(SharedAction.WAIT, _PREPARING),
    (_PREPARING, SharedInput.LAST_VOTE): SharedStep(SharedAction.DECIDE, _COMMITTED),
    (_PREPARING, SharedInput.FAILURE): _ABORTED,
    (_PREPARING, SharedInput.CONFIRMATION): _ABORTED,
    (_PREPARING, SharedInput.LAST_CONFIRMATION): _ABORTED,
    (_COMMITTED, SharedInput.ENLIST): SharedStep(SharedAction.REFUSE, _COMMITTED),
    (_COMMITTED, SharedInput.COMMIT): SharedStep(SharedAction.REFUSE, _COMMITTED),
    (_COMMITTED, SharedInput.ABORT): SharedStep(SharedAction.REFUSE, _COMMITTED),
    (_COMMITTED, SharedInput.VOTE): SharedStep(SharedAction.TELL, _COMMITTED),
    (_COMMITTED, SharedInput.LAST_VOTE): SharedStep(SharedAction.TELL, _COMMITTED),
    (_COMMITTED, SharedInput.FAILURE): SharedStep(SharedAction.WAIT, _COMMITTED),
    (_COMMITTED, SharedInput.CONFIRMATION): SharedStep(SharedAction.NOTE, _COMMITTED),
    (_COMMITTED, SharedInput.LAST_CONFIRMATION): SharedStep(SharedAction.FORGET, None),
}

# The answer to a participant about a transaction unknown to the coordinator.
UNKNOWN: Final[dict[Standing, Order]] = {
    Standing.ACTIVE: Order.ABORT,
    Standing.PREPARED: Order.ABORT,
    Standing.COMMITTED: Order.FORGET,
    Standing.ABORTED: Order.FORGET,
}


class EnlistedAction(Enum):
    """An action of a participant after an order, or after the loss of its coordinator."""

    PREPARE = auto()
    COMMIT = auto()
    ABORT = auto()
    # Abort, and tell the coordinator, which may have decided otherwise.
    BREAK = auto()
    REPORT = auto()
    ASK_LATER = auto()
    FORGET = auto()


class EnlistedStep(NamedTuple):
    """An action, and the next standing; None when the participant forgets the transaction."""

    action: EnlistedAction
    standing: Standing | None


_LATER: Final = {
    standing: EnlistedStep(EnlistedAction.ASK_LATER, standing) for standing in Standing
}
_UNDONE: Final = EnlistedStep(EnlistedAction.ABORT, None)
_FORGOTTEN: Final = EnlistedStep(EnlistedAction.FORGET, None)

# None stands for the loss of the coordinator before it answered.
ENLISTED_STEPS: Final[dict[tuple[Standing, Order | None], EnlistedStep]] = {
    (Standing.ACTIVE, Order.PREPARE): EnlistedStep(EnlistedAction.PREPARE, Standing.PREPARED),
    # It decided without asking: nothing is on disk here.
    (Standing.ACTIVE, Order.COMMIT): EnlistedStep(EnlistedAction.BREAK, Standing.ABORTED),
    (Standing.ACTIVE, Order.ABORT): _UNDONE,
    (Standing.ACTIVE, Order.FORGET): _UNDONE,
    (Standing.ACTIVE, None): _UNDONE,
    (Standing.PREPARED, Order.PREPARE): EnlistedStep(EnlistedAction.REPORT, Standing.PREPARED),
    (Standing.PREPARED, Order.COMMIT): EnlistedStep(EnlistedAction.COMMIT, Standing.COMMITTED),
    (Standing.PREPARED, Order.ABORT): _UNDONE,
    (Standing.PREPARED, Order.FORGET): _LATER[Standing.PREPARED],
    (Standing.PREPARED, None): _LATER[Standing.PREPARED],
    (Standing.COMMITTED, Order.PREPARE): _LATER[Standing.COMMITTED],
    (Standing.COMMITTED, Order.COMMIT): _LATER[Standing.COMMITTED],
    (Standing.COMMITTED, Order.ABORT): _LATER[Standing.COMMITTED],
    (Standing.COMMITTED, Order.FORGET): _FORGOTTEN,
    (Standing.COMMITTED, None): _LATER[Standing.COMMITTED],
    (Standing.ABORTED, Order.PREPARE): _LATER[Standing.ABORTED],
    (Standing.ABORTED, Order.COMMIT): _LATER[Standing.ABORTED],
    (Standing.ABORTED, Order.ABORT): _LATER[Standing.ABORTED],
    (Standing.ABORTED, Order.FORGET): _FORGOTTEN,
    (Standing.ABORTED, None): _LATER[Standing.ABORTED],
}
