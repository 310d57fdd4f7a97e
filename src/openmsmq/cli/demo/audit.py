"""The part of the demonstration that archives and audits messages with Spark."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from openmsmq import Message, QueueManager

from .transfer import WAIT_SECONDS, Pair

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from openmsmq.spark.pipelines.audit.auditing import AuditResult

READ_EXACTLY: Final = 120
READ: Final = 40
UNREAD: Final = 20
REFUSED: Final = 15
EXPIRED: Final = 5
SENT: Final = READ_EXACTLY + READ + UNREAD + REFUSED + EXPIRED
# What must come out, in the words of the audit.
EXPECTED: Final = {
    "read": READ_EXACTLY + READ,
    "arrived unread": UNREAD,
    "expired unread": EXPIRED,
    "rejected": REFUSED,
}
_ADMIN: Final = r".\private$\audit"
_ORDERS: Final = r".\private$\orders"
_NEWS: Final = r".\private$\news"


class Audited(NamedTuple):
    """What Spark found.

    Args:
        archived: how many messages of the sender's journal are in the archive.
        complete: whether the manifest of the archive proves that none is missing.
        counts: how many messages are in which state; only states that there are.
        sends: how many messages were sent.
        report: the report of the audit.
    """

    archived: int
    complete: bool
    counts: dict[str, int]
    sends: int
    report: Path

    @property
    def good(self) -> bool:
        return self.complete and self.counts == EXPECTED and self.sends == SENT


def send_messages(pair: Pair) -> None:
    """Send messages of different fates, and let the application at the other end read some."""
    pair.sender.create_queue(_ADMIN)
    pair.receiver.create_queue(_ORDERS, transactional=True, journal=True)
    pair.receiver.create_queue(_NEWS, journal=True)
    admin = rf"DIRECT=TCP:{pair.sender_address}\private$\audit"

    def send(queue: str, count: int, label: str, *, life: int | None = None) -> None:
        messages = (
            Message(
                f"{label} {number}",
                f"{label} {number}",
                delivery="recoverable",
                journal=True,
                acknowledge="full",
                admin_queue=admin,
                time_to_be_received=life,
            )
            for number in range(count)
        )
        target = rf"DIRECT=TCP:{pair.receiver_address}\private$\{queue}"
        with pair.sender.open_queue(target, access="send") as opened:
            opened.send_many(messages, transaction="single" if label == "order" else None)

    send("orders", READ_EXACTLY, "order")
    send("news", READ, "news")
    # A transactional queue takes none that come without a transaction.
    send("orders", REFUSED, "careless order")
    _receive(pair.receiver, _ORDERS, READ_EXACTLY)
    _receive(pair.receiver, _NEWS, READ)
    send("news", UNREAD, "later news")
    send("news", EXPIRED, "old news", life=1)
    _wait_for_fates(pair)


def audit_messages(pair: Pair, folder: Path) -> Audited:
    """Archive what was sent and audit it with Spark."""
    with _spark() as spark:
        from openmsmq.spark.pipelines.archive.archiving import archive

        sender = pair.sender.address
        archived = archive(
            spark, folder / "archive", kind="journal", verify=True, options={"endpoint": sender}
        )
        audited = _audit(spark, pair, folder)
    counts = {str(state): count for state, count in audited.counts.items() if count}
    verified = archived.verification
    return Audited(
        archived.messages,
        verified is not None and verified.complete,
        counts,
        audited.sends,
        folder / "audit" / "report.html",
    )


def _audit(spark: "SparkSession", pair: Pair, folder: Path) -> "AuditResult":
    from openmsmq.spark.pipelines.audit.auditing import audit
    from openmsmq.spark.pipelines.sources import read_source

    def read(manager: QueueManager, *queues: str, kind: str = "queue") -> "DataFrame":
        options = {"endpoint": manager.address, "queues": ",".join(queues), "kind": kind}
        return spark.read.format("msmq").options(**options).load()

    sends = read_source(spark, str(folder / "archive"))
    evidence = [
        read(pair.sender, _ADMIN),
        read(pair.receiver, _ORDERS, _NEWS),
        read(pair.receiver, _ORDERS, _NEWS, kind="journal"),
    ]
    return audit(sends, evidence, output=folder / "audit")


@contextmanager
def _spark() -> "Iterator[SparkSession]":
    from openmsmq.cli.pipeline.command import spark_session

    with spark_session(None) as spark:
        yield spark


def _receive(manager: QueueManager, queue: str, count: int) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    with manager.open_queue(queue) as opened:
        while count and time.monotonic() < deadline:
            count -= len(opened.receive_many(count, timeout=1.0))


def _wait_for_fates(pair: Pair) -> None:
    """Wait until every message has arrived, was read, was refused or has expired."""
    deadline = time.monotonic() + WAIT_SECONDS
    arrived, read = SENT - REFUSED, READ_EXACTLY + READ
    wanted = (SENT, arrived + read + REFUSED + EXPIRED)
    while time.monotonic() < deadline:
        with (
            pair.sender.open_queue(";journal", access="peek") as journal,
            pair.sender.open_queue(_ADMIN, access="peek") as admin,
        ):
            counts = tuple(sum(1 for _ in queue.cursor()) for queue in (journal, admin))
        if counts == wanted:
            return
        time.sleep(0.1)
