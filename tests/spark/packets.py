"""Blocks of packets for the tests of decoders."""

from collections.abc import Sequence
from itertools import accumulate

from hypothesis import strategies as st
from tests.wire.strategies import user_messages

from openmsmq.spark.columns import Packets
from openmsmq.wire.queue_address import direct_address
from openmsmq.wire.user_message_builder import build_user_message

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


@st.composite
def mutated_messages(draw: st.DrawFn) -> bytes:
    """A message with some bytes changed, most of them in the headers, or cut short or too long."""
    packet = bytearray(draw(user_messages))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(packet) - 1) | st.integers(0, min(len(packet) - 1, 200)))
        packet[at] = draw(
            st.integers(0, 255) | st.sampled_from([packet[at] ^ 1 << bit for bit in range(8)])
        )
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
    packets += draw(st.lists(user_messages | mutated_messages(), max_size=4))
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
