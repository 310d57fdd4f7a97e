"""Structured logs: every event has a permanent id, a text and fields."""

import json
import logging
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Protocol
from uuid import UUID

from openmsmq.wire.errors import ConfigError

LOGGER: Final = logging.getLogger("openmsmq")
MAX_FIELD_LENGTH: Final = 200


@dataclass(frozen=True, slots=True)
class LogEvent:
    """One kind of event; ids are never reused."""

    id: str
    level: int
    text: str


# The process. docs/serve.md lists all of them.
READY: Final = LogEvent("M0001", logging.INFO, "queue manager is ready")
STOPPING: Final = LogEvent("M0002", logging.INFO, "queue manager is stopping")
STOPPED: Final = LogEvent("M0003", logging.INFO, "queue manager has stopped")
RECOVERED: Final = LogEvent("M0004", logging.INFO, "recovered what was stored")
TORN_TAIL: Final = LogEvent(
    "M0005", logging.WARNING, "cut off an unfinished write, never acknowledged"
)
FAILED: Final = LogEvent("M0007", logging.CRITICAL, "stopping because of a fault")
DISK_FULL: Final = LogEvent("M0008", logging.ERROR, "disk is full: new messages are refused")
DISK_HAS_ROOM: Final = LogEvent("M0009", logging.INFO, "disk has room again")
RESTORED: Final = LogEvent("M0010", logging.WARNING, "started from a restored backup")
IN_DOUBT: Final = LogEvent(
    "M0011", logging.WARNING, "a prepared transaction waits for its coordinator"
)
DAMAGE_FOUND: Final = LogEvent("M0012", logging.ERROR, "the store found damage in one of its files")
BACKED_UP: Final = LogEvent("M0013", logging.INFO, "backup written")
HISTORY_FAILED: Final = LogEvent(
    "M0094", logging.ERROR, "the history of messages could not be written"
)
BACKUP_FAILED: Final = LogEvent("M0014", logging.ERROR, "backup failed")
FEW_FILES: Final = LogEvent(
    "M0015", logging.WARNING, "fewer open files are allowed than max_connections may need"
)
RELOADED: Final = LogEvent("M0016", logging.INFO, "reloaded")
NOT_RELOADED: Final = LogEvent(
    "M0017", logging.ERROR, "could not be reloaded; what was in force before stays"
)
NAME_CHANGED: Final = LogEvent("M0018", logging.WARNING, "the computer name has changed")
KEYS_NOT_PUBLISHED: Final = LogEvent(
    "M0019", logging.WARNING, "the directory does not have the public keys of this queue manager"
)
DEFINED: Final = LogEvent("M0026", logging.INFO, "definitions applied")
KEYS_ROTATED: Final = LogEvent("M0027", logging.INFO, "the queue manager has new keys")
# Clients of the local protocol.
CLIENT_CONNECTED: Final = LogEvent("M0020", logging.DEBUG, "client connected")
CLIENT_LEFT: Final = LogEvent("M0021", logging.DEBUG, "client left")
CLIENT_FAULT: Final = LogEvent("M0022", logging.WARNING, "client closed for breaking the protocol")
CLIENT_REFUSED: Final = LogEvent("M0023", logging.WARNING, "client refused")
REQUEST_CRASHED: Final = LogEvent(
    "M0024", logging.ERROR, "a request failed inside the queue manager; its client is closed"
)
REQUEST_REFUSED: Final = LogEvent("M0025", logging.DEBUG, "request refused")
# Logons from other machines.
LOGON_FAILED: Final = LogEvent("M0060", logging.WARNING, "logon from another machine failed")
LOGON_REFUSED: Final = LogEvent(
    "M0061", logging.WARNING, "logon refused: too many logons from this address have failed"
)
# Clients that read queues from other machines.
RPC_CLOSED: Final = LogEvent("M0062", logging.DEBUG, "connection of a remote client closed")
RPC_FAULT: Final = LogEvent("M0063", logging.WARNING, "remote client cut off")
PORT_SKIPPED: Final = LogEvent(
    "M0064", logging.WARNING, "a default port is skipped: it needs a privilege"
)
# Other machines that speak HTTP.
HTTP_CLOSED: Final = LogEvent("M0066", logging.DEBUG, "HTTP connection closed")
HTTP_FAULT: Final = LogEvent("M0067", logging.WARNING, "HTTP connection cut off")
RPC_LOGON: Final = LogEvent("M0065", logging.DEBUG, "remote client logged on")
# Multicast.
MULTICAST_UNAVAILABLE: Final = LogEvent(
    "M0080", logging.WARNING, "multicast is not available; messages to multicast addresses wait"
)
MULTICAST_LOST: Final = LogEvent(
    "M0081", logging.WARNING, "multicast packets were lost for good; what follows them is received"
)
MULTICAST_NOT_HEARD: Final = LogEvent(
    "M0082", logging.WARNING, "a multicast group cannot be listened to; it is tried again"
)
# The console, a process of its own.
CONSOLE_STARTED: Final = LogEvent("M0090", logging.INFO, "console started")
CONSOLE_ENDED: Final = LogEvent(
    "M0091", logging.WARNING, "the console has ended; it is started again"
)
CONSOLE_LINE: Final = LogEvent("M0092", logging.WARNING, "console")
# Messages.
SESSION_CLOSED: Final = LogEvent("M0050", logging.DEBUG, "session with another queue manager ended")
SESSION_FAULT: Final = LogEvent(
    "M0051", logging.WARNING, "session closed: another queue manager broke the protocol"
)
UNREACHABLE: Final = LogEvent(
    "M0052", logging.WARNING, "messages wait: their destination cannot be reached"
)
REACHED_AGAIN: Final = LogEvent("M0053", logging.INFO, "destination is reached again")
MESSAGE_GONE: Final = LogEvent("M0030", logging.INFO, "message left its queue unread")
MESSAGES_GONE: Final = LogEvent("M0031", logging.INFO, "messages left their queue unread")
SIGNATURE_FORM: Final = LogEvent(
    "M0036", logging.INFO, "signatures of another queue manager are of this form"
)
MESSAGES_REFUSED: Final = LogEvent("M0032", logging.INFO, "messages refused")
MESSAGES_OVER_QUOTA: Final = LogEvent(
    "M0035", logging.WARNING, "messages refused: over a quota, or the disk is full"
)
DROPPED: Final = LogEvent(
    "M0034", logging.WARNING, "a message, a copy or an acknowledgment was dropped"
)
EXPRESS_DISCARDED: Final = LogEvent(
    "M0033", logging.INFO, "express messages are discarded at the stop"
)


