"""Path names and format names side by side."""

import pytest
from hypothesis import given
from tests.wire.name_strategies import format_names, path_names

from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.names.format_name import FormatName, parse_queue_reference
from openmsmq.wire.names.path_name import PathName


@given(path_names | format_names)
def test_every_name_is_told_apart(name: PathName | FormatName) -> None:
    assert parse_queue_reference(str(name)) == name


def test_the_prefix_of_dot_net_marks_a_format_name() -> None:
    name = parse_queue_reference(r"FormatName:DIRECT=OS:host\q")
    assert str(name) == r"DIRECT=OS:host\q"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (r"DIRET=OS:host\q", Hresult.MQ_ERROR_ILLEGAL_FORMATNAME),
        (r"FormatName:.\private$\q", Hresult.MQ_ERROR_ILLEGAL_FORMATNAME),
        (r".\private$", Hresult.MQ_ERROR_ILLEGAL_QUEUE_PATHNAME),
    ],
)
def test_a_fault_has_the_code_of_the_kind_of_name(text: str, code: Hresult) -> None:
    with pytest.raises(QueueError) as caught:
        parse_queue_reference(text)
    assert caught.value.code == code
