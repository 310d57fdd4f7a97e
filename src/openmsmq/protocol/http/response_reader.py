"""Reads the statuses of the responses on one connection, within limits."""

from types import SimpleNamespace
from typing import Final

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from .responses import RESPONSES

# A response with a lower status is followed by another one.
_FIRST_FINAL: Final = 200
_OK: Final = 200
_OK_RESPONSE: Final = RESPONSES[_OK]


class BadResponse(Exception):
    """Bytes that are not a response."""


class ResponseReader:
    """The responses of one connection; httptools calls the methods with the prefix `_on_`.

    A response counts as soon as its header is complete; its body is skipped. Responses exactly
    like the 200 of this package are counted without httptools.

    Attributes:
        statuses: statuses since the last look, in order.
        finished: whether the last of them is the last response of the connection.
        version: that of the last of them.
    """

    __slots__ = ("_between", "_most", "_parser", "_size", "finished", "statuses", "version")

    def __init__(self, max_response_bytes: int) -> None:
        self._most = max_response_bytes
        callbacks = SimpleNamespace(
            on_message_begin=self._on_message_begin,
            on_headers_complete=self._on_headers_complete,
            on_message_complete=self._on_message_complete,
        )
        self._parser: HttpResponseParser = HttpResponseParser(callbacks)
        self.statuses: list[int] = []
        self.finished = False
        self.version = ""
        # Bytes since the read in which the last response came.
        self._size = 0
        # Whether no incomplete response has begun.
        self._between = True

    def feed(self, data: bytes) -> None:
        """Process bytes.

        Raises:
            BadResponse: nothing more can be read; `statuses` has the results before.
        """
        count = len(self.statuses)
        if self._between and not self.finished and self._count_alike(data):
            return
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade as upgrade:
            raise BadResponse("it changes to another protocol") from upgrade
        except HttpParserError as exc:
            # Bytes after the last response are ignored.
            if not self.finished:
                raise BadResponse(str(exc)) from exc
        self._size = self._size + len(data) if count == len(self.statuses) else 0
        if self._size > self._most:
            raise BadResponse(f"it is longer than {self._most} bytes")

    def _count_alike(self, data: bytes) -> bool:
        """Count responses if the bytes are nothing but 200; return whether they are."""
        count = data.count(_OK_RESPONSE)
        if not count or count * len(_OK_RESPONSE) != len(data):
            return False
        self.statuses += [_OK] * count
        self.version = "1.1"
        self._size = 0
        return True

    def _on_message_begin(self) -> None:
        self._between = False

    def _on_message_complete(self) -> None:
        self._between = True

    def _on_headers_complete(self) -> None:
        parser = self._parser
        status = parser.get_status_code()
        if status >= _FIRST_FINAL and not self.finished:
            self.statuses.append(status)
            self.finished = not parser.should_keep_alive()
            self.version = parser.get_http_version()
