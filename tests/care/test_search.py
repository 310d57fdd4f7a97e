"""Search over one queue, many or all."""

import sys
from typing import Any

import pytest

import openmsmq
from openmsmq.care import PlaceKind, SearchProgress, list_places, parse_filter, place_of, search
from openmsmq.care.places import find_place
from openmsmq.client import BrowsedMessage
from openmsmq.client.properties import Access

ORDERS = r".\private$\orders"
AWAY = r"DIRECT=TCP:127.0.0.99\private$\away"


@pytest.fixture
def filled(qm: openmsmq.QueueManager) -> openmsmq.QueueManager:
    orders = qm.create_queue(ORDERS, journal=True)
    orders.send_many(openmsmq.Message(f"body {number}", f"order {number}") for number in range(20))
    orders.move(";held", count=2)
    orders.receive_many(3, timeout=5)
    qm.send(AWAY, openmsmq.Message("body away", "order away"))
    qm.flush()
    return qm


def test_every_place_is_listed(filled: openmsmq.QueueManager) -> None:
    places = {(place.kind, place.messages) for place in list_places(filled)}
    assert {
        (PlaceKind.QUEUE, 15),
        (PlaceKind.SUBQUEUE, 2),
        (PlaceKind.JOURNAL, 3),
        (PlaceKind.DEADLETTER, 0),
        (PlaceKind.OUTGOING, 1),
    } <= places
    names = [place.name for place in list_places(filled, kinds=[PlaceKind.QUEUE])]
    assert [name.partition("\\")[2] for name in names] == [r"private$\orders"]
    assert list_places(filled, pattern="*nothing*") == []


def test_all_places_are_searched(filled: openmsmq.QueueManager) -> None:
    told: list[tuple[int, int]] = []

    def progress(state: SearchProgress) -> None:
        told.append((state.looked_at, state.total))

    found = list(
        search(filled, list_places(filled), parse_filter("label ~ order"), progress=progress)
    )
    assert len(found) == 21
    kinds = {each.place.kind for each in found}
    assert kinds == {
        PlaceKind.QUEUE,
        PlaceKind.SUBQUEUE,
        PlaceKind.JOURNAL,
        PlaceKind.OUTGOING,
    }
    assert told[-1] == (21, 21)
    assert found[0].message.transport == "local"


def test_messages_that_readers_do_not_see_are_found_in_their_order(
    qm: openmsmq.QueueManager,
) -> None:
    orders = qm.create_queue(ORDERS, transactional=True)
    orders.send_many((openmsmq.Message(f"{each}") for each in range(4)), transaction="single")
    later = openmsmq.Message("later")
    orders.send(later, transaction="single", delay=3600)
    qm.send(AWAY, openmsmq.Message("away later", delivery="recoverable"), delay=3600)
    qm.flush()
    ids = [message.lookup_id for message in orders.cursor()]
    told = SearchProgress()

    def progress(state: SearchProgress) -> None:
        told.looked_at, told.total = state.looked_at, state.total

    def find(text: str | None = None, **options: Any) -> list[tuple[str, str]]:
        condition = None if text is None else parse_filter(text)
        found = search(qm, list_places(qm), condition, progress=progress, **options)
        return [
            (
                str(each.message.body),
                each.message.state if isinstance(each.message, BrowsedMessage) else "available",
            )
            for each in found
        ]

    with qm.transaction() as transaction:
        for place in (0, 2):
            orders.receive_by_lookup_id(ids[place], transaction=transaction)
        everything = [
            *[("0", "locked"), ("1", "available"), ("2", "locked"), ("3", "available")],
            *[("later", "delayed"), ("away later", "delayed")],
        ]
        assert find() == everything
        assert (told.looked_at, told.total) == (6, 6)
        assert find(limit=3) == everything[:3]
        assert find("body = '2'") == [("2", "locked")]
        assert find("deliver_at > 2026-01-01") == everything[4:]
        assert find("age < 1h") == everything[:4]
        assert find(hidden=False) == [("1", "available"), ("3", "available")]
        # A search that goes on behind a message leaves out what came before it.
        rest = search(qm, [place_of(ORDERS)], after=ids[1])
        assert [str(each.message.body) for each in rest] == ["2", "3", "later"]
        transaction.abort()


