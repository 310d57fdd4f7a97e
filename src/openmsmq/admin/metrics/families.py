"""The series of the queue manager as a whole, of its links, its store and its console."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from openmsmq.admin.meters import REQUEST_BOUNDS, ConsoleMeters
from openmsmq.admin.picture import Picture
from openmsmq.admin.surroundings import Surroundings

from .text import Family, histogram, labelled, labels, listed, number, single

# Reasons of ended sessions and clients that are protocol errors.
_VIOLATIONS: Final = ("protocol", "malformed", "violation", "faulty")
_HELP: Final = {
    "msmq_deleted_messages_total": "Messages that left a queue unread.",
    "msmq_dead_letters_total": "Messages that were put into a dead-letter queue.",
}


def manager_families(picture: Picture) -> Iterator[Family]:
    """The queue manager, its process, transactions and sessions."""
    head = picture.head
    status, process = head["status"], head["process"]
    yield labelled(
        "msmq_info",
        "info",
        "The queue manager.",
        [(labels(name=status["name"], guid=status["guid"], version=status["version"]), 1)],
    )
    ready = status["state"].lower() == "ready"
    yield single("msmq_ready", "gauge", "1 when it is ready, else 0.", int(ready))
    yield single("msmq_start_time_seconds", "gauge", "When it started.", process["start_time"])
    for key, description in (
        ("throttled", "1 while new messages are refused: disk full."),
        ("quota_used_up", "1 while new messages are refused: quota of all queues used up."),
        ("online", "1 while it talks to other queue managers, else 0."),
    ):
        yield single(f"msmq_{key}", "gauge", description, int(status[key]))
    kinds = Counter(queue.kind for queue in picture.queues.values())
    kinds["outgoing"] = status["outgoing_queues"]
    yield labelled(
        "msmq_queues",
        "gauge",
        "Queues by kind.",
        [(labels(kind=kind), count) for kind, count in sorted(kinds.items())],
    )
    for name, key, description in (
        ("messages", "messages", "Messages in all queues."),
        ("bytes", "bytes", "Bytes of the messages in all queues."),
        ("memory_bytes", "memory_bytes", "Bytes of messages in memory."),
        ("disk_bytes", "disk_bytes", "Bytes of the store on disk."),
        ("clients", "clients", "Connected clients."),
        ("awaiting_final_ack", "awaiting_final_ack", "Delivered messages of unknown fate."),
    ):
        yield single(f"msmq_{name}", "gauge", description, status[key])
    yield single(
        "msmq_disk_free_bytes",
        "gauge",
        "Bytes free on the disk of the store.",
        process["disk_free_bytes"],
    )
    yield single("msmq_streams", "gauge", "Incoming ordered streams.", head["streams"])
    yield _histogram(
        "msmq_event_loop_lag_seconds",
        "How late the event loop is.",
        process["event_loop_lag_seconds"],
    )
    transactions = head["transactions"]
    yield labelled(
        "msmq_transactions",
        "gauge",
        "Open transactions by state.",
        [(labels(state=state), transactions[state]) for state in ("active", "prepared")],
    )
    yield single(
        "msmq_oldest_transaction_age_seconds",
        "gauge",
        "Age of the oldest open transaction.",
        transactions["oldest_age_seconds"],
    )
    yield labelled(
        "msmq_sessions",
        "gauge",
        "Sessions with other queue managers.",
        [
            (labels(protocol=each["protocol"], direction=each["direction"]), each["count"])
            for each in picture.sessions
        ],
    )
    yield from _process(process)


def _histogram(name: str, description: str, record: dict[str, Any]) -> Family:
    return histogram(name, description, record["bounds"], record["counts"], record["sum"])


def _process(process: dict[str, Any]) -> Iterator[Family]:
    """The standard ones of a process, for the queue manager."""
    for name, kind, key, description in (
        ("process_cpu_seconds_total", "counter", "cpu_seconds", "Processor time."),
        ("process_start_time_seconds", "gauge", "start_time", "When the process started."),
        ("process_resident_memory_bytes", "gauge", "resident_bytes", "Resident memory."),
        ("process_virtual_memory_bytes", "gauge", "virtual_bytes", "Virtual memory."),
        ("process_open_fds", "gauge", "open_files", "Open files."),
        ("process_max_fds", "gauge", "max_files", "Files that may be open."),
    ):
        yield single(name, "counter" if kind == "counter" else "gauge", description, process[key])


def count_families(picture: Picture) -> Iterator[Family]:
    """Every counter that the queue manager declares, with its labels."""
    found: dict[str, list[tuple[str, float]]] = {}
    violations: Counter[str] = Counter()
    for name, keys, values, count in picture.head["counts"]:
        named = dict(zip(keys, values, strict=True))
        found.setdefault(name, []).append((labels(**named) if named else "", count))
        if name == "msmq_closed_sessions_total":
            broken = any(word in named["reason"].lower() for word in _VIOLATIONS)
            violations[named["protocol"]] += count if broken else 0
        elif name == "msmq_clients_total" and named["event"] == "faulty":
            violations[named["protocol"]] += count
    for name, series in found.items():
        yield labelled(name, "counter", _HELP.get(name, "See docs/management.md."), series)
    for session in picture.sessions:
        violations[session["protocol"]] += 0
    violations["local"] += 0
    yield labelled(
        "msmq_protocol_violations_total",
        "counter",
        "Connections closed for a broken protocol.",
        [(labels(protocol=name), count) for name, count in sorted(violations.items())],
    )
    yield labelled(
        "msmq_dead_letter_messages",
        "gauge",
        "Messages in dead-letter queues by class.",
        [
            (labels(queue=queue, **{"class": word}), count)
            for queue, classes in picture.dead_letters.items()
            for word, count in classes.items()
        ],
    )


def outgoing_families(picture: Picture, utc: float) -> Iterator[Family]:
    """Outgoing queues by destination."""
    rows = [(labels(destination=each["destination"]), each) for each in picture.outgoing]
    for name, key, description in (
        ("messages", "messages", "Messages that wait to be sent."),
        ("bytes", "bytes", "Their bytes."),
        ("unacknowledged", "unacknowledged", "Messages that were sent and not acknowledged."),
        ("awaiting_final_ack", "awaiting_final_ack", "Delivered messages of unknown fate."),
        ("connected", "connected", "1 while a session is open."),
        ("paused", "paused", "1 while it is paused."),
    ):
        yield labelled(
            f"msmq_outgoing_{name}",
            "gauge",
            description,
            [(mark, int(each[key])) for mark, each in rows],
        )
    yield labelled(
        "msmq_outgoing_oldest_message_age_seconds",
        "gauge",
        "How long the oldest message has waited; 0 for none.",
        [
            (mark, round(max(utc - each["oldest_arrived"], 0), 3) if each["oldest_arrived"] else 0)
            for mark, each in rows
        ],
    )
    for name, key, description in (
        ("sent_messages_total", "sent_messages", "Messages that arrived."),
        ("connect_failures_total", "connect_failures", "Attempts to connect that failed."),
    ):
        yield labelled(
            f"msmq_outgoing_{name}",
            "counter",
            description,
            [(mark, each[key]) for mark, each in rows],
        )


def store_families(picture: Picture) -> Iterator[Family]:
    """The store."""
    status, process = picture.head["status"], picture.head["process"]
    yield _histogram(
        "msmq_store_flush_seconds",
        "How long a write with its flush took.",
        process["flush_seconds"],
    )
    yield _histogram(
        "msmq_store_batch_messages", "Messages and rows in a write.", process["batch_messages"]
    )
    yield single(
        "msmq_store_written_bytes_total",
        "counter",
        "Bytes written to the log.",
        process["written_bytes"],
    )
    yield single("msmq_store_segments", "gauge", "Files of the log.", process["segments"])
    yield single(
        "msmq_store_stored_messages", "gauge", "Messages on disk.", status["stored_messages"]
    )


def surroundings_families(surroundings: Surroundings) -> Iterator[Family]:
    """Certificates, and wrong clocks of other queue managers."""
    yield labelled(
        "msmq_certificate_end_timestamp_seconds",
        "gauge",
        "When a certificate of the configuration ends; 0 if it cannot be read.",
        [
            (labels(key=key), 0 if isinstance(end, str) else end)
            for key, end in surroundings.certificates.items()
        ],
    )
    yield labelled(
        "msmq_clock_ahead_seconds",
        "gauge",
        "By how much the clock of another queue manager is ahead, above console_clock_seconds.",
        [(labels(peer=peer), round(ahead, 3)) for peer, ahead in surroundings.clocks.items()],
    )


def console_families(meters: ConsoleMeters, restarts: int) -> Iterator[Family]:
    """The console itself."""
    yield labelled(
        "msmq_console_requests_total",
        "counter",
        "Requests to the console.",
        [
            (labels(route=route, status=str(status)), count)
            for (route, status), count in sorted(meters.requests.items())
        ],
    )
    yield histogram(
        "msmq_console_request_seconds",
        "How long requests to the console took.",
        REQUEST_BOUNDS,
        meters.request_seconds,
        meters.request_seconds_sum,
    )
    yield single("msmq_console_streams", "gauge", "Live pages.", meters.streams)
    yield labelled(
        "msmq_console_jobs",
        "gauge",
        "Jobs by state.",
        [(labels(state=state), count) for state, count in sorted(meters.jobs().items())],
    )
    yield labelled(
        "msmq_console_sign_ins_total",
        "counter",
        "Sign-ins to the console.",
        [(labels(result=result), count) for result, count in sorted(meters.sign_ins.items())],
    )
    yield single(
        "msmq_console_restarts_total",
        "counter",
        "How often the console was started again.",
        restarts,
    )
    if meters.drift is not None:
        yield listed(
            "msmq_definitions_drift",
            "gauge",
            "Definitions that differ from what there is.",
            lambda: (f"msmq_definitions_drift {number(meters.drift or 0)}",),
        )
