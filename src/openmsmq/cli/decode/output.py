"""How `openmsmq decode` prints packets: as trees, as lines, or as JSON."""

import json
import sys
from typing import Final, Protocol

import typer

from openmsmq.terminal.printable import printable
from openmsmq.terminal.styled import Line, Screen
from openmsmq.wire.errors import MalformedPacket

from .packet_json import packet_object
from .packet_text import byte_count, fault_text, iso_time
from .packet_tree import PacketTree
from .source import Notice, Origin, Packet

_MAX_FAULTS: Final = 100
_INDENT: Final = "  "


class Output(Protocol):
    """Prints packets and what is to be said between them; `sys.stdout.flush` shows them.

    `packet` returns what is wrong with the packet.
    """

    def packet(self, number: int, packet: Packet) -> MalformedPacket | None: ...

    def notice(self, notice: Notice) -> None: ...

    def finish(self) -> None: ...


class RawOutput:
    """The bytes of packets; notices go to stderr."""

    def packet(self, number: int, packet: Packet) -> MalformedPacket | None:
        del number
        sys.stdout.buffer.write(packet.data)
        return packet.summary().fault

    def notice(self, notice: Notice) -> None:
        typer.echo(f"openmsmq decode: {printable(notice.text)}", err=True)

    def finish(self) -> None:
        """All is there."""


class JsonOutput:
    """One JSON object per packet and line; notices go to stderr."""

    def __init__(self, *, with_hex: bool) -> None:
        self._with_hex = with_hex

    def packet(self, number: int, packet: Packet) -> MalformedPacket | None:
        root = packet.tree()
        fault = root.first_fault()
        document = packet_object(number, packet, root, fault, with_hex=self._with_hex)
        sys.stdout.write(json.dumps(document) + "\n")
        return fault

    def notice(self, notice: Notice) -> None:
        typer.echo(f"openmsmq decode: {printable(notice.text)}", err=True)

    def finish(self) -> None:
        """All is there."""


class _ScreenOutput:
    """Prints lines with or without colour."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def notice(self, notice: Notice) -> None:
        self._screen.show([[(f"-- {printable(notice.text)}", "yellow")]])

    def finish(self) -> None:
        """All is there."""


class SummaryOutput(_ScreenOutput):
    """One line per packet."""

    def packet(self, number: int, packet: Packet) -> MalformedPacket | None:
        name, text, fault = packet.summary()
        origin = origin_text(packet.origin)
        line: Line = [
            (f"{number:>5}  {origin}{'  ' if origin else ''}", "dim"),
            (name, "bold cyan"),
            (f"  {len(packet.data)}  ", "dim"),
            (printable(text), ""),
        ]
        if fault is not None:
            line.append((f"  FAULT {fault_text(fault)}", "bold red"))
        self._screen.show([line])
        return fault


class TreeOutput(_ScreenOutput):
    """A tree per packet."""

    def __init__(self, screen: Screen, *, with_hex: bool) -> None:
        super().__init__(screen)
        self._tree = PacketTree(width=screen.width, unicode=screen.unicode, with_hex=with_hex)

    def packet(self, number: int, packet: Packet) -> MalformedPacket | None:
        root = packet.tree()
        lines: list[Line] = [[]] if number > 1 else []
        lines.append(
            [
                (f"Packet {number}: ", "bold"),
                (root.name, "bold cyan"),
                (f", {byte_count(len(packet.data))}", "bold"),
            ]
        )
        for detail in (origin_text(packet.origin), root.meaning):
            lines.extend(self._tree.hanging(_INDENT, [(printable(detail), "")]))
        lines.extend(self._tree.lines(root, packet.data))
        self._screen.show(lines)
        return root.first_fault()


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

    __slots__ = ("_count", "_missing", "_texts")

    def __init__(self) -> None:
        self._count = 0
        self._missing = 0
        self._texts: list[str] = []

    def add(self, text: str, cause: str = "", remedy: str = "") -> None:
        """Note a fault; cause and remedy where the text does not tell them."""
        self._count += 1
        if self._count <= _MAX_FAULTS:
            hints = f"\nLikely cause: {cause}.\nRemedy: {remedy}." if cause else ""
            self._texts.append(f"openmsmq decode: {text}{hints}")

    def add_missing(self, size: int) -> None:
        """Note bytes that a capture should have."""
        self._missing += size

    def report(self) -> bool:
        """Print them, the first ones word by word; return whether there are any."""
        for text in self._texts:
            typer.echo(text, err=True)
        if self._count > len(self._texts):
            more = self._count - len(self._texts)
            typer.echo(f"openmsmq decode: {more} more faults", err=True)
        if self._missing:
            typer.echo(
                f"openmsmq decode: {byte_count(self._missing)} of TCP connections are missing from "
                "the capture",
                err=True,
            )
        return self._count + self._missing > 0