def test_many_hidden_messages_are_found_page_by_page(qm: openmsmq.QueueManager) -> None:
    orders = qm.create_queue(ORDERS)
    for number in range(450):
        orders.send(openmsmq.Message(f"{number}", delivery="recoverable"), delay=3600)
    qm.flush()
    found = [str(each.message.body) for each in search(qm, [place_of(ORDERS)])]
    assert found == [f"{number}" for number in range(450)]


def test_a_search_may_rest_after_each_block(
    filled: openmsmq.QueueManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    rests: list[int] = []

    class Counted:
        def step_done(self) -> None:
            rests.append(1)

    module = sys.modules["openmsmq.care.search"]
    monkeypatch.setattr(module, "Pace", Counted)
    monkeypatch.setattr(module, "BLOCK_ROWS", 5)
    assert len(list(search(filled, [place_of(ORDERS)]))) == 15
    assert len(rests) == 3


def test_no_empty_queue_is_opened_in_vain(
    filled: openmsmq.QueueManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    open_queue = openmsmq.QueueManager.open_queue

    def noted(manager: openmsmq.QueueManager, name: str, access: Access) -> openmsmq.Queue:
        opened.append(name)
        return open_queue(manager, name, access)

    for number in range(5):
        filled.create_queue(rf".\private$\empty{number}")
    places = list_places(filled)
    monkeypatch.setattr(openmsmq.QueueManager, "open_queue", noted)
    state = SearchProgress(total=0)

    def progress(now: SearchProgress) -> None:
        nonlocal state
        state = now

    assert len(list(search(filled, places, None, progress=progress))) == 21
    assert not any("empty" in name for name in opened)
    assert state.places_done == len(places)
    # Of a place that was not listed nobody knows it.
    assert not list(search(filled, [place_of(r".\private$\empty1")], None))
    assert opened[-1] == r".\private$\empty1"


def test_a_search_ends_when_it_is_stopped_or_has_enough(filled: openmsmq.QueueManager) -> None:
    places = [place_of(ORDERS), place_of(";journal")]
    assert len(list(search(filled, places, limit=4))) == 4
    assert len(list(search(filled, places, stopped=lambda: True))) == 15


def test_a_search_that_has_enough_says_what_it_has_looked_at(
    filled: openmsmq.QueueManager,
) -> None:
    told: list[tuple[int, int]] = []
    found = search(
        filled,
        [place_of(ORDERS)],
        limit=4,
        progress=lambda state: told.append((state.found, state.looked_at)),
    )
    assert len(list(found)) == 4
    # The messages come in one block, and all of it was compared.
    assert told == [(4, 15)]


def test_a_place_that_is_gone_is_passed_over(filled: openmsmq.QueueManager) -> None:
    gone = place_of(r".\private$\gone")
    assert len(list(search(filled, [gone, place_of(ORDERS)]))) == 15
    with pytest.raises(openmsmq.QueueError, match="MQ_ERROR_QUEUE_NOT_FOUND"):
        list(search(filled, [gone]))


def test_a_format_name_may_be_that_of_an_outgoing_queue(filled: openmsmq.QueueManager) -> None:
    place = find_place(filled, AWAY.lower())
    assert (place.kind, place.access) == (PlaceKind.OUTGOING, "peek_admin")
    assert [each.message.body for each in search(filled, [place])] == ["body away"]


def test_who_may_not_see_outgoing_queues_searches_the_others(
    filled: openmsmq.QueueManager,
) -> None:
    filled.grant(ORDERS, "uid:54321", ["peek"])
    with openmsmq.connect(filled.address, act_for="uid:54321") as other:
        assert PlaceKind.OUTGOING not in {place.kind for place in list_places(other)}
        by_format_name = find_place(other, f"DIRECT=OS:{ORDERS}")
        assert len(list(search(other, [by_format_name]))) == 15
        with pytest.raises(openmsmq.QueueError, match="MQ_ERROR_ACCESS_DENIED"):
            list_places(other, kinds=[PlaceKind.OUTGOING])


def test_a_search_says_when_the_queue_manager_is_gone() -> None:
    server = openmsmq.embedded()
    with openmsmq.connect(server.address) as manager:
        manager.create_queue(ORDERS).send_many(str(number) for number in range(10))
        places = list_places(manager)
        server.close()
        with pytest.raises(openmsmq.ConnectionLost):
            list(search(manager, places))
