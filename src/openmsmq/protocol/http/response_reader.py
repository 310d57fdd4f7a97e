"""Reads the statuses of the responses on one connection, within limits."""

from types import SimpleNamespace
from typing import Final

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

# A response with a lower status is followed by another one.
_FIRST_FINAL: Final = 200


class BadResponse(Exception):
    """Bytes that are not a response."""


class ResponseReader:
    """The responses of one connection; httptools calls `_on_headers_complete`.

    A response counts as soon as its header is complete; its body is skipped.

    Attributes:
        statuses: those of the responses since the last look, in order.
        finished: whether the last of them is the last response of the connection.
        version: of the last of them.
    """

    __slots__ = ("_most", "_parser", "_size", "finished", "statuses", "version")

    def __init__(self, max_response_bytes: int) -> None:
        self._most = max_response_bytes
        callbacks = SimpleNamespace(on_headers_complete=self._on_headers_complete)
        self._parser: HttpResponseParser = HttpResponseParser(callbacks)
        self.statuses: list[int] = []
        self.finished = False
        self.version = ""
        # Bytes since the read in which the last response came.
        self._size = 0

    def feed(self, data: bytes) -> None:
        """Take bytes.

        Raises:
            BadResponse: nothing more can be read; `statuses` has what came before.
        """
        count = len(self.statuses)
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade as upgrade:
            raise BadResponse("it changes to another protocol") from upgrade
        except HttpParserError as exc:
            # Bytes behind the last response are not looked at.
            if not self.finished:
                raise BadResponse(str(exc)) from exc
        self._size = self._size + len(data) if count == len(self.statuses) else 0
        if self._size > self._most:
            raise BadResponse(f"it is longer than {self._most} bytes")

    def _on_headers_complete(self) -> None:
        parser = self._parser
        status = parser.get_status_code()
        if status >= _FIRST_FINAL and not self.finished:
            self.statuses.append(status)
            self.finished = not parser.should_keep_alive()
            self.version = parser.get_http_version()
