"""The table of endpoints, and the document that is made from it."""

import typer.main
from openapi_spec_validator import validate

from openmsmq.admin.api.document import openapi_document
from openmsmq.admin.api.table import ENDPOINTS
from openmsmq.admin.pages.site import PAGES
from openmsmq.cli import build_app


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
