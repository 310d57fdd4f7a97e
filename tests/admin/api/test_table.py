"""The table of endpoints, and the document that is made from it."""

from collections.abc import Iterator
from typing import Any

import msgspec
import typer.main
from openapi_spec_validator import validate

from openmsmq.admin.api.document import EXAMPLES, openapi_document
from openmsmq.admin.api.message_records import WholeMessage
from openmsmq.admin.api.table import ENDPOINTS
from openmsmq.admin.pages.site import PAGES
from openmsmq.cli import build_app
from openmsmq.client.received_message import PROPERTIES


def test_the_document_is_valid() -> None:
    document = openapi_document()
    validate(document)
    operations = [
        operation["operationId"]
        for path in document["paths"].values()
        for operation in path.values()
    ]
    assert sorted(operations) == sorted([*(each.name for each in ENDPOINTS), "openapi"])


def test_every_endpoint_says_what_it_does() -> None:
    for endpoint in ENDPOINTS:
        assert endpoint.words.endswith("."), endpoint.name
        assert endpoint.method in ("GET", "POST", "PATCH", "DELETE")


def test_the_document_describes_parameters_and_gives_examples() -> None:
    document = openapi_document()
    by_name = {endpoint.name: endpoint for endpoint in ENDPOINTS}
    for methods in document["paths"].values():
        for operation in methods.values():
            for parameter in operation.get("parameters", ()):
                assert parameter["description"][:1].isupper() or "`" in parameter["description"]
    for name, example in EXAMPLES.items():
        msgspec.convert(example, by_name[name].body)
    job = document["components"]["schemas"]["JobToBegin"]
    assert job["description"] == "A job."
    assert job["properties"]["rate"]["description"] == "The maximum number of messages per second."
    assert not [each for each in document["components"]["schemas"].values()
                if "Attributes:" in each["description"]]  # fmt: skip


def test_every_answer_names_its_properties_but_configuration() -> None:
    free = {each.name for each in ENDPOINTS if each.result == dict[str, Any]}
    assert free == {"settings", "definitions"}
    schemas = openapi_document()["components"]["schemas"]
    assert schemas["Status"]["properties"]["messages"] == {"type": "integer"}
    assert schemas["SessionRecord"]["properties"].keys() >= {"peer", "incoming_bytes_per_second"}


def test_a_message_has_every_property_of_the_client() -> None:
    names = {field.encode_name for field in msgspec.structs.fields(WholeMessage)}
    assert names == {*PROPERTIES, "deliver_at"}


def test_every_download_has_a_name_of_its_own() -> None:
    downloads = [each for each in ENDPOINTS if each.result is bytes and not each.stream]
    names = [each.file for each in downloads]
    assert all(names)
    assert len(set(names)) == len(names)


# Parameters that a list does not take, and what its words say of the reason.
NOT_TAKEN = {("search", "sort"): "to `sort` would read all"}


def test_every_list_takes_the_parameters_of_lists_or_says_why_not() -> None:
    paths = openapi_document()["paths"]
    for endpoint in ENDPOINTS:
        if not endpoint.entries:
            continue
        taken = {each["name"] for each in paths[endpoint.path]["get"]["parameters"]}
        for name in ("filter", "sort", "after", "limit", "fields"):
            if name not in taken:
                assert NOT_TAKEN[endpoint.name, name] in endpoint.words


def test_every_endpoint_has_its_page_or_a_reason() -> None:
    paths = {page.path for page in PAGES}
    for endpoint in ENDPOINTS:
        assert endpoint.page in paths or endpoint.page.startswith("none: "), endpoint.name


def test_every_endpoint_has_its_command_or_a_reason() -> None:
    program = typer.main.get_command(build_app([], everything=True))
    for endpoint in ENDPOINTS:
        if endpoint.command.startswith("none: "):
            continue
        for words in endpoint.command.split(", "):
            group = program
            for word in words.split():
                if word.startswith("--"):
                    break
                group = group.commands[word]  # type: ignore[attr-defined]  # a group


# Commands without an endpoint, and why.
REASONS = {
    "serve": "it is the queue manager",
    "health": "/healthz and /readyz, for everybody",
    "top": "the overview and its series",
    "console link": "it is for the user that the kernel says is asking",
    "restore": "it works on files of a queue manager that is stopped",
    "store check": "as restore",
    "config check": "it reads a file of the shell",
    "decode": "it reads files and pipes of the shell",
    "bench": "it starts queue managers of its own",
    "demo": "as bench",
    "conformance": "it runs tests",
    "deadletter show": "GET /dead-letters and /search",
    "redirection import": "it reads files of Windows",
    "directory": "it edits a file that several machines share; definitions have the same objects",
    "key": "keys are files of a user and never travel",
    "user": "passwords are files of the queue manager and never travel",
    "pipeline": "Spark runs where it is started",
}


def test_every_command_has_its_endpoint_or_a_reason() -> None:
    offered = {
        " ".join(word for word in words.split() if not word.startswith("--"))
        for endpoint in ENDPOINTS
        for words in endpoint.command.split(", ")
    }
    program = typer.main.get_command(build_app([], everything=True))
    missing = [
        command
        for command in commands_of(program, [])
        if command not in offered
        and command not in REASONS
        and command.partition(" ")[0] not in REASONS
    ]
    assert missing == []


def commands_of(command: Any, path: list[str]) -> Iterator[str]:
    groups = getattr(command, "commands", {})
    for name, below in groups.items():
        yield from commands_of(below, [*path, name])
    if not groups:
        yield " ".join(path)
