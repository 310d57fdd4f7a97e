"""[MC-MQSRM] 2.2.2 to 2.2.7, 3.1.5.1.1: reading envelopes, and writing them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.srmp.strategies import envelopes, plain_envelopes
from tests.wire.srmp.vectors import NORMALIZED

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.srmp import Envelope, cut_request, read_envelope, write_envelope
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


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        (b"<Priority>0", b"<Priority>8", "Msmq.Priority"),
        (b"<Class>0", b"<Class>65536", "Msmq.Class"),
        (b"<App>0", b"<App>4294967296", "Msmq.App"),
        (b"uuid:101@", b"uuid:4294967296@", "path.id"),
        (b"<current>1<", b"<current>0<", "stream.current"),
        (b"\\4839986701558349830", b"\\18446744073709551616", "stream.streamId"),
        (b"<sentAt>20070619", b"<sentAt>20070631", "properties.sentAt"),
        (b"<to>http", b"<to>mail", "path.to"),
        (b"<sendReceiptsTo>http", b"<sendReceiptsTo>mail", "start.sendReceiptsTo"),
    ],
)
def test_values_out_of_range_are_left_to_the_parser(old: bytes, new: bytes, field: str) -> None:
    vector = NORMALIZED["4.4-1-stream-message-1"]
    raw = cut_request(vector.content_type, vector.content).envelope
    assert read_compact(raw) is not None
    wrong = raw.replace(old, new)
    assert wrong != raw
    assert read_compact(wrong) is None
    with pytest.raises(MalformedPacket) as caught:
        read_envelope(wrong)
    assert caught.value.field == field
