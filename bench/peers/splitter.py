"""Not a product: a uvloop receiver that splits a stream into packets and forgets them.

The least that anybody has to do with what comes over a socket; what a queue manager does with it
is measured as a multiple of that. It never answers.

    python -m bench.peers.splitter HOST:PORT
"""

import asyncio
import struct
import sys
from typing import Final

BASE_HEADER_SIZE: Final = 16
_PACKET_SIZE: Final = struct.Struct("<8xI")


class Splitter(asyncio.Protocol):
    """Cuts packets off, by the size in their BaseHeader."""

    def __init__(self) -> None:
        self._rest = b""
        self.count = 0

    def data_received(self, data: bytes) -> None:
        if self._rest:
            data = self._rest + data
        packets = []
        at, end, unpack = 0, len(data), _PACKET_SIZE.unpack_from
        while end - at >= BASE_HEADER_SIZE:
            stop = at + unpack(data, at)[0]
            if stop > end:
                break
            packets.append(data[at:stop])
            at = stop
        self._rest = data[at:]
        self.count += len(packets)


async def serve(address: str) -> None:
    loop = asyncio.get_running_loop()
    host, _, port = address.rpartition(":")
    server = await loop.create_server(Splitter, host, int(port))
    await server.serve_forever()


if __name__ == "__main__":
    import uvloop

    uvloop.run(serve(sys.argv[1]))
