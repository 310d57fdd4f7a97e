"""Strict checks of stubs: ranges, counts, offsets, tags and NULL ([MS-RPCE] 3.1.1.5.3)."""

import pytest
from tests.wire.rpc_interfaces.layouts import layout
from tests.wire.rpc_interfaces.stubs import STUBS

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.ndr import NDR


@pytest.mark.parametrize(
    ("name", "offset", "value", "field"),
    [
        pytest.param(*case, marks=[pytest.mark.spec(*rows)] if rows else [])
        for *case, rows in [
            ("remote_read.9.request", 20, 0, "dw_ack", ("MQRR-3.1.4.9-02",)),
            ("remote_read.9.request", 20, 3, "dw_ack", ("MQRR-3.1.4.9-02",)),
            ("remote_read.15.request", 20, 3, "dw_ack", ("MQRR-3.1.4.15-01",)),
            (
                "remote_read.12.request",
                16,
                131_073,
                "pb_propagation_token",
                ("MQRR-3.1.4.12-02",),
            ),
            ("remote_read.7.response", 16, 3, "pp_packet_sections", ()),
            ("remote_read.7.response", 28, 5, "section_buffer_type", ()),
            ("qm2qm.0.request", 16, 0x420001, "lp_buffer", ("MQQP-2.2.2.1-03",)),
            ("qm2qm.1.request", 20, 0, "dw_ack", ("MQQP-3.1.4.2-02",)),
            ("qm2qm.2.request", 16, 17, "dw_mqs", ("MQQP-3.1.4.3-02",)),
            ("qm2qm.7.request", 0, 4, "dw_port_type", ("MQQP-3.1.4.8-05",)),
            ("qmcomm.4.request", 0, 3, "u_transfer_type", ()),
            ("epm.2.request", 72, 501, "max_ents", ()),
            ("epm.3.request", 56, 501, "max_towers", ()),
            ("epm.3.request", 28, 2001, "tower_octet_string", ()),
            ("mgmt.1.request", 0, 51, "statistics_count", ()),
            ("mgmt.1.response", 0, 51, "statistics", ()),
            ("mgmt.4.request", 4, 4097, "princ_name_size", ()),
        ]
    ],
)
def test_a_value_out_of_its_range_is_malformed(
    name: str, offset: int, value: int, field: str
) -> None:
    raw = bytearray(layout(name))
    raw[offset : offset + 4] = value.to_bytes(4, "little")
    with pytest.raises(MalformedPacket) as caught:
        STUBS[name].decode(bytes(raw), NDR)
    assert caught.value.field.endswith(f".{field}")
    assert caught.value.offset == offset


@pytest.mark.spec("MQRR-3.1.4-02")
@pytest.mark.parametrize(
    ("name", "offset"),
    [("remote_read.7.response", 40), ("qm2qm.0.request", 40), ("remote_read.7.response", 20)],
)
def test_a_null_pointer_with_a_count_is_malformed(name: str, offset: int) -> None:
    raw = bytearray(layout(name))
    raw[offset : offset + 4] = bytes(4)
    with pytest.raises(MalformedPacket, match="NULL"):
        STUBS[name].decode(bytes(raw), NDR)


@pytest.mark.spec("MQRR-3.1.4-01", "MQQP-3.1.4-01")
@pytest.mark.parametrize(
    ("name", "offset", "reason"),
    [
        ("remote_read.7.response", 24, "maximum count"),
        ("remote_read.7.response", 60, "maximum count"),
        ("remote_read.12.request", 20, "maximum count"),
        ("remote_read.12.request", 32, "tag"),
        ("remote_read.2.request", 4, "tag"),
        ("qm2qm.0.request", 44, "maximum count"),
        ("qm2qm.0.request", 48, "offset"),
        ("qm2qm.0.request", 52, "4 elements of at most 3"),
        ("epm.3.request", 24, "maximum count"),
        ("epm.3.response", 28, "offset"),
        ("epm.3.response", 32, "actual count"),
        ("mgmt.0.response", 4, "maximum count"),
        ("mgmt.4.response", 4, "characters from 1"),
    ],
)
def test_a_count_offset_or_tag_that_does_not_agree_is_malformed(
    name: str, offset: int, reason: str
) -> None:
    raw = bytearray(layout(name))
    raw[offset] += 1
    with pytest.raises(MalformedPacket, match=reason):
        STUBS[name].decode(bytes(raw) + bytes(100), NDR)
