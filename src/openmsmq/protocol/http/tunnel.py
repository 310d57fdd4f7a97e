"""The answer of a proxy to CONNECT."""

from .response_reader import BadResponse, ResponseReader


class Tunnel:
    """Reads the answer of a proxy before the tunnel is open.

    Attributes:
        open: whether the bytes that follow come from the destination.
        fault: why the tunnel failed; empty unless it has.
    """

    __slots__ = ("_reader", "fault", "open")

    def __init__(self, max_response_bytes: int) -> None:
        self._reader = ResponseReader(max_response_bytes)
        self.open = False
        self.fault = ""

    def receive(self, data: bytes) -> None:
        """Process bytes of the proxy. A TLS server sends nothing before its client does."""
        try:
            self._reader.feed(data)
        except BadResponse as exc:
            self.fault = f"the proxy's answer to CONNECT is not HTTP: {exc}"
            return
        for status in self._reader.statuses:
            # RFC 9110 9.3.6: any 2xx switches to the tunnel.
            if 200 <= status < 300:
                self.open = True
            else:
                self.fault = f"the proxy answered CONNECT with {status}"
