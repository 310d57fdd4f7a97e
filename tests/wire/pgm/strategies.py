"""Any packet of PGM that a source or receiver may send."""

from ipaddress import IPv4Address, IPv6Address

from hypothesis import strategies as st

from openmsmq.wire.pgm import (
    MAX_NAK_LIST,
    DataPacket,
    Fragment,
    NakPacket,
    Options,
    PacketType,
    Reset,
    SourcePathMessage,
    TransportSessionId,
)

PORTS = st.integers(0, 0xFFFF)
NUMBERS = st.integers(0, 0xFFFFFFFF)
NLAS = st.one_of(
    st.binary(min_size=4, max_size=4).map(IPv4Address),
    st.binary(min_size=16, max_size=16).map(IPv6Address),
)
TSIS = st.builds(TransportSessionId, st.binary(min_size=6, max_size=6), PORTS)
OPTIONS = st.builds(
    Options,
    fragment=st.none() | st.builds(Fragment, NUMBERS, NUMBERS, NUMBERS),
    nak_list=st.lists(NUMBERS, max_size=MAX_NAK_LIST).map(tuple),
    join=st.none() | NUMBERS,
    syn=st.booleans(),
    fin=st.booleans(),
    rst=st.none() | st.builds(Reset, st.booleans(), st.integers(0, 0x3F)),
)
SPMS = st.builds(SourcePathMessage, TSIS, PORTS, NUMBERS, NUMBERS, NUMBERS, NLAS, OPTIONS)
DATA = st.builds(
    DataPacket, TSIS, PORTS, st.booleans(), NUMBERS, NUMBERS, st.binary(max_size=100), OPTIONS
)
NAKS = st.builds(
    NakPacket,
    st.sampled_from([PacketType.NAK, PacketType.NNAK, PacketType.NCF]),
    TSIS,
    PORTS,
    NUMBERS,
    NLAS,
    NLAS,
    OPTIONS,
)
PACKETS = st.one_of(SPMS, DATA, NAKS)
