"""Offsets as Spark keeps them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.spark.reading import ORDERS, send

from openmsmq.client.blocking.queue_manager import QueueManager
from openmsmq.spark.readers.offsets import (
    QueueOffset,
    digest_of,
    first_after,
    offset_json,
    parse_offset,
)
from openmsmq.wire.errors import ConfigError
from openmsmq.wire.lookup_id import digest_text

ENTRY = QueueOffset("i-1", 100, 4711, 811, "9f3c000000000000")
JSON: dict[str, Any] = {
    "v": 1,
    "queues": {
        "a": {"inc": "i-1", "base": 100, "seq": 4711, "n": 811, "h": "9f3c000000000000"},
    },
}


def test_an_offset_is_the_documented_json() -> None:
    assert offset_json({"a": ENTRY}) == JSON
    assert parse_offset(JSON) == {"a": ENTRY}


def test_a_queue_that_is_gone_is_marked() -> None:
    gone = offset_json({"a": replace(ENTRY, gone=True)})
    assert gone["queues"]["a"] == {**JSON["queues"]["a"], "gone": True}
    assert parse_offset(gone) == {"a": replace(ENTRY, gone=True)}


def test_queues_are_in_order_whatever_the_order_they_came_in() -> None:
    found = offset_json({"b": ENTRY, "a": ENTRY})
    assert list(found["queues"]) == ["a", "b"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"v": 2, "queues": {}}, "offset of version 2; known is 1"),
        ({"queues": {}}, "offset of version None"),
        ({"v": 1, "queues": {"a": 5}}, "no usable offset of a: 5"),
        ({"v": 1, "queues": {"a": {"inc": "x", "base": 1}}}, "no usable offset of a"),
    ],
)
def test_what_is_no_offset_is_refused(value: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_offset(value)


def test_a_range_begins_behind_the_last_one() -> None:
    assert first_after(QueueOffset("i-1", 100, 4000), ENTRY) == 4000


def test_a_queue_that_is_new_or_new_again_is_read_from_its_own_beginning() -> None:
    assert first_after(None, ENTRY) == 100
    assert first_after(QueueOffset("i-0", 100, 5000), ENTRY) == 100


def test_a_first_batch_that_is_repeated_begins_where_it_began() -> None:
    assert first_after(QueueOffset("i-1", 5000, 5000), ENTRY) == 100


def test_the_digest_is_that_of_the_queue_manager(msmq: QueueManager) -> None:
    orders = msmq.create_queue(ORDERS)
    send(msmq, *map(str, range(50)))
    send(msmq, *map(str, range(50)), priority=7)
    plan = orders.ranges.plan(0)
    ids = np.array([m.lookup_id for m in orders.cursor()], np.uint64)
    assert digest_text(digest_of(ids)) == plan.digest
    assert digest_text(digest_of(ids[:30]), digest_of(ids[30:])) == plan.digest
