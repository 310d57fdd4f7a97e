"""Live parts of pages: what is sent of a list that changed."""

from typing import Any

from openmsmq.admin.pages.live import Part, rendered
from openmsmq.admin.pages.queue_pages import COLUMNS
from openmsmq.admin.pages.render import remembered
from openmsmq.admin.pages.rows import QueueRow
from openmsmq.admin.pages.site import PAGES

PAGE = next(page for page in PAGES if page.path == "/queues")
KEYS = tuple(key for key, _, _ in COLUMNS)


def row(name: str, messages: int, *, oldest: float = 3600.0) -> QueueRow:
    return QueueRow(
        name=rf"private$\{name}",
        label="<b>new\nline</b>",
        messages=messages,
        bytes=messages,
        arriving=0.0,
        leaving=0.0,
        oldest=oldest,
        readers=1,
        unread=False,
        transactional=False,
        journal=False,
        authenticate=False,
        multicast=None,
    )


def shown(*rows: QueueRow) -> Part:
    values: dict[str, Any] = {
        "rows": rows,
        "columns": [],
        "shown_columns": KEYS,
        "sort": "name",
        "url": lambda **_: "",
        "after": "",
        "filter": "",
        "stale_since": None,
        "tones": {},
        "counts": {"queues": str(len(rows))},
        "manager_state": "running",
    }
    (part,) = (part for part in rendered(PAGE, values).parts if part.element == "list")
    return part


def sent_ids(part: Part, sent: dict[str, int]) -> list[str]:
    return [element for element, _ in part.changes(sent)]


def test_a_list_is_sent_once_and_then_only_the_rows_that_changed() -> None:
    sent: dict[str, int] = {}
    first = shown(row("a", 1), row("b", 2))
    assert list(first.changes(sent)) == [("list", first.html)]
    assert sent_ids(shown(row("a", 1), row("b", 2)), sent) == []
    ((element, html),) = shown(row("a", 1), row("b", 3)).changes(sent)
    assert element == "q-private$%5Cb"
    assert '<td class="num">3</td>' in html
    assert "<tr" not in html
    # A label has no lines of its own and no elements.
    assert "\n" not in html
    assert "<b>" not in html
    assert sent_ids(shown(row("a", 1), row("b", 3)), sent) == []


def test_a_list_is_sent_whole_when_rows_come_go_or_move() -> None:
    sent: dict[str, int] = {}
    sent_ids(shown(row("a", 1), row("b", 2)), sent)
    for rows in (
        (row("a", 1), row("b", 2), row("c", 1)),
        (row("b", 2), row("a", 1), row("c", 1)),
        (row("a", 1), row("c", 1)),
    ):
        assert sent_ids(shown(*rows), sent) == ["list"]
        # Its rows count as sent with it.
        assert sent_ids(shown(*rows), sent) == []
    # A row that was away is new, although it is as it was.
    assert sent_ids(shown(row("b", 2), row("a", 1), row("c", 1)), sent) == ["list"]


def test_a_row_that_looks_the_same_is_not_rendered_again() -> None:
    shown(row("a", 1, oldest=7_200.0))
    before = remembered.cache_info()
    assert shown(row("a", 1, oldest=7_201.0)).rows == shown(row("a", 1, oldest=7_200.0)).rows
    after = remembered.cache_info()
    assert after.misses == before.misses
    assert after.hits == before.hits + 2
    assert shown(row("a", 2)).rows != shown(row("a", 1)).rows
