"""Files of definitions: read, written, and faults named by line and key."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.definitions.model import (
    Definitions,
    MachineDefinition,
    OutgoingDefinition,
    PermissionDefinition,
    QueueDefinition,
    RedirectionDefinition,
)
from openmsmq.wire.definitions.places import line_of, parse_place
from openmsmq.wire.definitions.reading import DefinitionsFault, fault, read_definitions
from openmsmq.wire.definitions.writing import write_json, write_toml

TOML = r"""
redirections = []

[[queues]]
path = 'private$\orders'
transactional = true
permissions = [
    { principal = "everyone", allow = ["send"] },
]

[[queues]]
"path" = "private$\\b"
'quota' = 5   # kilobytes

[[queues.permissions]]
principal = "everyone"
deny = ["receive"]

[machine]
permissions = []

[[outgoing]]
destination = 'DIRECT=OS:far\private$\x'
"""

EVERYTHING = Definitions(
    queues=(
        QueueDefinition(
            path=r"private$\orders",
            transactional=True,
            label="quotes \" and ' and \x7f and \u2028 and tab\t",
            journal=True,
            quota=7,
            journal_quota=8,
            authenticate=True,
            privacy="body",
            base_priority=-3,
            multicast="234.1.1.1:8001",
            type="{00000000-0000-0000-0000-000000000001}",
            permissions=(
                PermissionDefinition(principal="everyone", allow=("send",), deny=("receive",)),
            ),
        ),
        QueueDefinition(path="plain", permissions=()),
    ),
    machine=MachineDefinition(permissions=(PermissionDefinition(principal="uid:5"),)),
    outgoing=(OutgoingDefinition(destination=r"DIRECT=OS:far\private$\x"),),
    redirections=(RedirectionDefinition(kind="outbound", url="http://a/*", to="http://b/msmq/c"),),
)


def test_toml_is_read() -> None:
    definitions = read_definitions(TOML, "file")
    assert definitions.queues is not None
    first, second = definitions.queues
    assert (first.path, first.transactional, first.quota) == (r"private$\orders", True, "none")
    assert second.quota == 5
    assert second.permissions == (PermissionDefinition(principal="everyone", deny=("receive",)),)
    assert definitions.machine == MachineDefinition(permissions=())
    assert definitions.redirections == ()


@pytest.mark.parametrize("definitions", [EVERYTHING, Definitions(), Definitions(queues=())])
def test_what_is_written_is_read_again(definitions: Definitions) -> None:
    assert read_definitions(write_json(definitions), "file") == definitions
    assert read_definitions(write_toml(definitions), "file") == definitions


@given(st.text(), st.text(st.characters(codec="utf-8")))
def test_any_text_is_written_so_that_it_can_be_read(path: str, label: str) -> None:
    queue = QueueDefinition(path=path.encode("utf-8", "replace").decode(), label=label)
    definitions = Definitions(queues=(queue,))
    assert read_definitions(write_toml(definitions), "file") == definitions
    assert read_definitions(write_json(definitions), "file") == definitions


def test_what_has_its_default_is_not_written() -> None:
    text = '{"queues": [{"path": "a", "retry_cycle_delay": 1800, "base_priority": 0}]}'
    definitions = read_definitions(text, "x")
    assert write_toml(definitions) == '[[queues]]\npath = "a"\n'
    assert "retry_cycle_delay" not in write_json(definitions)
    other = read_definitions(text.replace("1800", "1801"), "x")
    assert "retry_cycle_delay = 1801" in write_toml(other)


def test_a_lone_surrogate_is_replaced_in_toml() -> None:
    definitions = Definitions(queues=(QueueDefinition(path="a", label="\ud800"),))
    read = read_definitions(write_toml(definitions), "file")
    assert read.queues is not None
    assert read.queues[0].label == "\ufffd"


LONG_LIST = """\
[[queues]]
path = 'a'
permissions = [
    { principal = 'a{', allow = ['send'] }, # {
    { principal = 'b' }, { principal = 5 },
]
label = 'x'
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[queues]]\npath = 'a'\nquota = -1\n", "file:3: queues[0].quota: Expected `int` >= 0"),
        (
            "[[queues]]\npath = 'a'\n\n[[queues]]\nlabel = 'b'\n",
            "file:4: queues[1]: Object missing required field `path`",
        ),
        (
            "[[queues]]\npath = 'a'\ncolour = 'red'\n",
            "file:3: queues[0].colour: is not a key that is known here",
        ),
        (
            "[[queues]]\npath = 'a'\n[[queues.permissions]]\nprincipal = 5\n",
            "file:4: queues[0].permissions[0].principal: Expected `str`, got `int`",
        ),
        (
            '{"queues": [\n{"path": "a"},\n{"path": "b", "privacy":\n "x"}]}',
            "file:4: queues[1].privacy: 'x' must be one of none, optional, body",
        ),
        ('{"a": 1}', "file:1: a: is not a key that is known here"),
        ("\n[[queue]]\npath = 'a'\n", "file:2: queue: is not a key that is known here"),
        ('{"queues":\n[}', "file: is not JSON: JSON is malformed: invalid character (at line 2)"),
        (
            LONG_LIST,
            "file:5: queues[0].permissions[2].principal: Expected `str`, got `int`",
        ),
        ("{", "file: is not JSON: Input data was truncated"),
        ("= 4", "file: is not TOML: Invalid statement (at line 1, column 1)"),
        ("machine = 5", "file:1: machine: Expected `object | null`, got `int`"),
    ],
)
def test_a_fault_names_line_and_key(text: str, expected: str) -> None:
    with pytest.raises(DefinitionsFault) as caught:
        read_definitions(text, "file")
    assert caught.value.detail == expected
    assert caught.value.remedy.startswith("Correct the line that is named")


def test_depth_is_bounded() -> None:
    with pytest.raises(DefinitionsFault):
        read_definitions("a = " + "[" * 100_000, "file")


def test_a_fault_that_is_found_later_names_its_line_too() -> None:
    assert fault(TOML, "file", "$.queues[1].quota", "too much").detail == (
        "file:13: queues[1].quota: too much"
    )
    assert fault(
        '{"machine":\n {"permissions": []}}', "f", "$.machine.permissions", "x"
    ).detail == ("f:2: machine.permissions: x")
    assert fault(TOML, "file", "$", "all of it").detail == "file: all of it"


def test_what_has_no_line_of_its_own_has_that_of_what_it_stands_in() -> None:
    place = parse_place("$.queues[0].permissions[0].allow")
    assert place == ("queues", 0, "permissions", 0, "allow")
    assert line_of(TOML, place, is_json=False) == 8
    assert line_of(TOML, ("nothing",), is_json=False) == 1


@given(st.text())
def test_any_text_is_definitions_or_a_fault(text: str) -> None:
    for source in (text, "{" + text, "[[queues]]\n" + text):
        try:
            assert isinstance(read_definitions(source, "file"), Definitions)
        except DefinitionsFault:
            continue
