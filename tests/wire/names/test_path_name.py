r"""[MS-MQMQ] 2.1.1: path names."""

import pytest
from hypothesis import given
from tests.wire.name_strategies import path_names

from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.names.path_name import PathName, parse_path_name
from openmsmq.wire.names.queue_name import QueueName, QueueScope, Suffix


@given(path_names)
def test_parse_reverses_print(name: PathName) -> None:
    parsed = parse_path_name(str(name))
    assert parsed == name
    assert str(parsed) == str(name)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        (r".\private$\orders", r".\private$\orders"),
        (r"HOST\PRIVATE$\Orders", r"HOST\private$\Orders"),
        (r"host\orders;sub", r"host\orders;sub"),
        (r".\private$\orders;journal", r".\private$\orders;JOURNAL"),
        (r"host\system$;deadletter", r"host\system$;DEADLETTER"),
        # As .NET writes them.
        (r".\private$\orders\Journal$", r".\private$\orders;JOURNAL"),
        (r"host\orders\journal$", r"host\orders;JOURNAL"),
        (r".\Journal$", r".\system$;JOURNAL"),
        (r".\DeadLetter$", r".\system$;DEADLETTER"),
        (r".\XactDeadLetter$", r".\system$;DEADXACT"),
        # The shortest ones, for the command line.
        (";journal", r".\system$;JOURNAL"),
        (".;deadxact", r".\system$;DEADXACT"),
        ("host;deadletter", r"host\system$;DEADLETTER"),
    ],
)
def test_canonical_text(text: str, printed: str) -> None:
    assert str(parse_path_name(text)) == printed


def test_the_parts_of_a_path_name() -> None:
    name = parse_path_name(r".\private$\orders")
    assert name.is_local
    assert name.queue_name == QueueName(QueueScope.PRIVATE, "orders")
    assert not parse_path_name(r"host\orders").is_local
    assert parse_path_name(r".\orders\journal$").queue_name.suffix is Suffix.JOURNAL


@pytest.mark.parametrize("text", [r"private$\orders", r"PRIVATE$\orders", r"system$\x"])
def test_a_missing_computer_is_told_with_the_right_spelling(text: str) -> None:
    with pytest.raises(QueueError) as caught:
        parse_path_name(text)
    assert caught.value.code == Hresult.MQ_ERROR_ILLEGAL_QUEUE_PATHNAME
    assert caught.value.remedy == f"Write it as '.\\{text}'."


def test_path_names_are_equal_without_regard_to_case() -> None:
    lower, upper = parse_path_name(r"host\private$\q"), parse_path_name(r"HOST\PRIVATE$\Q")
    assert lower == upper
    assert hash(lower) == hash(upper)
    assert lower != parse_path_name(r"host2\private$\q")


@pytest.mark.parametrize(
    ("text", "character", "reason"),
    [
        ("", 1, "no queue name; a path name is"),
        ("orders", 7, "no queue name; a path name is"),
        ("host;retry", 5, "no queue name; a path name is"),
        ("host;xactonly", 5, "no queue name; a path name is"),
        (r"\orders", 1, "no computer name"),
        ("a b\\orders", 2, "a computer name may not hold ' '"),
        ("a b;journal", 2, "a computer name may not hold ' '"),
        ("h" * 257 + "\\orders", 1, "a computer name has at most 256"),
        (".\\", 3, "no queue name"),
        (".\\private$\\", 12, "no queue name"),
        (".\\a,b", 4, "may not hold ','"),
        (r".\orders;retry\journal$", 15, "orders;retry has no journal"),
        (r".\system$;x\journal$", 12, "system\\$;x has no journal"),
    ],
)
def test_a_fault_says_what_and_where(text: str, character: int, reason: str) -> None:
    with pytest.raises(QueueError, match=reason) as caught:
        parse_path_name(text)
    assert caught.value.code == Hresult.MQ_ERROR_ILLEGAL_QUEUE_PATHNAME
    assert f"at character {character} of" in str(caught.value)


def test_a_format_name_is_refused_with_the_path_name_that_is_meant() -> None:
    with pytest.raises(QueueError, match="is a format name") as caught:
        parse_path_name(r"DIRECT=OS:alpha\private$\orders")
    assert caught.value.code == Hresult.MQ_ERROR_ILLEGAL_QUEUE_PATHNAME
    assert r"'.\private$\orders'" in caught.value.remedy
