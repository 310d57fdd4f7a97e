"""In which line of a file of definitions a value stands.

A place is the path that msgspec names: `$.queues[3].permissions[0].allow`.
"""

import json
import re
from collections.abc import Iterator
from typing import Final

Steps = tuple[str | int, ...]

_STEP: Final = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_HEADER: Final = re.compile(r"\s*(\[\[?)\s*([A-Za-z0-9_.-]+)\s*\]\]?\s*(?:#.*)?$")
_KEY: Final = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*=""")
_ELEMENT: Final = re.compile(r""""(?:[^"\\]|\\.)*"|'[^']*'|#.*|({)""")
_PIECE: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}:,]|[^\s\[\]{}:,"]+')


def parse_place(text: str) -> Steps:
    """The steps of a path."""
    return tuple(
        match[1] if match[1] is not None else int(match[2]) for match in _STEP.finditer(text)
    )


def line_of(text: str, place: Steps, *, is_json: bool) -> int:
    """The line, counted from 1, of the deepest part of a place that has a line of its own."""
    lines = dict(_json_lines(text) if is_json else _toml_lines(text))
    while place and place not in lines:
        place = place[:-1]
    return lines.get(place, 1)


def _toml_lines(text: str) -> Iterator[tuple[Steps, int]]:
    """Headers of tables, keys, and tables in an array that has several lines."""
    table: Steps = ()
    array: Steps = ()
    elements = 0
    counts: dict[Steps, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = array = _table(header[2].split("."), counts, in_array=header[1] == "[[")
            if table[-1] == 0:
                # The array begins with its first element.
                yield table[:-1], number
            yield table, number
        elif key := _KEY.match(line):
            array = (*table, key[1] or key[2] or key[3] or "")
            elements = 0
            yield array, number
            line = line[key.end() :]
        for _ in filter(None, _ELEMENT.findall(line)):
            yield (*array, elements), number
            elements += 1


def _table(names: list[str], counts: dict[Steps, int], *, in_array: bool) -> Steps:
    """The place of a table: the last element of every array that its name passes."""
    place: Steps = ()
    for index, name in enumerate(names):
        place = (*place, name)
        if in_array and index == len(names) - 1:
            counts[place] = counts.get(place, -1) + 1
        if place in counts:
            place = (*place, counts[place])
    return place


def _json_lines(text: str) -> Iterator[tuple[Steps, int]]:
    """Keys and elements of a text that is JSON."""
    stack: list[str | int] = []
    key = ""
    number, counted = 1, 0
    for match in _PIECE.finditer(text):
        piece = match[0]
        number += text.count("\n", counted, match.start())
        counted = match.start()
        if piece in "{[":
            yield tuple(stack), number
            stack.append(0 if piece == "[" else "")
        elif piece in "}]":
            stack.pop()
        elif piece == ":":
            stack[-1] = key
        elif piece == ",":
            if isinstance(stack[-1], int):
                stack[-1] += 1
        else:
            key = json.loads(piece) if piece.startswith('"') else piece
            yield tuple(stack), number
