"""Blocks of packets for the tests of decoders."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any
from uuid import UUID

from hypothesis import strategies as st
from tests.wire.strategies import user_messages

from openmsmq.spark.columns import Packets
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address, private_address, public_address
from openmsmq.wire.security.security_header import SecurityHeader

ORDERS = direct_address(r"OS:shop\private$\orders")
PRINTABLE = st.text(st.characters(max_codepoint=0x7E, min_codepoint=0x20), max_size=40)


def block_of(packets: Sequence[bytes]) -> Packets:
    """Packets of which nothing else is known."""
    return Packets(b"".join(packets), list(accumulate(map(len, packets))))


@st.composite
def ordinary_messages(draw: st.DrawFn) -> list[bytes]:
    """Messages of one program: they differ in label, body and ordinal."""
    body_type = draw(st.sampled_from([0, 8]))
    encoding = "utf-8" if body_type == 0 else "utf-16-le"
    return [
        build_user_message(
            destination_queue=ORDERS,
            body=draw(st.text(max_size=30) | PRINTABLE).encode(encoding, "replace"),
            body_type=body_type,
            label=draw(PRINTABLE),
            message_id=number,
        )
        for number in range(draw(st.integers(0, 5)))
    ]


# Few GUIDs, so that queues are on the same queue managers, which is written in other ways.
guids = st.sampled_from([UUID(int=number) for number in range(3)])
addresses = st.one_of(
    st.builds(private_address, guids, st.integers(0, 3)),
    st.builds(public_address, guids),
    st.just(ORDERS),
)
sids = st.sampled_from([b"", b"\1\1\0\0\0\0\0\5\x12\0\0\0", b"no sid"])
# Any: the values are of every type that a property has.
related_properties: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"destination_queue": addresses},
    optional={
        "admin_queue": addresses,
        "response_queue": addresses,
        "source_queue_manager": guids,
        "queue_manager_address": guids,
        "security_header": st.builds(SecurityHeader, st.integers(0, 2), sids),
        "correlation_id": st.just(bytes(20)) | st.just(bytes(19) + b"\1"),
    },
)
messages = user_messages | related_properties.map(
    lambda properties: build_user_message(**properties)
)
# Flags of BaseHeader and UserHeader, which say what follows.
FLAG_BYTES = (2, 3, 60, 61, 62, 63)


@st.composite
def mutated_messages(draw: st.DrawFn) -> bytes:
    """A message with some bytes changed, most of them in the headers, or cut short or too long."""
    packet = bytearray(draw(messages))
    for _ in range(draw(st.integers(0, 3))):
        anywhere = st.integers(0, len(packet) - 1)
        at = draw(anywhere | st.integers(0, 119) | st.sampled_from(FLAG_BYTES))
        bits = [packet[at] ^ 1 << bit for bit in range(8)]
        packet[at] = draw(st.integers(0, 255) | st.sampled_from(bits))
    end = draw(st.just(len(packet)) | st.integers(0, len(packet)))
    packet = packet[:end] + draw(st.just(b"") | st.binary(max_size=8))
    if draw(st.booleans()) and len(packet) >= 12:
        # A changed size is found at once: with the right one, more of the packet is read.
        packet[8:12] = len(packet).to_bytes(4, "little")
    return bytes(packet)


@st.composite
def blocks(draw: st.DrawFn) -> Packets:
    """Blocks of every mixture of packets, as queues and as captures have them."""
    packets = draw(ordinary_messages())
    packets += draw(st.lists(messages | mutated_messages(), max_size=4))
    packets = draw(st.permutations(packets))
    block = block_of(packets)
    if not draw(st.booleans()):
        return block
    count = len(packets)
    numbers = st.integers(0, (1 << 59) - 1)
    times = st.floats(0, 4e9)
    rows = draw(st.lists(st.integers(0, count - 1), unique=True)) if count else []
    small = st.integers(0, 1 << 20)
    return block._replace(
        lookup_ids=draw(st.lists(numbers, min_size=count, max_size=count)),
        arrived_times=draw(st.lists(times, min_size=count, max_size=count)),
        counters=[(row, draw(small), draw(small), draw(st.just(0.0) | times)) for row in rows],
    )
