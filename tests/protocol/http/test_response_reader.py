"""Responses are counted in the same way with httptools and without."""

from hypothesis import given
from hypothesis import strategies as st

from openmsmq.protocol.http.response_reader import BadResponse, ResponseReader
from openmsmq.protocol.http.responses import CLOSE, RESPONSES

OTHERS = (
    RESPONSES[400],
    RESPONSES[200 | CLOSE],
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
    b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 76\r\n\r\n" + RESPONSES[200] * 2,
)


class LongWay(ResponseReader):
    """Reads everything with httptools."""

    def _count_alike(self, data: bytes) -> bool:  # noqa: ARG002 - counts nothing
        return False


def outcome(reader: ResponseReader, pieces: list[bytes]) -> tuple[list[int], bool, str, bool]:
    broken = False
    for piece in pieces:
        try:
            reader.feed(piece)
        except BadResponse:
            broken = True
            break
    return reader.statuses, reader.finished, reader.version, broken


def test_responses_of_this_package_need_no_parser() -> None:
    reader = ResponseReader(1000)
    for count in (1, 3, 200):
        reader.feed(RESPONSES[200] * count)
    assert reader.statuses == [200] * 204
    assert reader.version == "1.1"


def test_a_body_is_not_counted() -> None:
    reader = ResponseReader(1000)
    body = RESPONSES[200] * 2
    reader.feed(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body))
    reader.feed(body)
    reader.feed(RESPONSES[200])
    assert reader.statuses == [200, 200]


@given(
    st.lists(st.lists(st.just(RESPONSES[200]) | st.sampled_from(OTHERS), max_size=4), max_size=5),
    st.lists(st.integers(0, 600), max_size=4),
)
def test_both_ways_give_the_same(groups: list[list[bytes]], cuts: list[int]) -> None:
    whole = b"".join([b"".join(group) for group in groups])
    ends = sorted({min(cut, len(whole)) for cut in cuts})
    cut_up = [whole[a:b] for a, b in zip([0, *ends], [*ends, len(whole)], strict=True)]
    for pieces in ([b"".join(group) for group in groups], cut_up):
        assert outcome(ResponseReader(10_000), pieces) == outcome(LongWay(10_000), pieces)
