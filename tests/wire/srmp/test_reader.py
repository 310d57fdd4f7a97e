"""[MC-MQSRM] 2.2.2 to 2.2.7, 3.1.5.1.1: reading envelopes, and writing them."""

from hypothesis import given
from hypothesis import strategies as st
from tests.wire.srmp.strategies import envelopes, plain_envelopes

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.srmp import Envelope, read_envelope, write_envelope
from openmsmq.wire.srmp.compact import read_compact
from openmsmq.wire.srmp.reader import read_any_envelope

# Pieces that turn one envelope into another one, right or wrong.
PIECES = [
    b"",
    b" ",
    b"\n",
    b"0",
    b"9",
    b"&",
    b"&amp;",
    b"]]>",
    b"\xff",
    b"\xef\xbf\xbf",
    b"<to></to>",
    b"<durable/>",
    b"</services>",
    b'xmlns="x"',
    b"T235959",
]


@given(envelopes)
def test_reading_reverses_writing(envelope: Envelope) -> None:
    assert read_envelope(write_envelope(envelope)) == envelope
    assert read_any_envelope(write_envelope(envelope, stream_element="Stream")) == envelope


@given(plain_envelopes, st.sampled_from(["stream", "Stream"]))
def test_the_short_cut_reads_the_same_as_the_parser(envelope: Envelope, spelling: str) -> None:
    raw = write_envelope(envelope, stream_element=spelling)
    assert read_any_envelope(raw) == envelope
    assert read_compact(raw) in (envelope, None)
    if envelope.path.action.isalnum():
        assert read_compact(raw) == envelope


@given(plain_envelopes, st.data())
def test_the_short_cut_refuses_what_the_parser_refuses(
    envelope: Envelope, data: st.DataObject
) -> None:
    raw = write_envelope(envelope)
    at = data.draw(st.integers(0, len(raw)))
    piece = data.draw(st.sampled_from(PIECES))
    cut = data.draw(st.integers(0, 3))
    damaged = raw[:at] + piece + raw[at + cut :]
    short = read_compact(damaged)
    if short is not None:
        assert short == read_any_envelope(damaged)
        return
    try:
        read_any_envelope(damaged)
    except MalformedPacket:
        return
