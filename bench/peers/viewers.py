"""People at a console, in a process of their own: live pages, scrapes, searches.

Arguments: the address of the console, a token, how many look, whether one of them searches. They
run at a low priority, since people look from other machines.
"""

import asyncio
import os
import sys
from typing import Final

SCRAPE_SECONDS: Final = 5.0
# What each viewer has open, in turn.
PAGES: Final = ("/", "/queues", "/queues/private$%255Cbusy")


class Viewer:
    """Asks one console with one token."""

    def __init__(self, console: str, token: str) -> None:
        self._host, _, port = console.rpartition(":")
        self._port = int(port)
        self._console = console
        self._token = token

    async def _ask(self, path: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection(self._host, self._port)
        words = (
            f"GET {path} HTTP/1.1",
            f"Host: {self._console}",
            f"Authorization: Bearer {self._token}",
            "Connection: close",
        )
        writer.write("\r\n".join((*words, "", "")).encode())
        status = await reader.readline()
        if b" 200 " not in status:
            raise SystemExit(f"{path}: {status.decode()}")
        return reader, writer

    async def get(self, path: str) -> None:
        """Read one answer."""
        reader, writer = await self._ask(path)
        while await reader.read(1 << 16):
            pass
        writer.close()

    async def watch(self, page: str) -> None:
        """Read the live updates of a page."""
        await self.get(f"/live?page={page}")

    async def scrape(self) -> None:
        while True:
            await asyncio.sleep(SCRAPE_SECONDS)
            await self.get("/metrics")

    async def search(self) -> None:
        """Search for what is nowhere, again and again."""
        while True:
            await self.get("/api/v1/search?text=nowhere")


async def look(console: str, token: str, count: int, *, searches: bool) -> None:
    viewer = Viewer(console, token)
    works = [viewer.watch(PAGES[at % len(PAGES)]) for at in range(count)]
    works.append(viewer.scrape())
    if searches:
        works.append(viewer.search())
    await asyncio.gather(*works)


if __name__ == "__main__":
    os.nice(10)
    asyncio.run(
        look(sys.argv[1], sys.argv[2], int(sys.argv[3]), searches=sys.argv[4] == "searches")
    )
