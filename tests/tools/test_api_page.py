"""The page of the Python API."""

from dataclasses import fields

from tools.api_keys import CLIENT, OUTGOING, QUEUE, SESSION, STATUS, TRANSACTION
from tools.api_page import PAGE, SECTIONS, awaited, page

import openmsmq
from openmsmq import aio, client
from openmsmq.core.management.records import SessionInfo, TransactionInfo


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tools.api_page"


def test_the_page_has_every_public_name() -> None:
    shown = {member.__name__ for members in SECTIONS.values() for member in members}
    assert {*openmsmq.__all__, *client.__all__} - {"__version__", "aio"} <= shown
    assert all(f"`{name}`" in page() for name in aio.__all__)


def test_methods_have_their_signature_arguments_and_errors() -> None:
    text = page()
    assert "receive(\n    timeout: float | timedelta | None = None,\n    transaction:" in text
    assert "- `timeout`: seconds or a timedelta to wait; None for ever.\n" in text
    assert "- `ReceiveTimeout`: none came in time.\n" in text


def test_every_key_of_a_dict_is_described(msmq: openmsmq.QueueManager) -> None:
    orders = msmq.create_queue(r".\private$\orders")
    msmq.send(r"DIRECT=TCP:127.0.0.99\private$\far", "text")
    msmq.flush()
    assert list(msmq.status()) == list(STATUS)
    assert list(orders.info()) == list(QUEUE)
    assert list(msmq.outgoing()[0]) == list(OUTGOING)
    assert list(msmq.clients()[0]) == list(CLIENT)
    assert [field.name for field in fields(SessionInfo)] == list(SESSION)
    assert [field.name for field in fields(TransactionInfo)] == list(TRANSACTION)


def test_the_page_tells_which_calls_of_aio_are_awaited() -> None:
    rows = {how: calls for _, how, calls, _ in (row.split("|") for row in awaited().splitlines())}
    assert "`Queue.receive`" in rows[" `await` "]
    assert rows[" `await`, or `async with`, which closes it "] == (
        " `connect`, `QueueManager.create_queue`, `QueueManager.open_queue`, "
        "`QueueManager.transaction` "
    )
    assert rows[" `async with` "] == " `Queue.hold_by_lookup_id` "
    assert "`Queue.cursor`" in rows[" `async for` "]
    assert "`Queue.messages`" in rows[" `async for`, inside `async with` where handling may fail "]
    assert "`QueueManager.identity`" in rows[" as they are "]
