"""The text of many bodies is that of each."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.spark.bodies import columns
from openmsmq.spark.bodies.columns import body_columns
from openmsmq.spark.bodies.text import ENCRYPTED, text_of_body
from openmsmq.spark.columns import BODY_FORMATS
from openmsmq.wire.message.body_type import BodyType

DOCUMENTS = st.sampled_from(
    [
        "",
        "text",
        "<a/>",
        " \n<?xml version='1.0'?><a>1</a>",
        "<?x?y?><a >",
        "<!-- c --><b:a>",
        "<1>",
        "<a",
        '{"a": 1}',
        "[1]\n",
        "[1} ",
        "{",
        "a\x0bb",
        "tab\tline\r\n",
        "\x7f",
        "é",
        "\x1f{}",
    ]
)
TYPES = (BodyType.VT_EMPTY, BodyType.VT_BSTR, BodyType.VT_LPWSTR, BodyType.VT_I4)
ENCODED = DOCUMENTS.flatmap(
    lambda text: st.sampled_from([text.encode(), text.encode("utf-16-le"), text.encode("utf-16")])
)


@given(
    st.sampled_from(BODY_FORMATS[1:]),
    st.lists(
        st.tuples(ENCODED | st.binary(max_size=6), st.sampled_from(TYPES), st.booleans()),
        max_size=8,
    ),
)
def test_texts_and_errors_are_the_same_as_one_at_a_time(
    body_format: str, bodies: list[tuple[bytes, int, bool]]
) -> None:
    texts, errors = body_columns(
        body_format,
        pa.array([raw for raw, _, _ in bodies], pa.binary()),
        np.array([int(kind) for _, kind, _ in bodies], np.int64),
        np.array([encrypted for _, _, encrypted in bodies], np.bool_),
    )
    texts.validate(full=True)
    expected = [
        (None, ENCRYPTED) if encrypted else text_of_body(body_format, kind, raw)
        for raw, kind, encrypted in bodies
    ]
    found = zip(texts.to_pylist(), errors.to_pylist(), strict=True)
    assert list(found) == expected


@pytest.mark.parametrize(
    ("body_format", "text"),
    [
        ("text", "hello\n"),
        ("auto", "hello\n"),
        ("xml", '<?xml version="1.0"?>\r\n<Order xmlns:a="b"><Id>1</Id></Order>'),
        ("json", '{"a": [1,\n2]}\n'),
    ],
)
@pytest.mark.parametrize(("body_type", "encoding"), [(0, "ascii"), (8, "utf-16-le")])
def test_usual_bodies_are_not_read_one_at_a_time(
    monkeypatch: pytest.MonkeyPatch, body_format: str, text: str, body_type: int, encoding: str
) -> None:
    monkeypatch.delattr(columns, "text_of_body")
    bodies = pa.array([text.encode(encoding)] * 3)
    plain = np.zeros(3, np.bool_)
    texts, errors = body_columns(body_format, bodies, np.full(3, body_type), plain)
    assert texts.to_pylist() == [text] * 3
    assert errors.null_count == 3
