"""`openmsmq events`."""

import json
import subprocess
from datetime import UTC, datetime

from tests.cli.running import Manager, interrupt


def test_the_newest_events_are_shown(manager: Manager, queue: str) -> None:
    path = queue.removeprefix(".\\")
    assert f"queue-created  {path}" in manager.run("events").out
    events = [json.loads(line) for line in manager.run("events", "--json").out.splitlines()]
    assert ("queue-created", path) in [(each["kind"], each["queue"]) for each in events]
    assert all(datetime.fromisoformat(each["time"]).tzinfo is UTC for each in events)


def test_following_shows_what_happens_until_it_is_interrupted(manager: Manager, queue: str) -> None:
    path = queue.removeprefix(".\\")
    with manager.start("events", "--follow", "--json", stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        manager.run("queue", "set", queue, "--label", "followed")
        events = map(json.loads, process.stdout)
        assert any((each["kind"], each["queue"]) == ("queue-changed", path) for each in events)
        assert interrupt(process) == 0
