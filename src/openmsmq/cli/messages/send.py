"""`openmsmq send`: sends messages from arguments, files and stdin."""

import contextlib
from array import array
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from openmsmq.cli.failure import Refusal, reporting
from openmsmq.cli.options.connection import SocketOption, connect
from openmsmq.cli.output import JsonOption, print_json, say
from openmsmq.terminal.progress import Update, progress
from openmsmq.terminal.quantities import count_text, size_text
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

from .body_source import BodySource
from .send_options import (
    INFINITE,
    complete_acknowledge,
    complete_body_type,
    parse_acknowledge,
    parse_body_type,
    parse_correlation_id,
    parse_delay,
    parse_duration,
    parse_guid,
    parse_hash,
    parse_moment,
    parse_signature,
)

if TYPE_CHECKING:
    from openmsmq.client import Message, Queue, QueueManager

_EXAMPLES: Final = r"""
Examples:

  openmsmq send '.\private$\orders' --body '12 apples' --label 'order 1'

  openmsmq send '.\private$\orders' --lines orders.txt --recoverable

  gzip -c report.pdf | openmsmq send 'DIRECT=TCP:10.0.0.3\private$\reports'
"""


class Privacy(StrEnum):
    """How well a body must be encrypted."""

    AES = "aes"
    ENHANCED = "enhanced"
    BASE = "base"


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("send", epilog=_EXAMPLES)(reporting("send", send))