def shorten(value: object) -> str:
    """Text of a field: printable and bounded, whatever a peer sent."""
    # GUIDs are spelt as everywhere else, so that a search finds them.
    text = f"{{{str(value).upper()}}}" if isinstance(value, UUID) else str(value)
    if not text.isprintable():
        text = text.encode("unicode_escape").decode("ascii")
    return text if len(text) <= MAX_FIELD_LENGTH else text[: MAX_FIELD_LENGTH - 1] + "…"


def log_event(event: LogEvent, *, exception: Exception | None = None, **fields: object) -> None:
    """Log an event, with its fields and, for faults of openmsmq, the place in the code."""
    if LOGGER.isEnabledFor(event.level):
        extra = {"event": event.id, "fields": fields}
        LOGGER.log(event.level, event.text, extra=extra, exc_info=exception)


class TextFormatter(logging.Formatter):
    """Formats a record as one line for people."""

    def format(self, record: logging.LogRecord) -> str:
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        fields: dict[str, object] = getattr(record, "fields", {})
        tail = "".join(f" {key}={shorten(value)}" for key, value in fields.items())
        event = getattr(record, "event", "-")
        line = f"{when} {record.levelname:<8} {event} {record.getMessage()}{tail}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class JsonFormatter(logging.Formatter):
    """Formats a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, object] = getattr(record, "fields", {})
        entry: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "event": getattr(record, "event", None),
            "text": record.getMessage(),
            **{key: plain(value) for key, value in fields.items()},
        }
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False)


def plain(value: object) -> object:
    """Numbers and truth values unchanged, everything else as text."""
    return value if value is None or isinstance(value, bool | int | float) else shorten(value)


class LogSettings(Protocol):
    """The settings of the log, from the configuration."""

    @property
    def log_level(self) -> str: ...

    @property
    def log_format(self) -> str: ...

    @property
    def log_file(self) -> Path | None: ...


def configure_logs(config: LogSettings) -> None:
    """Send the log of this process to its file, or to standard error.

    Called again it opens the file again, which a program that rotates logs has renamed.

    Raises:
        ConfigError: the file cannot be opened; the log stays where it was.
    """
    handler: logging.Handler
    if config.log_file is None:
        handler = logging.StreamHandler(sys.stderr)
    else:
        try:
            handler = logging.FileHandler(config.log_file, encoding="utf-8")
        except OSError as exc:
            raise ConfigError(f"log_file: {config.log_file}: {exc.strerror or exc}") from exc
    handler.setFormatter(JsonFormatter() if config.log_format == "json" else TextFormatter())
    before, LOGGER.handlers[:] = list(LOGGER.handlers), [handler]
    for old in before:
        old.close()
    LOGGER.setLevel(config.log_level.upper())
    LOGGER.propagate = False
