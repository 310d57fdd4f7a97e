"""bind and its answers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.ndr import NDR
from openmsmq.wire.rpc.bind import Bind, BindAck, BindNak, ContextElement, ResultElement
from openmsmq.wire.rpc.syntax import SyntaxId

shorts = st.integers(0, 0xFFFF)
longs = st.integers(0, 0xFFFFFFFF)
syntaxes = st.builds(SyntaxId.of, st.uuids(), longs)
elements = st.builds(ContextElement, shorts, syntaxes, st.lists(syntaxes, max_size=3).map(tuple))
binds = st.builds(Bind, shorts, shorts, longs, st.lists(elements, max_size=3).map(tuple))
results = st.builds(ResultElement, shorts, shorts, syntaxes)
addresses = st.text("0123456789", max_size=5)
acks = st.builds(
    BindAck, shorts, shorts, longs, addresses, st.lists(results, max_size=3).map(tuple)
)
versions = st.tuples(st.integers(0, 255), st.integers(0, 255))
naks = st.builds(BindNak, shorts, st.lists(versions, max_size=3).map(tuple))

# A bind of the endpoint mapper in NDR, body only.
BIND = bytes.fromhex(
    "d016d01600000000010000000000010008"
    "83afe11f5dc91191a408002b14a0fa03000000"
    "045d888aeb1cc9119fe808002b10486002000000"
)
# bind_ack of port 135: a secondary address of four bytes with its NUL, two bytes of padding.
ACK = bytes.fromhex(
    "d016d0164433221104003133350000000100000000000000045d888aeb1cc9119fe808002b10486002000000"
)


def test_the_vectors_are_read_and_rebuilt() -> None:
    bind, end = Bind.parse(BIND)
    assert end == len(BIND)
    (element,) = bind.p_context_elem
    assert str(element.abstract_syntax) == "e1af8308-5d1f-11c9-91a4-08002b14a0fa v3.0"
    assert element.transfer_syntaxes == (SyntaxId.of_transfer(NDR),)
    assert bind.serialize() == BIND
    ack, _ = BindAck.parse(ACK)
    assert (ack.sec_addr, ack.assoc_group_id) == ("135", 0x11223344)
    assert ack.serialize() == ACK
    assert BindNak(4).serialize() == bytes.fromhex("0400010500000000")


@given(binds)
def test_every_bind_comes_back(bind: Bind) -> None:
    data = bind.serialize()
    parsed, end = Bind.parse(data)
    assert parsed == bind
    assert end == len(data) or not bind.p_context_elem


@given(acks)
def test_every_ack_comes_back(ack: BindAck) -> None:
    data = ack.serialize()
    assert BindAck.parse(data) == (ack, len(data))


@given(naks)
def test_every_nak_comes_back(nak: BindNak) -> None:
    assert BindNak.parse(nak.serialize())[0] == nak


@given(binds, acks)
def test_what_is_cut_off_is_malformed(bind: Bind, ack: BindAck) -> None:
    data = bind.serialize()
    for size in range(len(data)):
        if bind.p_context_elem or size < 9:
            with pytest.raises(MalformedPacket):
                Bind.parse(data[:size])
    data = ack.serialize()
    for size in range(len(data)):
        with pytest.raises(MalformedPacket):
            BindAck.parse(data[:size])


def test_a_bind_without_contexts_may_leave_out_the_padding() -> None:
    assert Bind.parse(bytes(9))[0] == Bind(0, 0, 0, ())


def test_a_nak_without_versions_is_read() -> None:
    assert BindNak.parse(b"\x02\x00") == (BindNak(2, ()), 2)
    for data in (b"", b"\x02", b"\x02\x00\x01\x05"):
        with pytest.raises(MalformedPacket):
            BindNak.parse(data)


def test_a_secondary_address_is_ascii() -> None:
    with pytest.raises(MalformedPacket, match="not ASCII"):
        BindAck.parse(ACK.replace(b"135", b"\xff35"))
