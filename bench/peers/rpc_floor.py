"""Not a product: a uvloop server that cuts PDUs and answers each request with four zero bytes.

The least that an RPC server in Python has to do with an empty call; what ours does is measured as
a multiple of that. It knows no interface, no binding and no limit.

    python -m bench.peers.rpc_floor HOST:PORT
"""

import asyncio
import struct
import sys
from typing import Final, cast

HEADER_SIZE: Final = 16
_HEADER: Final = struct.Struct("<8xHHI")
# A whole response of 28 bytes; what is missing is call_id.
_RESPONSE: Final = struct.Struct("<8sHHIIHHI")
_START: Final = b"\x05\x00\x02\x03\x10\x00\x00\x00"


class Answerer(asyncio.Protocol):
    """Answers all requests of one read by one write."""

    def __init__(self) -> None:
        self._rest = b""
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self._rest:
            data = self._rest + data
        answers = []
        at, end, unpack, pack = 0, len(data), _HEADER.unpack_from, _RESPONSE.pack
        while end - at >= HEADER_SIZE:
            size, _, call_id = unpack(data, at)
            if at + size > end:
                break
            pdu = data[at : at + size]
            at += len(pdu)
            answers.append(pack(_START, 28, 0, call_id, 4, 0, 0, 0))
        self._rest = data[at:]
        self._transport.write(b"".join(answers))


async def serve(address: str) -> None:
    loop = asyncio.get_running_loop()
    host, _, port = address.rpartition(":")
    server = await loop.create_server(Answerer, host, int(port))
    await server.serve_forever()


if __name__ == "__main__":
    import uvloop

    uvloop.run(serve(sys.argv[1]))
