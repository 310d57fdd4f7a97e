"""TLS between the channel and the socket, as bytes in and bytes out.

Threads read and write at the same time, which a TLS socket does not allow; here each step is short
and under the lock of the channel, and the socket itself carries plain bytes.
"""

import ssl
from collections.abc import Callable

CHUNK = 256 * 1024


class Tls:
    """One side of a TLS connection."""

    def __init__(self, context: ssl.SSLContext, host: str) -> None:
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._object = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)

    def handshake(self, send: Callable[[bytes], None], receive: Callable[[], bytes]) -> None:
        """Agree on keys with the other side.

        Raises:
            OSError: the other side is not trusted, or hung up.
        """
        while True:
            try:
                self._object.do_handshake()
            except ssl.SSLWantReadError:
                send(self._outgoing.read())
                data = receive()
                if not data:
                    raise ConnectionResetError(
                        "it closed the connection during the handshake"
                    ) from None
                self._incoming.write(data)
            else:
                send(self._outgoing.read())
                return

    def encrypt(self, data: bytearray) -> bytes:
        """The bytes to send."""
        self._object.write(data)
        return self._outgoing.read()

    def decrypt(self, data: bytes) -> bytes:
        """The bytes that were meant; empty while some are missing.

        Raises:
            OSError: they were damaged on the way.
        """
        self._incoming.write(data)
        parts = []
        try:
            while part := self._object.read(CHUNK):
                parts.append(part)
        except ssl.SSLWantReadError:
            pass
        return b"".join(parts)
