"""Rows for Spark from blocks of real packets: all columns at once beside one row at a time.

Reproduce with `python -m bench spark-decoder`; add `--json` for one object per line.

The packets are built by the client, 2,000 to a block as the data source asks for them: bodies of
1 KiB, labels all different, every tenth with a correlation id. The floor is the `RowDecoder`; the
figure is the time of the `BlockDecoder` as a part of its time, which may be a third at most. Every
round runs all of them in turn; the figures are medians over the rounds.
"""

import random
import statistics
from collections.abc import Callable
from functools import partial
from itertools import accumulate
from time import perf_counter
from typing import Final
from uuid import UUID

import pyarrow as pa

from bench.report import Result
from openmsmq.client.logic.packet_templates import Sender
from openmsmq.client.logic.packets import PacketBuilder
from openmsmq.client.message import Message
from openmsmq.spark.columns import Packets, message_schema
from openmsmq.spark.decoding.block_decoder import BlockDecoder
from openmsmq.spark.decoding.row_decoder import RowDecoder
from openmsmq.wire.message.user_message_patch import stamp_many
from openmsmq.wire.security.sid import SID

MESSAGES: Final = 2000
BODY_SIZE: Final = 1024
ROUNDS: Final = 15
LIMIT: Final = 1 / 3

_SOURCE: Final = UUID("6f7a1c52-93a0-4d0c-8f0e-0f6e7a1b2c3d")
_FEW: Final = ("queue", "lookup_id", "label", "body")


def make_block(*, transactional: bool, text: bool) -> Packets:
    """What a queue manager answers to a read of a range."""
    dice = random.Random(1)
    sender = Sender(computer_name="shop", sid=SID(5, (21, 1, 2, 3, 1001)).serialize())
    builder = PacketBuilder(sender, transactional=transactional)
    packets = []
    for number in range(MESSAGES):
        body = f'{{"order": {number}, "note": "{dice.randbytes(BODY_SIZE).hex()}"}}'[
            : BODY_SIZE - 2
        ]
        message = Message(
            (body + '"}').encode() if text else dice.randbytes(BODY_SIZE),
            f"order {dice.randrange(10**9)} of customer {number}",
            admin_queue=r".\private$\receipts",
            response_queue=r"DIRECT=TCP:127.0.0.3\private$\answers",
            acknowledge="full",
            app_specific=number,
            correlation_id=f"{{{_SOURCE}}}\\{number}" if number % 10 == 0 else None,
        )
        packets.append(builder.build(message))
    stamped = stamp_many(packets, _SOURCE.bytes_le, 1, 1_700_000_000)
    return Packets(
        b"".join(stamped),
        list(accumulate(map(len, stamped))),
        list(range(1, MESSAGES + 1)),
        [1_700_000_000.25 + number / 1000 for number in range(MESSAGES)],
    )


def run() -> list[Result]:
    plain, transactional = (make_block(transactional=kind, text=False) for kind in (False, True))
    text = make_block(transactional=False, text=True)
    schema = message_schema()
    few = pa.schema([schema.field(name) for name in _FEW])
    cases: dict[str, tuple[Packets, pa.Schema, str]] = {
        "all columns": (plain, schema, "binary"),
        "all columns, transactional": (transactional, schema, "binary"),
        "all columns and the text": (text, message_schema(body_format="json"), "json"),
        "four columns": (plain, few, "binary"),
    }
    work: dict[str, tuple[Callable[[], pa.RecordBatch], Callable[[], pa.RecordBatch]]] = {}
    for name, (block, columns, body_format) in cases.items():
        by_row = RowDecoder(columns, queue="q", queue_kind="queue", body_format=body_format)
        by_column = BlockDecoder(columns, queue="q", queue_kind="queue", body_format=body_format)
        assert by_row.decode(block).equals(by_column.decode(block))
        work[name] = (partial(by_row.decode, block), partial(by_column.decode, block))
    seconds: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in work}
    for _ in range(ROUNDS):
        for name, pair in work.items():
            for decode, rounds in zip(pair, seconds[name], strict=True):
                start = perf_counter()
                decode()
                rounds.append(perf_counter() - start)
    results = []
    for name, (of_rows, of_columns) in seconds.items():
        floor, taken = statistics.median(of_rows), statistics.median(of_columns)
        results.append(Result(f"{name}: floor, a row at a time", MESSAGES / floor))
        results.append(Result(f"{name}: a block at a time", MESSAGES / taken, taken / floor, LIMIT))
    return results
