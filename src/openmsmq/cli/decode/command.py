"""`openmsmq decode`: dissects well-formed and malformed packets."""

import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final, TypeVar, cast

import typer

from openmsmq.terminal.streams import open_stdin
from openmsmq.terminal.styled import open_screen
from openmsmq.wire.capture import BINARY_PORT, PGM_PORTS, PING_PORT
from openmsmq.wire.errors import MalformedPacket, file_fault
from openmsmq.wire.scalars import MessageIdentifier

from .filter import PacketFilter, PacketKind, nanoseconds, text_pattern
from .hex_text import HexTextError
from .input import Source
from .output import Faults, JsonOutput, Output, RawOutput, SummaryOutput, TreeOutput
from .packet_text import fault_text
from .source import InputFormat, Item, Notice, Ports, read_items
from .stats import StatsOutput

T = TypeVar("T")

_STDIN: Final = Path("-")
# Likely cause and remedy of what can go wrong with a whole file.
_DAMAGED_CAPTURE: Final = (
    "the file was cut off while it was copied, is still being written, or is no capture",
    "everything before that place was shown; take the capture again, or leave out --format",
)
_NOT_HEX: Final = (
    "the input is neither hex text, nor a capture, nor packets as raw bytes",
    "paste hex as xxd or Wireshark write it, or say with --format what the input is",
)
_UNREADABLE: Final = (
    "the file does not exist, may not be read, or was not compressed as a whole",
    "give the path of a file that you may read, or - to read from stdin",
)
_EXAMPLES: Final = r"""
Examples:

  openmsmq decode traffic.pcapng

  openmsmq decode --summary --stream 2 traffic.pcapng

  openmsmq decode --json --queue 'private$\orders' traffic.pcapng | jq .message.label

  xxd packet.bin | openmsmq decode

  tcpdump -i any -U -w - tcp port 1801 | openmsmq decode --json
"""


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("decode", epilog=_EXAMPLES)(decode)


