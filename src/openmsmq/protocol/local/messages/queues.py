"""Requests about the connection, queues, open queues and cursors."""

from .request import Handles, Names, Properties, Request, Words


class Hello(Request, frozen=True, tag=0):
    """First request of a connection; a token stands for a SID where the kernel cannot tell."""

    version: int
    token: str = ""
    # The principal as which the client acts from now on; only an administrator may name one.
    act_for: str = ""


class GetStatus(Request, frozen=True, tag=1):
    """State, identity and totals of the queue manager."""


class CreateQueue(Request, frozen=True, tag=2):
    path: str
    properties: Properties


class DeleteQueue(Request, frozen=True, tag=3):
    path: str


class SetQueue(Request, frozen=True, tag=4):
    path: str
    properties: Properties


class ShowQueue(Request, frozen=True, tag=5):
    path: str


class ListQueues(Request, frozen=True, tag=6):
    """All queues of the queue manager that the caller may see."""

    include_system: bool = False


class Grant(Request, frozen=True, tag=7):
    """Change the rights of a principal on a queue; `revoke` removes them."""

    path: str
    principal: str
    rights: Words
    deny: bool = False
    revoke: bool = False


class OpenQueue(Request, frozen=True, tag=10):
    name: str
    access: str
    share: str = "deny_none"


class CloseQueue(Request, frozen=True, tag=11):
    handle: int


class OpenCursor(Request, frozen=True, tag=12):
    handle: int


class CloseCursor(Request, frozen=True, tag=13):
    handle: int
    cursor: int


class OpenToSend(Request, frozen=True, tag=14):
    """Open queues under negative handles chosen by the client, so that sends can follow at once.

    A failure is reported by the refusal of the messages for the handle.
    """

    handles: Handles
    names: Names


QueueRequest = (
    Hello
    | GetStatus
    | CreateQueue
    | DeleteQueue
    | SetQueue
    | ShowQueue
    | ListQueues
    | Grant
    | OpenQueue
    | CloseQueue
    | OpenCursor
    | CloseCursor
    | OpenToSend
)
