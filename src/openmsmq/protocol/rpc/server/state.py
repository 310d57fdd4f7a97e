"""The state of a connection."""

from enum import Enum, auto


class State(Enum):
    """Authentication has states of its own in `SecurityContexts`."""

    CONNECTED = auto()
    BOUND = auto()
    CLOSED = auto()
