"""Which queues a query reads, and which kind they are of."""

from types import SimpleNamespace
from typing import Any

import pytest

from openmsmq.spark.options.records import ReadOptions
from openmsmq.spark.readers.queue_selection import select_queues
from openmsmq.wire.errors import ConfigError

MANAGER: Any = SimpleNamespace(identity=SimpleNamespace(name="alpha", guid="", names=frozenset()))
GUID = "11111111-2222-3333-4444-555555555555"
LEASE = {"consume": "lease", "consumerName": "x"}


@pytest.mark.parametrize(
    ("options", "name", "kind"),
    [
        ({"queue": r".\private$\o"}, r"DIRECT=OS:alpha\private$\o", "queue"),
        (
            {"queue": r".\private$\o", "kind": "journal"},
            r"DIRECT=OS:alpha\private$\o;JOURNAL",
            "journal",
        ),
        ({"queue": r".\private$\o;journal"}, r"DIRECT=OS:alpha\private$\o;JOURNAL", "journal"),
        ({"queue": r".\private$\o\Journal$"}, r"DIRECT=OS:alpha\private$\o;JOURNAL", "journal"),
        (
            {"queue": r"DIRECT=OS:alpha\private$\o;journal"},
            r"DIRECT=OS:alpha\private$\o;JOURNAL",
            "journal",
        ),
        ({"queue": f"PRIVATE={GUID}\\1;journal"}, f"PRIVATE={GUID}\\1;JOURNAL", "journal"),
        ({"queue": f"PRIVATE={GUID}\\1"}, f"PRIVATE={GUID}\\1", "queue"),
        ({"queue": "MULTICAST=234.1.1.1:8001"}, "MULTICAST=234.1.1.1:8001", "queue"),
        ({"kind": "journal"}, r"DIRECT=OS:alpha\system$;JOURNAL", "journal"),
        ({"kind": "deadletter"}, r"DIRECT=OS:alpha\system$;DEADLETTER", "deadletter"),
        ({"kind": "xact_deadletter"}, r"DIRECT=OS:alpha\system$;DEADXACT", "xact_deadletter"),
        ({"queue": f"MACHINE={GUID};deadxact"}, f"MACHINE={GUID};DEADXACT", "xact_deadletter"),
        (
            {"queue": r".\private$\o", "subqueue": "s"},
            r"DIRECT=OS:alpha\private$\o;s",
            "subqueue",
        ),
        ({"queue": r".\private$\o;s"}, r"DIRECT=OS:alpha\private$\o;s", "subqueue"),
    ],
)
def test_the_kind_is_what_the_whole_name_says(
    options: dict[str, str], name: str, kind: str
) -> None:
    (found,) = select_queues(MANAGER, ReadOptions.parse(options))
    assert (found.name.lower(), found.kind) == (name.lower(), kind)


@pytest.mark.parametrize("queue", [r".\private$\o;journal", r".\private$\o;s", ";deadletter"])
def test_what_has_no_subqueues_cannot_be_leased_however_it_is_named(queue: str) -> None:
    with pytest.raises(ConfigError, match="lease needs queues that have subqueues"):
        ReadOptions.parse({"queue": queue, **LEASE})


def test_queues_can_be_leased() -> None:
    names = r".\private$\o,DIRECT=OS:alpha\private$\p"
    assert len(ReadOptions.parse({"queues": names, **LEASE}).queues) == 2
