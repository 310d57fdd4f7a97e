"""A producing or consuming process: `python -m bench.peers.worker '{"client": ..., ...}'`.

Prints what the function of the client module returns, as JSON.
"""

import importlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .board import WINDOW, Consumer, Producer, open_board


@dataclass(frozen=True, slots=True)
class Task:
    """What a client program is to do."""

    address: str
    mode: str
    queue: str
    seconds: float = 0.0
    count: int = 0
    window: int = WINDOW
    batch: int = 1
    wait: bool = False


def main(text: str) -> Any:
    """Run one function of one client module."""
    order = json.loads(text)
    client = importlib.import_module(f"bench.peers.client_{order['client']}")
    board = open_board(Path(order["board"]))
    task = Task(**order["task"])
    function = order["function"]
    if function == "produce":
        return client.produce(task, Producer(board, count=task.count, window=task.window))
    if function == "consume":
        return client.consume(task, Consumer(board))
    return getattr(client, function)(task)


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))
