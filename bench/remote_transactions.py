"""Receive from a queue of another machine and send to one here, in one transaction.

Reproduce with `python -m bench remote-transactions`; add `--json` for one object per line.

Two queue managers, each with its own file store; one program receives 100 messages of 1 KiB from
the remote queue and sends them to a local one in a transaction that both take part in. Beside it,
in turn, the same receives without a transaction. Figures are medians over the rounds.
"""

import statistics
import tempfile
import time
from typing import Final

import openmsmq
from bench.report import Result

MESSAGES: Final = 3_000
ROUNDS: Final = 3
BATCH: Final = 100
HERE: Final = "127.0.93.2"
THERE: Final = "127.0.93.3"
BODY: Final = bytes(1024)
SOURCE: Final = r".\private$\source"
TARGET: Final = r".\private$\target"
# How many times the time of plain receives the same in transactions may take.
LIMIT: Final = 2.0
_SECONDS: Final = 10.0


def plain(source: openmsmq.Queue, count: int) -> None:
    """Receive messages without a transaction."""
    done = 0
    while done < count:
        done += len(source.receive_many(BATCH, timeout=_SECONDS))


def transactional(
    manager: openmsmq.QueueManager, source: openmsmq.Queue, target: openmsmq.Queue, count: int
) -> None:
    """Receive messages and send them on, a batch in each transaction."""
    done = 0
    while done < count:
        with manager.transaction() as transaction:
            messages = source.receive_many(BATCH, timeout=_SECONDS, transaction=transaction)
            target.send_many([message.body_bytes for message in messages], transaction)
        done += len(messages)


def run(count: int = MESSAGES, rounds: int = ROUNDS) -> list[Result]:
    ports = {"rpc_port": 2103, "rpc_minimum_level": "none"}
    with (
        tempfile.TemporaryDirectory(prefix="openmsmq-transactions-") as folder,
        openmsmq.embedded(f"{folder}/here", bind=HERE, **ports) as here,
        openmsmq.embedded(
            f"{folder}/there", bind=THERE, coordinator_hosts=(HERE,), **ports
        ) as there,
    ):
        here.create_queue(TARGET, transactional=True)
        with there.create_queue(SOURCE, transactional=True) as queue:
            there.grant(SOURCE, "anonymous", ["full"])
            queue.send_many([BODY] * (2 * count * rounds), transaction="single")
        source = here.open_queue(rf"DIRECT=TCP:{THERE}\private$\source")
        target = here.open_queue(TARGET, "send")
        rates: dict[str, list[float]] = {"plain": [], "transactional": []}
        for _ in range(rounds):
            began = time.monotonic()
            plain(source, count)
            rates["plain"].append(count / (time.monotonic() - began))
            began = time.monotonic()
            transactional(here, source, target, count)
            here.flush()
            rates["transactional"].append(count / (time.monotonic() - began))
    floor, rate = (statistics.median(rates[name]) for name in ("plain", "transactional"))
    return [
        Result("received without a transaction", floor),
        Result("received and sent on in transactions", rate, floor / rate, LIMIT),
    ]
