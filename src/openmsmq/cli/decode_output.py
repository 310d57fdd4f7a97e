"""How `openmsmq decode` prints packets: as trees, as lines, or as JSON."""

import json
import os
from typing import Final, Protocol

import typer
from rich.console import Console
from rich.text import Text

from .decode_source import DecodedPacket, Notice, Origin
from .packet_json import packet_object
from .packet_text import fault_text, iso_time, printable
from .packet_tree import PacketTree

_MAX_FAULTS: Final = 100


class Output(Protocol):
    """Prints packets and what is to be said between them."""

    def packet(self, number: int, packet: DecodedPacket) -> None: ...

    def notice(self, notice: Notice) -> None: ...


def make_console(*, no_color: bool) -> Console:
    """A console for stdout; colours only on a terminal, and not when the user wants none."""
    plain = no_color or bool(os.environ.get("NO_COLOR"))
    return Console(color_system=None if plain else "auto", highlight=False, soft_wrap=True)


class JsonOutput:
    """One JSON object per packet and line; notices go to stderr."""

    def __init__(self, *, with_hex: bool) -> None:
        self._with_hex = with_hex

    def packet(self, number: int, packet: DecodedPacket) -> None:
        typer.echo(json.dumps(packet_object(number, packet, with_hex=self._with_hex)))

    def notice(self, notice: Notice) -> None:
        typer.echo(f"openmsmq: {printable(notice.text)}", err=True)


class _ConsoleOutput:
    """Prints lines with or without styles."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def line(self, text: Text) -> None:
        if self._console.color_system is None:
            typer.echo(text.plain.rstrip())
        else:
            self._console.print(text)

    def notice(self, notice: Notice) -> None:
        self.line(Text(f"-- {printable(notice.text)}", "yellow"))


class SummaryOutput(_ConsoleOutput):
    """One line per packet."""

    def packet(self, number: int, packet: DecodedPacket) -> None:
        root = packet.node
        text = Text(f"{number:>5}  ", "dim")
        origin = origin_text(packet.origin)
        text.append(f"{origin}  " if origin else "", "dim")
        text.append(root.name, "bold cyan").append(f"  {len(packet.data)}  ", "dim")
        text.append(printable(root.meaning))
        fault = root.first_fault()
        if fault is not None:
            text.append(f"  FAULT {fault_text(fault)}", "bold red")
        self.line(text)


class TreeOutput(_ConsoleOutput):
    """A tree per packet."""

    def __init__(self, console: Console, *, with_hex: bool) -> None:
        super().__init__(console)
        columns = os.environ.get("COLUMNS", "")
        width = console.width if console.is_terminal or columns.isdigit() else None
        self._tree = PacketTree(console, width=width, with_hex=with_hex)

    def packet(self, number: int, packet: DecodedPacket) -> None:
        if number > 1:
            self.line(Text())
        title = Text(f"Packet {number}: ", "bold").append(packet.node.name, "bold cyan")
        title.append(f", {len(packet.data)} bytes", "bold")
        self.line(title)
        for detail in (origin_text(packet.origin), packet.node.meaning):
            if detail:
                self.line(Text(f"  {printable(detail)}"))
        for line in self._tree.lines(packet.node, packet.data):
            self.line(line)


def origin_text(origin: Origin) -> str:
    """Where a packet of a capture comes from; nothing for other packets."""
    parts = []
    if origin.frame is not None:
        parts.append(f"frame {origin.frame}")
    if origin.time is not None:
        parts.append(iso_time(origin.time))
    if origin.stream is not None:
        parts.append(f"stream {origin.stream}")
    if origin.flow is not None:
        parts.append(str(origin.flow))
    return "  ".join(parts)


class Faults:
    """What went wrong, for stderr and the exit code."""

    __slots__ = ("_texts", "count")

    def __init__(self) -> None:
        self.count = 0
        self._texts: list[str] = []

    def add(self, text: str) -> None:
        self.count += 1
        if self.count <= _MAX_FAULTS:
            self._texts.append(text)

    def report(self) -> None:
        """Print them, the first ones word by word."""
        for text in self._texts:
            typer.echo(f"openmsmq: {text}", err=True)
        if self.count > len(self._texts):
            typer.echo(f"openmsmq: {self.count - len(self._texts)} more faults", err=True)
