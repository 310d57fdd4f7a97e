"""What must be so whenever a node starts, and when everything is over."""

from __future__ import annotations

from openmsmq.core.rows.packets import packets_of
from openmsmq.core.rows.tables import Table
from openmsmq.protocol.cleanup import STREAM_TIMER
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.user_message import UserMessage

from .applications import ORDERED, PLAIN
from .ledger import EXPRESS, Entry, Ledger, Violation
from .node import Node


def check_start(node: Node, ledger: Ledger) -> None:
    """A start finds on disk what clients were told, and nothing of what they have received.

    Raises:
        Violation: something was said too early.
    """
    shown, node.shown = node.shown, {}
    here, tags = _on_disk(node)
    for lookup_id, packet in shown.items():
        entry = ledger.entries[UserMessage(packet).label]
        if node.retries:
            # It may have been moved, and have another lookup id.
            found = entry.tag in tags or bool(entry.received)
        else:
            found = lookup_id in here or lookup_id in _lookup_ids(entry)
        if _stays(entry) and not found:
            raise Violation(f"a start of {node.name} does not find what was shown: {entry}")
    for entry in ledger.entries.values():
        if entry.kind == EXPRESS:
            continue
        if entry.destination is node and any(
            here.get(lookup_id) == entry.tag for lookup_id in _lookup_ids(entry)
        ):
            raise Violation(f"a start of {node.name} finds what was received: {entry}")
        if entry.source is node and entry.sent and _stays(entry):
            left = entry.transmitted or entry.received
            if not left and entry.tag not in tags:
                raise Violation(f"a start of {node.name} does not find what was sent: {entry}")


def _on_disk(node: Node) -> tuple[dict[int, str], set[str]]:
    """The tags of messages by lookup id that are here to be read, and all that are on disk."""
    state = node.qm.state
    here: dict[int, str] = {}
    tags = set()
    paths = [path for path in state.paths if path.partition(";")[0] in (PLAIN, ORDERED)]
    for path in paths:
        queue = state.paths[path]
        messages = [*queue.lanes, *queue.delayed.values(), *queue.locked.values()]
        for message, packet in zip(messages, packets_of(state, messages), strict=True):
            here[message.lookup_id] = UserMessage(packet).label
    for queue in state.outgoing.values():
        for packet in packets_of(state, [*queue.lanes, *queue.delayed.values()]):
            view = UserMessage(packet)
            if view.message_class == MessageClass.NORMAL:
                tags.add(view.label)
    tags.update(here.values())
    return here, tags


def _stays(entry: Entry) -> bool:
    """Whether the message stays until it is received."""
    return entry.kind != EXPRESS and not entry.expires and not entry.purged


def _lookup_ids(entry: Entry) -> list[int]:
    return [lookup_id for lookup_id, _ in entry.received]


def check_leaks(node: Node) -> None:
    """Nothing is left in memory or on disk that serves no message."""
    state = node.qm.state
    binary = node.binary
    streams = binary._transfers.streams
    found = {
        "clients": len(node.clients),
        "waiting reads": sum(len(queue.waiting) for queue in state.queues.values()),
        "locked messages": sum(len(queue.locked) for queue in state.queues.values()),
        "delayed messages": sum(len(queue.delayed) for queue in state.queues.values()),
        "uncommitted sends": sum(len(queue.pending) for queue in state.queues.values()),
        "held replies": node.engine.gate.holds,
        "messages waiting for checks": node.qm.incoming.checks.waiting,
        "bytes waiting for checks": node.qm.incoming.checks.bytes,
        "received bytes": binary._receiver.backlog.total,
        "transactions": len(state.transactions),
        "descriptors": len(state.descriptors),
        "expiry timers": sum(len(bucket) for bucket in state.expiry._buckets.values()),
        "unstored changes": len(state.outbox.batch),
        "connections": len(binary._connections.by_number),
        "waiting for disk": len(binary._waiting),
        "timers": len(binary._timers._deadlines.keys() - {STREAM_TIMER}),
        "counted streams": state.stream_count.total
        - sum(len(queue.incoming) for queue in state.queues.values())
        - len(state.abandoned_streams),
        "forwarded messages": len(state.forwarded.addresses),
        "history": len(state.message_history),
        "awaiting final acks": len(streams.awaiting),
        "positions": sum(len(each.in_flight) for each in streams.streams.values()),
        "awaited": sum(each.awaiting for each in streams.streams.values()),
    }
    if node.srmp is not None and node.http is not None:
        web = node.srmp._sender
        found |= {
            "history of SRMP": len(state.srmp_history),
            "HTTP connections": len(node.http.server) + len(node.http.client._connections),
            "HTTP waiting for disk": len(web._waiting),
            "stream receipts": len(node.srmp._stream_receipts._streams),
            "awaiting final receipts": len(web.streams.awaiting),
            "positions over HTTP": sum(
                len(each.in_flight) for each in web.streams.streams.values()
            ),
            "timers of SRMP": len(node.srmp._timers._deadlines.keys() - {STREAM_TIMER}),
        }
    express = sum(
        1 for queue in state.queues.values() for message in queue.lanes if not message.traits & 1
    )
    found["scratch"] = max(len(state.scratch_handles) - express, 0)
    _no_leaks(node, found)


def check_rows(node: Node) -> None:
    """Nothing is left on disk that serves no message; after a start."""
    rows: dict[int, int] = {}
    for table, _, _ in node.rows:
        rows[table] = rows.get(table, 0) + 1
    outgoing = len(node.qm.state.outgoing)
    found = {
        "rows of transactions": rows.get(Table.TRANSACTIONS, 0),
        "rows of the history": rows.get(Table.HISTORY, 0),
        "rows of the history of SRMP": rows.get(Table.SRMP_HISTORY, 0),
        # One for the last sequence, one for each outgoing queue at most.
        "rows of sequences": max(rows.get(Table.SEQUENCES, 0) - 1 - outgoing, 0),
    }
    _no_leaks(node, found)


def _no_leaks(node: Node, found: dict[str, int]) -> None:
    leaks = {what: count for what, count in found.items() if count}
    if leaks:
        raise Violation(f"{node.name} leaks {leaks}")


def check_restart(node: Node) -> None:
    """What a start finds on disk is what is in memory, but for express messages."""
    memory = picture(node, recoverable_only=True)
    node.crash(0.0)
    node.world.run_until(node.world.now)
    disk = picture(node, recoverable_only=False)
    if memory != disk:
        for path in sorted(memory.keys() | disk.keys()):
            if memory.get(path) != disk.get(path):
                raise Violation(
                    f"{node.name} restarts with {path} {disk.get(path)}, not {memory.get(path)}"
                )


def picture(node: Node, *, recoverable_only: bool) -> dict[str, list[tuple[int, int]]]:
    """The messages of each queue: lookup id and traits."""
    queues = {}
    for queue in node.qm.state.queues.values():
        messages = [
            (message.lookup_id, message.traits)
            for message in queue.lanes
            if message.traits & 1 or not recoverable_only
        ]
        if messages:
            queues[queue.path] = messages
    return queues
