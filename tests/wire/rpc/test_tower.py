"""Protocol towers."""

from ipaddress import IPv4Address
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.rpc.test_bind import shorts, syntaxes

from openmsmq.wire.codes.endpoints import REMOTE_READ
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.ndr import NDR
from openmsmq.wire.rpc.syntax import (
    SyntaxId,
    bind_time_features,
    features_syntax,
)
from openmsmq.wire.rpc.tower import TcpTower

# RemoteRead at 127.0.0.1, port 2103.
VECTOR = bytes.fromhex(
    "050013000ddd34911a397bba45ad8844d01ca47f2801000200000013000d045d888aeb1cc9119fe808002b104860"
    "02000200000001000b020000000100070200083701000904007f000001"
)

towers = st.builds(TcpTower, syntaxes, syntaxes, shorts, st.ip_addresses(v=4))


def test_the_vector_is_read_and_rebuilt() -> None:
    tower, end = TcpTower.parse(VECTOR)
    assert end == len(VECTOR)
    assert tower == TcpTower(
        SyntaxId.of_interface(REMOTE_READ),
        SyntaxId.of_transfer(NDR),
        2103,
        IPv4Address("127.0.0.1"),
    )
    assert tower.serialize() == VECTOR


@given(towers)
def test_every_tower_comes_back(tower: TcpTower) -> None:
    assert TcpTower.parse(tower.serialize())[0] == tower


def test_what_is_cut_off_is_malformed() -> None:
    for size in range(len(VECTOR)):
        with pytest.raises(MalformedPacket):
            TcpTower.parse(VECTOR[:size])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0500", "0400"),  # four floors
        ("01000b0200", "01000a0200"),  # connectionless
        ("0100070200", "0100080200"),  # UDP
        ("13000d045d", "13000c045d"),  # no UUID
        ("1300", "1200"),
        ("07020008370100", "07030008370001"),
    ],
)
def test_a_tower_of_another_protocol_is_malformed(old: str, new: str) -> None:
    data = bytes.fromhex(VECTOR.hex().replace(old, new, 1))
    with pytest.raises(MalformedPacket):
        TcpTower.parse(data)


def test_sides_of_wrong_length_are_malformed() -> None:
    for tower in (
        VECTOR[:-6] + bytes.fromhex("03007f0000"),
        VECTOR.replace(bytes.fromhex("02000837"), bytes.fromhex("0300083700")),
    ):
        with pytest.raises(MalformedPacket, match="no TCP port or no IPv4"):
            TcpTower.parse(tower)


def test_features_stand_in_the_uuid_after_its_prefix() -> None:
    syntax = features_syntax(3)
    assert syntax.uuid == UUID("6cb71c2c-9812-4540-0300-000000000000")
    assert bind_time_features(syntax) == 3
    assert bind_time_features(SyntaxId.of(syntax.uuid, 2)) is None
    assert bind_time_features(SyntaxId.of_transfer(NDR)) is None
    assert (syntax.major, syntax.minor) == (1, 0)