def decode(
    file: Annotated[
        Path, typer.Argument(metavar="[FILE]", help="File to read; `-` or nothing for stdin.")
    ] = _STDIN,
    *,
    input_format: Annotated[
        InputFormat,
        typer.Option("--format", help="Format of FILE; detected from its first bytes."),
    ] = InputFormat.AUTO,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object per packet and line.")
    ] = False,
    summary: Annotated[bool, typer.Option("--summary", help="One line per packet.")] = False,
    stats: Annotated[
        bool,
        typer.Option("--stats", help="Counts of packets, queues, connections and sequences."),
    ] = False,
    raw: Annotated[bool, typer.Option("--raw", help="Bytes of the packets.")] = False,
    with_hex: Annotated[bool, typer.Option("--hex", help="Add the bytes of every field.")] = False,
    port: Annotated[
        list[int] | None,
        typer.Option(
            min=1, max=65535, help=f"TCP port of a queue manager [{BINARY_PORT}]; may be repeated."
        ),
    ] = None,
    ping_port: Annotated[
        list[int] | None,
        typer.Option(
            min=1, max=65535, help=f"UDP port of a queue manager [{PING_PORT}]; may be repeated."
        ),
    ] = None,
    pgm_port: Annotated[
        list[int] | None,
        typer.Option(min=1, max=65535, help="UDP port of PGM [3055 and 3056]; may be repeated."),
    ] = None,
    stream: Annotated[
        int | None, typer.Option(min=1, help="Only the TCP connection with this number.")
    ] = None,
    kind: Annotated[
        list[PacketKind] | None,
        typer.Option(
            metavar="NAME",
            case_sensitive=False,
            help=f"Only packets of this name ({', '.join(PacketKind)}); may be repeated.",
        ),
    ] = None,
    queue: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Only messages to this queue: its format name, or the part after the computer; "
            "* stands for any text.",
        ),
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="Only messages with this label; * stands for any text.")
    ] = None,
    message_id: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="ID", help="Only this message, its answers and acknowledgments."
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Captured at or after this time (ISO 8601, UTC)."),
    ] = None,
    number: Annotated[
        int | None,
        typer.Option("--packet", min=1, help="Only the packet with this number."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Stop after this many packets.")] = None,
    no_color: Annotated[
        bool, typer.Option("--no-color", help="No colours, as with NO_COLOR set.")
    ] = False,
) -> None:
    """Dissect packets of Message Queuing.

    FILE is a capture (pcap, pcapng, also compressed with gzip), packets as raw bytes, hex text as
    xxd, hexdump, od, tcpdump and Wireshark write it, or base64. Each packet is shown as soon as it
    arrives. Of a capture, connections of TCP port 1801, pings of UDP port 3527 and PGM are shown,
    with --port 80 messages over HTTP. A malformed packet is shown up to the fault.

    The exit code is 0 if all packets are well-formed and the capture is complete, else 1.
    """
    if summary + stats + raw > 1 or (as_json and (summary or raw)):
        raise typer.BadParameter("choose one of --json, --summary, --stats and --raw")
    only = PacketFilter(
        stream=stream,
        kinds=frozenset(kind or ()),
        queue=None if queue is None else text_pattern(queue, any_case=True),
        label=None if label is None else text_pattern(label),
        identifier=None
        if message_id is None
        else _checked("--id", MessageIdentifier.from_text, message_id),
        since=None if since is None else _checked("--since", nanoseconds, since),
    )
    ports = Ports(
        tuple(port or (BINARY_PORT,)),
        tuple(ping_port or (PING_PORT,)),
        tuple(pgm_port or PGM_PORTS),
    )
    screen = open_screen(no_color=no_color)
    output: Output
    if stats:
        output = StatsOutput(as_json=as_json)
    elif raw:
        output = RawOutput()
    elif as_json:
        output = JsonOutput(with_hex=with_hex)
    elif summary:
        output = SummaryOutput(screen)
    else:
        output = TreeOutput(screen, with_hex=with_hex)
    faults = Faults()
    try:
        with _opened(file) as source:
            items = read_items(source, input_format, ports, sys.stdout.flush)
            if not _show(items, output, faults, only, number, limit):
                faults.add(*_nothing_found(ports))
    except MalformedPacket as exc:
        faults.add(f"{file}: {fault_text(exc)}", *_DAMAGED_CAPTURE)
    except HexTextError as exc:
        faults.add(f"{file}: {exc}", *_NOT_HEX)
    except BrokenPipeError:
        # Whoever reads the output has seen enough.
        raise
    except (OSError, EOFError, zlib.error) as exc:
        faults.add(f"{file} cannot be read: {file_fault(exc)}", *_UNREADABLE)
    output.finish()
    if faults.report():
        raise typer.Exit(1)


@contextmanager
def _opened(file: Path) -> Iterator[Source]:
    """The file to read; stdin stays open."""
    if file == _STDIN:
        # Binary streams have what is needed, only the type of stdin does not say so.
        yield cast(Source, open_stdin())
    else:
        with file.open("rb") as opened:
            yield opened


def _checked(option: str, read: Callable[[str], T], text: str) -> T:
    """The value of an option that is a text of a certain form."""
    try:
        return read(text)
    except ValueError as exc:
        raise typer.BadParameter(f"{option}: {exc}") from exc


def _show(
    items: Iterable[Item],
    output: Output,
    faults: Faults,
    only: PacketFilter,
    number: int | None,
    limit: int | None,
) -> int:
    """Print the items that were asked for; return how many packets they have."""
    count = shown_count = 0
    for item in items:
        if isinstance(item, Notice):
            if only.takes_notice(item):
                output.notice(item)
                faults.add_missing(item.missing)
            continue
        if not only.takes(item):
            continue
        count += 1
        if number is not None and count != number:
            continue
        shown_count += 1
        fault = output.packet(count, item)
        if fault is not None:
            faults.add(f"packet {count}: {fault_text(fault)}")
        if count in (number, limit):
            break
    return shown_count


def _nothing_found(ports: Ports) -> tuple[str, str, str]:
    binary = " or ".join(map(str, ports.binary))
    ping = " or ".join(map(str, ports.ping))
    cause = (
        f"the input is empty, a capture without TCP port {binary} and UDP port {ping}, or without "
        "a packet that was asked for"
    )
    remedy = (
        "choose other ports with --port (80 for HTTP), --ping-port and --pgm-port, or other "
        "packets with --stream, --kind, --queue, --label, --id and --since"
    )
    return "no packets found", cause, remedy
