"""Every stub: what is written can be read, and what cannot be read is MalformedPacket."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.wire.rpc_interfaces.strategies import records
from tests.wire.rpc_interfaces.stubs import STUBS, VECTORS, Vector

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.ndr import TRANSFER_SYNTAXES, TransferSyntax

few = settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
every_stub = pytest.mark.parametrize("name", STUBS)
syntaxes = st.sampled_from(TRANSFER_SYNTAXES)
every_vector = pytest.mark.parametrize("vector", VECTORS, ids=[item.name for item in VECTORS])


@every_stub
@few
@given(syntax=syntaxes, data=st.data())
def test_a_written_record_is_read(name: str, syntax: TransferSyntax, data: st.DataObject) -> None:
    stub = STUBS[name]
    record = data.draw(records(stub))
    octets = stub.encode(record, syntax)
    assert stub.decode(octets, syntax) == (record, len(octets))
    assert stub.decode(memoryview(octets), syntax) == (record, len(octets))


@every_stub
@few
@given(syntax=syntaxes, data=st.data())
def test_a_changed_stub_is_read_or_malformed(
    name: str, syntax: TransferSyntax, data: st.DataObject
) -> None:
    stub = STUBS[name]
    octets = bytearray(stub.encode(data.draw(records(stub)), syntax))
    for _ in range(data.draw(st.integers(1, 3)) if octets else 0):
        octets[data.draw(st.integers(0, len(octets) - 1))] = data.draw(st.integers(0, 255))
    with suppress(MalformedPacket):
        stub.decode(bytes(octets), syntax)


@every_vector
def test_every_truncation_is_malformed(vector: Vector) -> None:
    for size in range(len(vector.data)):
        with pytest.raises(MalformedPacket):
            STUBS[vector.stub].decode(vector.data[:size], vector.syntax)


@every_vector
def test_any_octet_may_be_wrong(vector: Vector) -> None:
    changes: tuple[Callable[[int], int], ...] = (
        lambda _: 0,
        lambda _: 0xFF,
        lambda octet: octet ^ 1,
        lambda octet: octet ^ 0x80,
    )
    for offset in range(len(vector.data)):
        for change in changes:
            octets = bytearray(vector.data)
            octets[offset] = change(octets[offset])
            with suppress(MalformedPacket):
                STUBS[vector.stub].decode(bytes(octets), vector.syntax)


@pytest.mark.parametrize(
    ("name", "record"),
    [
        (name, STUBS[name].decode(bytes(20) + b"\1" + bytes(100), syntax)[0])
        for name in ("remote_read.9.request", "remote_read.15.request", "qm2qm.1.request")
        for syntax in TRANSFER_SYNTAXES
    ],
)
# Any: one of three records.
def test_an_acknowledgement_is_1_or_2(name: str, record: Any) -> None:
    for syntax in TRANSFER_SYNTAXES:
        for dw_ack in (0, 3, 0xFFFFFFFF):
            octets = bytearray(STUBS[name].encode(record, syntax))
            octets[20:24] = dw_ack.to_bytes(4, "little")
            with pytest.raises(MalformedPacket, match="dw_ack at offset 20"):
                STUBS[name].decode(bytes(octets), syntax)
        with pytest.raises(ValueError, match=r"3 is not in 1..2"):
            STUBS[name].encode(record._replace(dw_ack=3), syntax)
