"""Heads of HTTP requests: those of compound messages and of messages over PGM."""

import pytest
from tests.wire.srmp.vectors import WIRE, Vector

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.srmp import Content, Head, cut_compound_message, cut_head, write_head
from openmsmq.wire.srmp.head import MAX_CONTENT_SIZE, MAX_HEAD_SIZE

HEAD = b"POST /msmq/q HTTP/1.1\r\nContent-Type: text/xml\r\nContent-Length: 4\r\n\r\n"


@pytest.mark.parametrize("vector", WIRE.values(), ids=lambda vector: vector.name)
@pytest.mark.spec("MQSRM-1.3.12-01", "MQSRM-4.3-02", "MQSRM-4.5-01")
def test_heads_of_the_examples_are_read_and_written(vector: Vector) -> None:
    head = cut_head(vector.head + vector.content)
    assert head == Head(len(vector.head), vector.content_type, len(vector.content))
    target = vector.head.split(b" ")[1].decode()
    content = Content(vector.content_type, vector.content)
    assert write_head(target, vector.headers["Host"], content) == vector.head


def test_a_head_that_has_not_ended_is_none_yet() -> None:
    for end in range(len(HEAD) - 1):
        assert cut_head(HEAD[:end]) is None
    assert cut_head(HEAD) == Head(len(HEAD), "text/xml", 4)


def test_the_largest_content_is_announced_in_a_good_head() -> None:
    head = cut_head(HEAD.replace(b"4", b"%d" % MAX_CONTENT_SIZE))
    assert head is not None
    assert head.content_length == MAX_CONTENT_SIZE == 4_194_304


@pytest.mark.parametrize(
    "head",
    [
        b"GET",
        b"GET / HTTP/1.1\r\n\r\n",
        b"x" * MAX_HEAD_SIZE,
        b"POST /" + b"x" * MAX_HEAD_SIZE,
        HEAD.replace(b"4", b"-4"),
        HEAD.replace(b"4", b"four"),
        HEAD.replace(b"4", b""),
        HEAD.replace(b"4", b"4194305"),
        HEAD.replace(b"4", b"4" * 5000),
        HEAD.replace(b"Length", b"Size"),
        HEAD.replace(b"text/xml", b"text/xml\r\nContent-Length: 4"),
        HEAD.replace(b"text/xml", b"text/xml\r\ncontent-type: text/xml"),
    ],
)
def test_other_heads_are_malformed(head: bytes) -> None:
    with pytest.raises(MalformedPacket):
        cut_head(head)


@pytest.mark.parametrize("data", [HEAD, HEAD + b"abc", HEAD + b"abcde", HEAD[:20]])
def test_a_compound_message_is_exactly_one_request(data: bytes) -> None:
    assert cut_compound_message(HEAD + b"abcd").envelope == b"abcd"
    with pytest.raises(MalformedPacket):
        cut_compound_message(data)
