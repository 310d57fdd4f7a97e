"""`openmsmq redirection`, on a running queue manager."""

from pathlib import Path

import pytest
from tests.cli.running import Manager

from openmsmq.cli.queues.mapping_files import read_mapping_file
from openmsmq.wire.errors import ConfigError

FROM = "http://www.example.com/msmq/private$/orders"
TO = "http://beta/msmq/private$/orders"
REDIRECTIONS = f"""<redirections xmlns="msmq-queue-redirections.xml">
  <redirection><from>{FROM}</from><to> {TO} </to></redirection>
</redirections>"""
STREAM_RECEIPTS = f"""<StreamReceiptSetup xmlns="msmq-streamreceipt-mapping.xml">
  <setup><LogicalAddress>{FROM}</LogicalAddress><StreamReceiptURL>{TO}</StreamReceiptURL></setup>
  <default>{TO}</default>
</StreamReceiptSetup>"""
MAPPING = f"""<mapping host="localhost" xmlns="msmq-queue-mapping.xml">
  <queue><name>private$\\orders</name><alias>{FROM}</alias></queue>
</mapping>"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (REDIRECTIONS, [("inbound", FROM, TO)]),
        (STREAM_RECEIPTS, [("receipts", FROM, TO), ("receipts", "*", TO)]),
        (MAPPING, [("inbound", FROM, "http://localhost/msmq/private$/orders")]),
    ],
)
def test_the_mapping_files_of_windows_are_read(
    text: str, expected: list[tuple[str, str, str]]
) -> None:
    assert read_mapping_file(text.encode()) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<redirections>",
        "<other/>",
        "<!DOCTYPE x><redirections/>",
        "<redirections>" + "<a>" * 20 + "</a>" * 20 + "</redirections>",
    ],
)
def test_anything_else_is_not_a_mapping_file(text: str) -> None:
    with pytest.raises(ConfigError):
        read_mapping_file(text.encode())


def test_redirections_are_added_listed_imported_and_removed(
    manager: Manager, tmp_path: Path
) -> None:
    assert manager.run("redirection", "list").out == "There are no redirections.\n"
    assert manager.run("redirection", "add", "inbound", FROM, TO).code == 0
    file = tmp_path / "map.xml"
    file.write_text(STREAM_RECEIPTS, encoding="utf-8")
    imported = ("redirection", "import", str(file))
    assert TO in manager.run(*imported, "--dry-run").out
    assert len(manager.run("redirection", "list", "--json").objects) == 1
    assert manager.run(*imported).code == 0
    assert manager.run("redirection", "list", "--json").objects == [
        {"kind": "inbound", "url": FROM, "to": TO},
        {"kind": "receipts", "url": FROM, "to": TO},
        {"kind": "receipts", "url": "*", "to": TO},
    ]
    for kind, url in (("inbound", FROM), ("receipts", FROM), ("receipts", "*")):
        assert manager.run("redirection", "remove", kind, url).code == 0
    missing = manager.run("redirection", "remove", "inbound", FROM)
    assert missing.code == 1
    assert "redirection list" in missing.err
