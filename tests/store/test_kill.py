"""A real process on a real disk, killed while it commits: what it reported is there."""

import subprocess
import sys
import time
from pathlib import Path
from random import Random

from tests.store.model import commit, held, maintain, packet

from openmsmq.store.check import check_store
from openmsmq.store.file_store import FileStore
from openmsmq.store.options import Options
from openmsmq.wire.batch import Batch

OPTIONS = Options(segment_size=1 << 18, snapshot_interval=1 << 19, reserve=1 << 14)
ROUNDS = 6


def work(directory: Path) -> None:
    """Put and delete for ever; report the last key of each commit after it is finished."""
    store = FileStore(directory, new_store_id=bytes(16), options=OPTIONS)
    keys = [key for key, _, _ in store.recover().messages]
    key = max(keys, default=0)
    random = Random(key)
    while True:
        batch = Batch()
        for _ in range(random.randrange(1, 30)):
            key += 1
            batch.put(key, b"%d" % key, packet(key, random.randrange(2000)))
            keys.append(key)
        # The oldest go, so that what is live is always a range that ends with the last key.
        while len(keys) > 200:
            batch.delete(keys.pop(0))
        batch.set_row(1, b"last", b"%d" % key)
        commit(store, [batch])
        print(key, flush=True)
        if random.random() < 0.3:
            maintain(store)


def test_a_killed_process_loses_nothing_that_it_reported(tmp_path: Path) -> None:
    random = Random(5)
    reported = 0
    for _ in range(ROUNDS):
        child = subprocess.Popen(
            [sys.executable, "-m", "tests.store.test_kill", str(tmp_path)],
            stdout=subprocess.PIPE,
            text=True,
        )
        with child:
            assert child.stdout is not None
            last = int(child.stdout.readline())
            time.sleep(random.uniform(0, 0.3))
            child.kill()
            for line in child.stdout:
                if line.endswith("\n"):
                    last = int(line)
        assert check_store(tmp_path).sound
        store = FileStore(tmp_path, new_store_id=bytes(16), options=OPTIONS)
        model = held(store, store.recover())
        keys = list(model.messages)
        found = int(model.rows[1, b"last"])
        assert found >= last > reported
        assert keys == list(range(keys[0], found + 1))
        assert len(keys) <= 200
        for key, (record, contents) in model.messages.items():
            assert record == b"%d" % key
            assert contents == packet(key, len(contents))
        store.close()
        reported = found


if __name__ == "__main__":
    work(Path(sys.argv[1]))
