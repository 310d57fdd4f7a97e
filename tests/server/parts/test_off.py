"""Parts that the configuration turns off."""

import asyncio
import subprocess
import sys
from pathlib import Path

from openmsmq.server.parts.off import OffPart
from openmsmq.server.parts.part import PartStatus

SERVE = """
import sys
import openmsmq
ports = ("binary", "ping", "rpc", "qm2qm", "http")
with openmsmq.embedded(sys.argv[1], **{f"{port}_port": "off" for port in ports}):
    print([name for name in sys.modules if name.startswith("openmsmq.protocol.remote_read")])
"""


def test_a_part_that_is_off_does_nothing() -> None:
    async def main() -> None:
        part = OffPart("rpc")
        assert (await part.listen(), part.status(), part.reloads) == ({}, PartStatus({}), {})
        await part.close()

    asyncio.run(main())


def test_protocols_of_rpc_are_not_loaded_while_its_ports_are_off(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SERVE, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == "[]\n"
