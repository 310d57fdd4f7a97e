"""Replies of the queue manager."""

import sys
from array import array
from collections.abc import Iterable
from typing import Any

import msgspec


def pack_column(code: str, numbers: Iterable[Any], *, byteorder: str = sys.byteorder) -> bytes:
    """Pack numbers of one `array` type; `byteorder` is that of the machine."""
    packed = array(code, numbers)
    if byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def unpack_column(packed: bytes, code: Any, *, byteorder: str = sys.byteorder) -> "memoryview[Any]":
    """The numbers of a packed column, without a copy where the machine has the same order."""
    if byteorder == "big":
        swapped = array(code, packed)
        swapped.byteswap()
        return memoryview(swapped)
    return memoryview(packed).cast(code)


class Refused(msgspec.Struct, array_like=True, frozen=True):
    """Why messages of one handle were refused, and how many of the last in the request."""

    handle: int
    messages: int
    code: int
    text: str
    cause: str
    remedy: str


class Reply(msgspec.Struct, frozen=True, array_like=True):
    """The fields that every reply starts with."""

    id: int


class Done(Reply, frozen=True, tag=0):
    value: Any = None


class Failed(Reply, frozen=True, tag=1):
    """A refusal; `cause` and `remedy` are empty where they are in the catalogue of codes.

    The first `accepted` packets of a Send were accepted nevertheless.
    """

    code: int
    text: str
    cause: str = ""
    remedy: str = ""
    accepted: int = 0


class Welcome(msgspec.Struct, frozen=True):
    """The answer to a Hello: the identity of the queue manager, and the user of the client."""

    name: str
    guid: str
    version: str
    sid: bytes
    # The host names and addresses of its machine in names of queues, in lower case.
    names: tuple[str, ...] = ()
    # Whether it belongs to a directory, which then has the certificates of users.
    directory: bool = False
    # The form of signatures, in the words of `HashForm` and `XmlForm`; empty for the usual one.
    signature_form: str = ""
    srmp_signature_form: str = ""


class Messages(Reply, frozen=True, tag=2):
    """Messages with the records of the queue manager beside their packets.

    `counters` has (index, abort count, move count, last move time) of messages that have any.
    """

    packets: list[bytes]
    lookup_ids: list[int]
    arrived_times: list[float]
    counters: list[tuple[int, int, int, float]]


class Block(Reply, frozen=True, tag=3):
    """A part of a range: one blob of packets with their ends, and columns of the record fields.

    Columns are packed, so that readers need not convert each value to a number.
    """

    last: bool
    blob: bytes
    packed_ends: bytes
    packed_lookup_ids: bytes
    packed_arrived_times: bytes
    counters: list[tuple[int, int, int, float]]
    # Only where bodies may be cut.
    packed_body_sizes: bytes = b""

    @property
    def body_sizes(self) -> "memoryview[int]":
        """The body size of each message; empty if no body was to be cut."""
        return unpack_column(self.packed_body_sizes, "I")

    @property
    def ends(self) -> "memoryview[int]":
        """The end of each packet in the blob."""
        return unpack_column(self.packed_ends, "I")

    @property
    def lookup_ids(self) -> "memoryview[int]":
        """The lookup id of each message."""
        return unpack_column(self.packed_lookup_ids, "Q")

    @property
    def arrived_times(self) -> "memoryview[float]":
        """The arrival time of each message, in seconds since 1970."""
        return unpack_column(self.packed_arrived_times, "d")


class Part(Reply, frozen=True, tag=4):
    """A part of a list; more follow until the last one, which has no values."""

    last: bool
    values: list[Any]


class Page(Reply, frozen=True, tag=5):
    """Messages of a queue for administrators, in queue order.

    `counters` as for `Messages`; `states` has the states and holders of hidden messages,
    by index. `more` says that others follow.
    """

    packets: list[bytes]
    lookup_ids: list[int]
    arrived_times: list[float]
    body_sizes: list[int]
    counters: list[tuple[int, int, int, float]]
    states: list[tuple[int, str, str]]
    more: bool


def pack_block(
    request: int,
    blob: bytes,
    ends: Iterable[int],
    lookup_ids: Iterable[int],
    arrived_times: Iterable[float],
    counters: list[tuple[int, int, int, float]],
    body_sizes: Iterable[int] = (),
) -> Block:
    """A block that is not the last one."""
    return Block(
        request,
        False,
        blob,
        pack_column("I", ends),
        pack_column("Q", lookup_ids),
        pack_column("d", arrived_times),
        counters,
        pack_column("I", body_sizes),
    )


def last_block(request: int) -> Block:
    """The end of a range."""
    return Block(request, True, b"", b"", b"", b"", [])


AnyReply = Done | Failed | Messages | Block | Part | Page
