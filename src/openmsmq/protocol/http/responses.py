"""The responses that a server writes: a status line and Content-Length 0."""

from typing import Final

CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
# Added to a status: the connection is closed after the response, or an HTTP/1.0 client keeps it.
CLOSE: Final = 0x1000
KEEP: Final = 0x2000
# Statuses below this one mean that a request was accepted.
FIRST_FAILURE: Final = 300

_STATUSES: Final = {
    200: "OK",
    400: "Bad Request",
    404: "Not Found",
    # RFC 9110 15.5.6: it lists the allowed methods.
    405: "Method Not Allowed\r\nAllow: POST",
    408: "Request Timeout",
    411: "Length Required",
    413: "Content Too Large",
    414: "URI Too Long",
    415: "Unsupported Media Type",
    417: "Expectation Failed",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    503: "Service Unavailable",
}
_CONNECTION: Final = {0: "", CLOSE: "Connection: close\r\n", KEEP: "Connection: keep-alive\r\n"}

# [MC-MQSRM] 4.3: the response has no body. Choice: no Server and no Date, which Windows writes.
RESPONSES: Final[dict[int, bytes]] = {
    status | flag: f"HTTP/1.1 {status} {phrase}\r\nContent-Length: 0\r\n{line}\r\n".encode("ascii")
    for status, phrase in _STATUSES.items()
    for flag, line in _CONNECTION.items()
}
"""Each response by its status, with CLOSE or KEEP if it has that field."""
