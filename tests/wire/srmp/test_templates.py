"""Messages like those before: their packets are what the general way gives."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.protocol.srmp.naive import envelope as naive_envelope

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.srmp import cut_request, packet_from_request
from openmsmq.wire.srmp.templates import MAX_SHAPE, MAX_TEMPLATES, TemplatedMessage, Templates

GUID = UUID("caf195ea-615c-4264-ae08-11a4e60194c0")
UTC = 1_800_000_000.0
HEAD = b"POST /msmq/private$/orders HTTP/1.1\r\nHost: beta\r\n\r\n"
DURABLE = '<services se:mustUnderstand="1"><durable/></services>'
NEVER = "20380119T031407"


def compact(
    number: object = 1,
    *,
    label: str = "order",
    entries: str = DURABLE,
    expires: str = NEVER,
    sent: str = "20260101T000000",
    ttrq: str = NEVER,
    to: str = "http://beta/msmq/private$/orders",
) -> str:
    """An envelope in the form of Windows."""
    return (
        '<se:Envelope xmlns:se="http://schemas.xmlsoap.org/soap/envelope/" '
        'xmlns="http://schemas.xmlsoap.org/srmp/"><se:Header>'
        '<path xmlns="http://schemas.xmlsoap.org/rp/" se:mustUnderstand="1">'
        f"<action>MSMQ:{label}</action><to>{to}</to><id>uuid:{number}@{GUID}</id></path>"
        f'<properties se:mustUnderstand="1"><expiresAt>{expires}</expiresAt>'
        f"<sentAt>{sent}</sentAt></properties>{entries}"
        '<Msmq xmlns="msmq.namespace.xml"><Class>0</Class><Priority>3</Priority>'
        "<Correlation>AAAAAAAAAAAAAAAAAAAAAAAAAAA=</Correlation><App>0</App>"
        "<BodyType>0</BodyType><HashAlgorithm>32772</HashAlgorithm>"
        f"<SourceQmGuid>{GUID}</SourceQmGuid><TTrq>{ttrq}</TTrq></Msmq>"
        "</se:Header><se:Body></se:Body></se:Envelope>"
    )


def stream(current: object, previous: object = None, start: str = "") -> str:
    inside = f"<streamId>uid:{GUID}\\77</streamId><current>{current}</current>"
    inside += "" if previous is None else f"<previous>{previous}</previous>"
    inside += f"<start><sendReceiptsTo>{start}</sendReceiptsTo></start>" if start else ""
    return f'<stream se:mustUnderstand="1">{inside}</stream>'


def multipart(text: str, body: bytes = b"body", boundary: str = "MSMQ - SOAP boundary, 7") -> bytes:
    raw = text.encode()
    mark = f"--{boundary}".encode()
    return (
        mark
        + b"\r\nContent-Type: text/xml; charset=UTF-8\r\nContent-Length: %d\r\n\r\n" % len(raw)
        + raw
        + mark
        + b"\r\nContent-Type: application/octet-stream\r\nContent-Length: %d\r\n" % len(body)
        + b"Content-Id: body@%s\r\n\r\n" % str(GUID).encode()
        + body
        + mark
        + b"--\r\n"
    )


def type_of(boundary: str = "MSMQ - SOAP boundary, 7") -> bytes:
    return f'multipart/related; boundary="{boundary}"; type=text/xml'.encode()


def read_fully(content: bytes, content_type: bytes) -> tuple[bytes, tuple[int, int]]:
    request = cut_request(content_type.decode("latin-1"), content, head=HEAD)
    envelope = request.read_envelope()
    entry = envelope.stream
    place = (entry.current, entry.previous) if entry is not None else (0, 0)
    return packet_from_request(request, envelope, utc=UTC), place


def learned(*texts: str) -> Templates:
    """Templates that know these forms."""
    templates = Templates()
    for text in texts * 2:
        request = cut_request(type_of().decode(), multipart(text), head=HEAD)
        envelope = request.read_envelope()
        templates.learn(request, envelope, packet_from_request(request, envelope, utc=UTC))
    return templates


def take(templates: Templates, content: bytes, content_type: bytes) -> TemplatedMessage | None:
    """Take a request; what the template gives is what the general way gives."""
    message = templates.take(content_type, HEAD, content)
    if message is not None:
        packet, place = read_fully(content, content_type)
        assert message.packet == packet
        assert (message.values.current, message.values.previous) == place
    return message


def test_a_message_like_others_is_made_from_a_template() -> None:
    templates = learned(compact())
    for number in (2, 4_294_967_295):
        text = compact(number, label="other", sent="20260203T040506", ttrq="20260207T040506")
        content = multipart(text, b"x" * number if number < 9 else b"", "b 1")
        assert take(templates, content, type_of("b 1")) is not None
    assert take(templates, multipart(compact(3, label="")), type_of()) is not None
    assert take(templates, multipart(compact(3, expires="20260105T000000")), type_of()) is not None


def test_messages_that_differ_in_label_identifier_and_body_follow_each_other() -> None:
    entry = DURABLE + stream(2, 1)
    templates = learned(compact(), compact(to="http://beta/msmq/q"), compact(entries=entry))

    def taken(text: str) -> TemplatedMessage:
        message = take(templates, multipart(text, b"body of another size"), type_of())
        assert message is not None
        return message

    first = taken(compact(2))
    assert taken(compact(3, label="another")).follows(first)
    for text in (
        compact(3, sent="20260101T000001"),
        compact(3, expires="20260201T000000"),
        compact(3, ttrq="20260201T000000"),
        compact(3, to="http://beta/msmq/q"),
    ):
        assert not taken(text).follows(first)
    # Whether the numbers of a stream follow each other is for its receiver to say.
    place = taken(compact(entries=entry))
    assert taken(compact(entries=DURABLE + stream(3, 2))).follows(place)
    assert not place.follows(first)


def test_a_form_that_came_once_is_no_template() -> None:
    templates = Templates()
    request = cut_request(type_of().decode(), multipart(compact()), head=HEAD)
    packet, _ = read_fully(multipart(compact()), type_of())
    templates.learn(request, request.read_envelope(), packet)
    assert take(templates, multipart(compact(2)), type_of()) is None


def test_messages_of_a_stream_are_made_from_a_template() -> None:
    templates = learned(
        compact(entries=DURABLE + stream(2, 1)),
        compact(entries=DURABLE + stream(5)),
        compact(entries=DURABLE + stream(1, start="http://peer/msmq/q")),
    )
    for entry in (stream(9, 4), stream(7), stream(1, start="http://peer/msmq/q"), stream(9, 0)):
        content = multipart(compact(8, entries=DURABLE + entry))
        assert take(templates, content, type_of()) is not None
    for entry in (stream(0), stream(4_294_967_296), stream(2, "x"), stream("")):
        content = multipart(compact(8, entries=DURABLE + entry))
        assert take(templates, content, type_of()) is None


@pytest.mark.parametrize(
    "text",
    [
        compact("x"),
        compact(""),
        compact(4_294_967_296),
        compact("12345678901"),
        compact(label="a&amp;b"),
        compact(label="é"),
        compact(label="x" * 250),
        compact(sent="20261301T000000"),
        compact(sent="19690101T000000"),
        compact(sent=" 2026010T000000"),
        compact(expires="2026_101T000000"),
        compact(ttrq="20260101t000000"),
        compact(to="http://other/msmq/q"),
        compact(entries=""),
        compact().replace("<id>", "<ID>"),
        compact().replace("<sentAt>", "<SentAt>"),
        compact().replace("<se:Body>", "<se:Body> "),
        compact().replace("</action><to>", "</action> <to>"),
        " " + compact(),
        compact()[:300],
        naive_envelope("http://beta/msmq/private$/orders", utc=UTC),
    ],
)
def test_another_form_is_read_in_full(text: str) -> None:
    assert take(learned(compact()), multipart(text), type_of()) is None


@pytest.mark.parametrize(
    ("content", "content_type"),
    [
        (multipart(compact()), b"text/xml"),
        (multipart(compact()), type_of("other")),
        (multipart(compact(), boundary='a"b'), type_of('a"b')),
        (multipart(compact()).replace(b"UTF-8", b"utf-8"), type_of()),
        (multipart(compact()).replace(b"Content-Id", b"Content-ID"), type_of()),
        (multipart(compact()) + b"x", type_of()),
        (multipart(compact())[:-2], type_of()),
        (multipart(compact(), b"").replace(b"Length: 0", b"Length: 9"), type_of()),
        (multipart(compact()).replace(b"Envelope>--", b"Envelope>\r\n--"), type_of()),
    ],
)
def test_another_form_of_the_parts_is_read_in_full(content: bytes, content_type: bytes) -> None:
    assert learned(compact()).take(content_type, HEAD, content) is None


def test_what_cannot_be_a_template_is_not_learned() -> None:
    traced = compact().replace("<App>", "<Trace/><App>")
    loose = compact().replace("<durable/>", "<durable></durable>")
    long = compact(to="http://beta/msmq/private$/orders?" + "x" * MAX_SHAPE)
    bare = naive_envelope("http://beta/msmq/private$/orders", utc=UTC, msmq=None)
    templates = learned(traced, loose, long, bare)
    assert templates._templates == {}


def test_a_message_that_is_too_large_is_left_to_the_general_way() -> None:
    templates = learned(compact())
    content = multipart(compact(), b"x" * 4_193_000)
    assert templates.take(type_of(), HEAD, content) is None
    with pytest.raises(MalformedPacket):
        read_fully(content, type_of())


def test_templates_are_bounded() -> None:
    templates = Templates()
    for number in range(MAX_TEMPLATES + 10):
        text = compact(to=f"http://beta/msmq/q{number}")
        request = cut_request(type_of().decode(), multipart(text), head=HEAD)
        envelope = request.read_envelope()
        for _ in range(2):
            templates.learn(request, envelope, packet_from_request(request, envelope, utc=UTC))
        assert len(templates._templates) <= MAX_TEMPLATES
    for number in range(5000):
        sent = f"20260101T{number // 3600:02}{number // 60 % 60:02}{number % 60:02}"
        assert (
            take(templates, multipart(compact(sent=sent, to=f"http://b/{number}")), type_of())
            is None
        )
    assert len(templates._dates) <= 4096


def test_forms_that_come_once_are_forgotten() -> None:
    templates = Templates()
    packet, _ = read_fully(multipart(compact()), type_of())
    for number in range(5000):
        request = cut_request(
            type_of().decode(), multipart(compact(to=f"http://b/{number}")), head=HEAD
        )
        templates.learn(request, request.read_envelope(), packet)
    assert templates._templates == {}
    assert len(templates._seen) <= 4096


_TEXT = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E, exclude_characters="<&>"))
_DATES = st.datetimes().map(lambda date: f"{date:%Y%m%dT%H%M%S}".rjust(15, "0"))


@given(
    st.integers(0, 2**32),
    _TEXT,
    _DATES,
    _DATES,
    _DATES | st.just(NEVER),
    st.sampled_from(["", DURABLE]),
    st.none() | st.tuples(st.integers(0, 2**32), st.none() | st.integers(0, 2**32)),
    st.binary(max_size=40),
)
def test_a_template_gives_what_the_general_way_gives(
    number: int,
    label: str,
    sent: str,
    expires: str,
    ttrq: str,
    entries: str,
    place: tuple[int, int | None] | None,
    body: bytes,
) -> None:
    forms = [compact(entries=each) for each in ("", DURABLE)]
    forms += [compact(entries=each + stream(2, 1)) for each in ("", DURABLE)]
    forms += [compact(entries=each + stream(2)) for each in ("", DURABLE)]
    templates = learned(*forms)
    if place is not None:
        entries += stream(*place)
    text = compact(number, label=label, sent=sent, expires=expires, ttrq=ttrq, entries=entries)
    take(templates, multipart(text, body), type_of())


# Requests that repeat an earlier one

BOUNDARY = "MSMQ - SOAP boundary, {}"


def repeating(entries: str = DURABLE) -> Templates:
    """Templates whose last requests had these entries, identifiers of two digits and 8 bytes."""
    templates = learned(compact(entries=entries))
    for number in (10, 11):
        content = multipart(compact(number, entries=entries), b"8 bytes.", BOUNDARY.format(number))
        assert take(templates, content, type_of(BOUNDARY.format(number))) is not None
    assert templates._repeat is not None
    return templates


def repeats(templates: Templates, content: bytes, content_type: bytes, head: bytes = HEAD) -> bool:
    """Whether a request is taken for a repetition; if so, it gives what the general way gives."""
    assert templates._repeat is not None
    packet = templates._repeat[0].take(content_type, head, content)
    if packet:
        assert head == HEAD
        assert packet == read_fully(content, content_type)[0]
        assert take(templates, content, content_type) is not None
    return bool(packet)


@pytest.mark.parametrize(
    ("entries", "other"),
    [
        (DURABLE, DURABLE),
        (stream(22, 21), stream(99, 97)),
        (stream(22), stream(35)),
        ("", ""),
    ],
)
def test_a_request_with_other_numbers_and_another_body_is_a_repetition(
    entries: str, other: str
) -> None:
    templates = repeating(entries)
    content = multipart(compact(99, entries=other), b"another.", BOUNDARY.format(73))
    assert repeats(templates, content, type_of(BOUNDARY.format(73)))
    message = take(templates, content, type_of(BOUNDARY.format(73)))
    assert message is not None
    again = take(templates, content, type_of(BOUNDARY.format(73)))
    assert again is not None
    assert again.follows(message)


@pytest.mark.parametrize(
    ("text", "body", "boundary"),
    [
        (compact(100), b"8 bytes.", BOUNDARY.format(12)),
        (compact(12), b"9 bytes..", BOUNDARY.format(12)),
        (compact(12), b"8 bytes.", BOUNDARY.format(123)),
        (compact(12), b"8 bytes.", BOUNDARY.format("1x")),
        (compact(12), b"8 bytes.", "MSMQ - Soap boundary, 12"),
        (compact(12, label="ordes"), b"8 bytes.", BOUNDARY.format(12)),
        (compact(12, sent="20260101T000001"), b"8 bytes.", BOUNDARY.format(12)),
        (compact("1x"), b"8 bytes.", BOUNDARY.format(12)),
    ],
)
def test_another_request_is_no_repetition(text: str, body: bytes, boundary: str) -> None:
    templates = repeating()
    assert not repeats(templates, multipart(text, body, boundary), type_of(boundary))


def test_another_head_or_type_is_no_repetition() -> None:
    templates = repeating()
    content = multipart(compact(12), b"8 bytes.", BOUNDARY.format(12))
    content_type = type_of(BOUNDARY.format(12))
    assert not repeats(templates, content, content_type, HEAD + b"x")
    assert not repeats(templates, content, content_type + b"x")
    assert not repeats(templates, content, content_type.replace(b"related", b"Related"))


@pytest.mark.parametrize("entries", [stream("00", 21), stream(22, "x1")])
def test_a_place_that_cannot_be_is_no_repetition(entries: str) -> None:
    templates = repeating(stream(22, 21))
    content = multipart(compact(12, entries=entries), b"8 bytes.", BOUNDARY.format(12))
    assert not repeats(templates, content, type_of(BOUNDARY.format(12)))


def test_an_identifier_above_32_bits_is_no_repetition() -> None:
    templates = learned(compact())
    for number in (4_000_000_000, 4_000_000_001, 4_294_967_296):
        content = multipart(compact(number), b"", BOUNDARY.format(7))
        taken = templates.take(type_of(BOUNDARY.format(7)), HEAD, content)
        assert (taken is None) is (number > 0xFFFFFFFF)


def test_a_boundary_without_a_number_makes_no_repetition() -> None:
    templates = learned(compact())
    for number in (10, 11):
        assert take(templates, multipart(compact(number), boundary="b"), type_of("b")) is not None
    assert templates._repeat is None


@given(
    at=st.integers(0, 2000),
    value=st.integers(0, 255),
    other=st.integers(0, 2000),
    entries=st.sampled_from([DURABLE, stream(22, 21), stream(22)]),
)
def test_a_repetition_with_changed_bytes_gives_what_the_general_way_gives(
    at: int, value: int, other: int, entries: str
) -> None:
    templates = repeating(entries)
    content = bytearray(multipart(compact(12, entries=entries), b"8 bytes.", BOUNDARY.format(12)))
    content[at % len(content)] = value
    content[other % len(content)] = ord("7")
    repeats(templates, bytes(content), type_of(BOUNDARY.format(12)))


@pytest.mark.parametrize("entries", [DURABLE, stream(22, 21)])
def test_any_other_byte_outside_of_numbers_and_body_is_no_repetition(entries: str) -> None:
    templates = repeating(entries)
    boundary = BOUNDARY.format(12)
    content = multipart(compact(12, entries=entries), b"8 bytes.", boundary)
    envelope, body = content.index(b"<se:"), content.index(b"8 bytes.")
    free = set(range(body, body + 8))
    for mark in (b"uuid:", b"<current>", b"<previous>"):
        at = content.find(mark, envelope)
        if at >= 0:
            free |= {at + len(mark), at + len(mark) + 1}
    for at in range(len(content)):
        other = content[:at] + b"~" + content[at + 1 :]
        assert repeats(templates, other, type_of(boundary)) is (at in free and at >= body), at
    assert not repeats(templates, content + b"x", type_of(boundary))
    assert not repeats(templates, content[:-1], type_of(boundary))
