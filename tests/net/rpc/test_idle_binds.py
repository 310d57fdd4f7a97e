"""What connections cost that bind and then do nothing."""

import asyncio
import gc
import multiprocessing
import resource
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
import uvloop
from tests.net.rpc.serving import Serving
from tests.protocol.rpc.harness import bind_pdu

from openmsmq.protocol.rpc import RpcSettings

PER_ADDRESS = 1000
# 100 MB for 10,000.
LIMIT_BYTES = 10_000
SECONDS = 100


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def serve(pipe: Connection, count: int) -> None:
    async def main() -> None:
        settings = RpcSettings(max_unbound=count, max_connections_per_address=PER_ADDRESS)
        serving = Serving(settings, bind="127.0.0.1")
        port = await serving.listen()
        gc.collect()
        before = resident_bytes()
        pipe.send(port)
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, pipe.recv)
        assert len(serving.server) == count
        gc.collect()
        pipe.send(resident_bytes() - before)
        await loop.run_in_executor(None, pipe.recv)

    uvloop.run(main())


async def bind_many(port: int, count: int) -> list[asyncio.StreamWriter]:
    writers = []
    for number in range(count):
        local = f"127.0.1.{number // PER_ADDRESS + 1}"
        reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(local, 0))
        writer.write(bind_pdu())
        assert (await reader.readexactly(16))[2] == 12
        writers.append(writer)
    return writers


@pytest.mark.timeout(SECONDS + 20)
@pytest.mark.parametrize("count", [1000, pytest.param(10_000, marks=pytest.mark.soak)])
def test_an_idle_bind_costs_little_memory(count: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < count + 200:
        pytest.skip(f"needs {count + 200} open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    server = context.Process(target=serve, args=(there, count))
    server.start()

    async def main() -> int:
        loop = asyncio.get_running_loop()
        port = await loop.run_in_executor(None, here.recv)
        writers = await bind_many(port, count)
        here.send("measure")
        used: int = await loop.run_in_executor(None, here.recv)
        for writer in writers:
            writer.transport.abort()
        return used

    async def limited() -> int:
        async with asyncio.timeout(SECONDS):
            return await main()

    try:
        used = uvloop.run(limited())
        here.send("stop")
    finally:
        server.join(10)
        server.kill()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    print(f"{used / count:.0f} bytes per connection")
    assert used / count < LIMIT_BYTES