def send(
    destination: Annotated[
        str,
        typer.Argument(
            metavar="DEST", help=r"Path name or format name: 'DIRECT=TCP:10.0.0.3\private$\orders'."
        ),
    ],
    *,
    body: Annotated[str | None, typer.Option(metavar="TEXT", help="The body, as text.")] = None,
    body_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File with the body, sent byte for byte.")
    ] = None,
    lines: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="One message for each line of a file; - for stdin."),
    ] = None,
    label: Annotated[str, typer.Option(help="Description, up to 249 characters.")] = "",
    priority: Annotated[
        int | None, typer.Option(min=0, max=7, help="0 to 7; higher ones are received first [3].")
    ] = None,
    express: Annotated[
        bool, typer.Option("--express", help="Keep it in memory only; this is the default.")
    ] = False,
    recoverable: Annotated[
        bool, typer.Option("--recoverable", help="Keep it on disk until it is received.")
    ] = False,
    transactional: Annotated[
        bool, typer.Option("--transactional", help="Send all messages in one transaction.")
    ] = False,
    time_to_reach_queue: Annotated[
        int | None,
        typer.Option(
            parser=parse_duration, metavar="SECONDS", help="Time limit for its arrival [4 days]."
        ),
    ] = None,
    time_to_be_received: Annotated[
        int | None,
        typer.Option(
            parser=parse_duration, metavar="SECONDS", help="Time limit for its receive [infinite]."
        ),
    ] = None,
    journal: Annotated[
        bool, typer.Option("--journal", help="Keep a copy in the journal of this machine.")
    ] = False,
    dead_letter: Annotated[
        bool, typer.Option("--dead-letter", help="Keep it in a dead-letter queue if it fails.")
    ] = False,
    admin_queue: Annotated[
        str | None, typer.Option(metavar="QUEUE", help="Queue for acknowledgments.")
    ] = None,
    ack: Annotated[
        int | None,
        typer.Option(
            parser=parse_acknowledge,
            autocompletion=complete_acknowledge,
            metavar="KIND",
            help="Acknowledgments: none, arrival, receive, full, positive-arrival, "
            "positive-receive, negative-arrival, negative-receive; several with commas.",
        ),
    ] = None,
    response_queue: Annotated[
        str | None, typer.Option(metavar="QUEUE", help="Queue for answers.")
    ] = None,
    correlation_id: Annotated[
        str | None,
        typer.Option(
            parser=parse_correlation_id,
            metavar="ID",
            help=r"Id of the message that this one belongs to: '{guid}\number'.",
        ),
    ] = None,
    app_specific: Annotated[
        int, typer.Option(min=0, max=0xFFFFFFFF, metavar="NUMBER", help="Number for the receiver.")
    ] = 0,
    body_type: Annotated[
        int | None,
        typer.Option(
            parser=parse_body_type,
            autocompletion=complete_body_type,
            metavar="TYPE",
            help="VT_BSTR, VT_LPSTR, ... or a number [0].",
        ),
    ] = None,
    trace_queue: Annotated[
        str | None,
        typer.Option(
            parser=parse_guid, metavar="GUID", help="Public queue for reports of each hop."
        ),
    ] = None,
    count: Annotated[int, typer.Option(min=1, metavar="N", help="Number of times to send it.")] = 1,
    delay: Annotated[
        int | None,
        typer.Option(
            parser=parse_delay, metavar="SECONDS", help="Delay its delivery, by up to 366d."
        ),
    ] = None,
    deliver_at: Annotated[
        datetime | None,
        typer.Option(
            parser=parse_moment, metavar="TIME", help="Deliver it at this time: '2026-05-01 08:00'."
        ),
    ] = None,
    sign: Annotated[
        bool, typer.Option("--sign", help="Sign it with your certificate, see `openmsmq key`.")
    ] = False,
    certificate: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="Certificate to sign with; else the one valid longest."),
    ] = None,
    signature: Annotated[
        str | None,
        typer.Option(
            parser=parse_signature,
            metavar="VERSION",
            help="Signature: 1.0, 2.0, 3.0 or xml [2.0, several queues 3.0, HTTP xml].",
        ),
    ] = None,
    hash_algorithm: Annotated[
        str | None,
        typer.Option(
            "--hash",
            parser=parse_hash,
            metavar="NAME",
            help="Hash of the signature: sha512, sha256, sha1 or md5 [sha512].",
        ),
    ] = None,
    encrypt: Annotated[
        bool, typer.Option("--encrypt", help="Encrypt its body in transit; not for DIRECT= names.")
    ] = False,
    privacy: Annotated[
        Privacy | None, typer.Option(help="Minimum level of encryption; --encrypt means aes.")
    ] = None,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Send messages.

    The body comes from --body, --body-file or --lines, else from stdin. Text is sent as UTF-8
    with body type 0, or as UTF-16 with a body type of UTF-16.
    """
    if not sign and (certificate or signature or hash_algorithm):
        raise typer.BadParameter("--certificate, --signature and --hash go with --sign")
    if express and (recoverable or transactional):
        other = "--transactional" if transactional else "--recoverable"
        raise typer.BadParameter(f"--express and {other} exclude each other")
    if delay is not None and deliver_at is not None:
        raise typer.BadParameter("--delay and --deliver-at exclude each other")
    if delay is not None:
        deliver_at = datetime.now(UTC) + timedelta(seconds=delay)
    source = BodySource(body, body_file, lines)
    source.check()
    properties = given(
        label=label,
        priority=priority,
        delivery="recoverable" if recoverable or transactional else "express",
        time_to_reach_queue=time_to_reach_queue,
        time_to_be_received=time_to_be_received,
        journal=journal,
        dead_letter=dead_letter,
        admin_queue=admin_queue,
        acknowledge=ack,
        response_queue=response_queue,
        correlation_id=correlation_id,
        app_specific=app_specific,
        body_type=body_type,
        trace_queue=trace_queue,
        sign=(signature or True) if sign else None,
        certificate=certificate,
        hash_algorithm=hash_algorithm,
        encrypt=encrypt if privacy is None else privacy.value,
    )
    with connect(socket) as manager, progress("sending", source.total(count)) as update:
        batch = Batch(source, properties, count, update)
        try:
            sent = batch.send(
                manager, destination, transactional=transactional, deliver_at=deliver_at
            )
        except QueueError as exc:
            # Those who go on from there need to know how many were accepted.
            if as_json and exc.accepted:
                print_json(batch.sent(exc.accepted, transactional=transactional))
            raise
    if as_json:
        print_json(sent)
    else:
        what = f"{count_text(sent['sent'], 'message')} ({size_text(sent['bytes'])})"
        say(f"Sent {what} to {sent['destination']}")


def given(**properties: Any) -> dict[str, Any]:
    """The properties that were given; a time that never ends is None, as messages have it."""
    return {
        name: None if name.startswith("time_to_") and value == INFINITE else value
        for name, value in properties.items()
        if value is not None
    }


class Batch:
    """Messages on their way from a source to a queue.

    Args:
        source: where the bodies come from.
        properties: of every message, under the names of `Message`.
        copies: how often each body is sent.
        update: told how many messages are on their way.
    """

    def __init__(
        self, source: BodySource, properties: dict[str, Any], copies: int, update: Update
    ) -> None:
        self._source = source
        self._properties = properties
        self._copies = copies
        self._update = update
        self._sizes = array("Q")
        self._destination = ""

    def send(
        self,
        manager: "QueueManager",
        destination: str,
        *,
        transactional: bool,
        deliver_at: datetime | None,
    ) -> dict[str, Any]:
        """Send all, and tell what was sent once it is accepted."""
        with manager.open_queue(destination, "send") as queue:
            self._destination = queue.format_name
            try:
                if deliver_at is not None:
                    self._send_delayed(manager, queue, deliver_at, transactional=transactional)
                else:
                    whole = "single" if transactional else None
                    queue.send_many(self._messages(), transaction=whole)
            except (ValueError, TypeError) as exc:
                raise Refusal(
                    Hresult.MQ_ERROR_ILLEGAL_PROPERTY_VALUE,
                    str(exc),
                    cause="The value of an option does not fit into a message.",
                    remedy="Check the options against `openmsmq send --help`.",
                ) from exc
            sent = self.sent(len(self._sizes), transactional=transactional)
            if deliver_at is not None:
                sent["deliver_at"] = deliver_at.astimezone(UTC).isoformat()
            return sent

    def _send_delayed(
        self, manager: "QueueManager", queue: "Queue", deliver_at: datetime, *, transactional: bool
    ) -> None:
        with contextlib.ExitStack() as stack:
            whole = stack.enter_context(manager.transaction()) if transactional else None
            for message in self._messages():
                queue.send(message, whole, deliver_at=deliver_at)

    def sent(self, count: int, *, transactional: bool) -> dict[str, Any]:
        """What is reported about the first messages, which were accepted."""
        return {
            "destination": self._destination,
            "sent": count,
            "bytes": sum(self._sizes[:count]),
            "transactional": transactional,
        }

    def _messages(self) -> "Iterator[Message]":
        from openmsmq.client import Message

        for body in self._source.bodies(self._properties.get("body_type", 0)):
            message = Message(body, **self._properties)
            for _ in range(self._copies):
                self._sizes.append(len(body))
                self._update(len(self._sizes))
                yield message
