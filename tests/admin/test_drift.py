"""The number of definitions that differ from what there is."""

import asyncio
from pathlib import Path

import openmsmq
from openmsmq.admin.console import Console
from openmsmq.admin.drift import Drift
from openmsmq.admin.settings import ConsoleSettings


def test_differences_are_counted(msmq: openmsmq.QueueManager, tmp_path: Path) -> None:
    file = tmp_path / "definitions.toml"
    file.write_text('[[queues]]\npath = "private$\\\\orders"\n')

    async def count() -> list[int | None]:
        console = Console(ConsoleSettings(address=msmq.address, definitions=file))
        drift = Drift(console, file)
        found = [await drift.differences()]
        await asyncio.to_thread(msmq.create_queue, r".\private$\orders")
        found.append(await drift.differences())
        # A queue that cannot be replaced, because it holds a message, differs as well.
        orders = await asyncio.to_thread(msmq.open_queue, r".\private$\orders", "send")
        await asyncio.to_thread(orders.send_and_wait, "1")
        file.write_text('[[queues]]\npath = "private$\\\\orders"\ntransactional = true\n')
        found.append(await drift.differences())
        file.write_text("nonsense")
        found.append(await drift.differences())
        await console.stop()
        return found

    before, after, other, broken = asyncio.run(asyncio.wait_for(count(), 60))
    assert before is not None
    assert after == before - 1
    assert other == before
    assert broken is None
