"""Write docs/api.md from the docstrings and signatures of the Python API."""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import openmsmq
from openmsmq import aio, client
from openmsmq.server.embedded import EmbeddedQueueManager, embedded
from tools.api_keys import TABLES

PAGE = Path(__file__).resolve().parent.parent / "docs" / "api.md"

HEAD = """\
# Python API

Written by `python -m tools.api_page` from the docstrings; change those, not this page. The
[Python client](client.md) shows how the parts work together.

"""

KEYS = """\
## Keys of the results

These calls return dicts.

"""

AIO = """\
## openmsmq.aio

The same names and arguments as above, for asyncio: what talks to the queue manager is awaited,
`with` is `async with`, `for` is `async for`.

"""

AWAITED = "`await`"
AWAITED_OR_WITH = "`await`, or `async with`, which closes it"
WITH = "`async with`"
FOR = "`async for`"
FOR_OR_WITH = "`async for`, inside `async with` where handling may fail"
PLAIN = "as they are"

SECTIONS: dict[str, tuple[Any, ...]] = {
    "Connect": (client.connect, embedded, EmbeddedQueueManager, client.QueueManager),
    "Queues": (client.Queue, client.MessageStream, client.Transaction, client.QueueProperties),
    "Messages": (client.Message, client.ReceivedMessage, client.BrowsedMessage, client.Page),
    "Errors": (
        client.MsmqError,
        client.QueueError,
        client.AccessDenied,
        client.ReceiveTimeout,
        client.ConnectionLost,
        client.ConfigError,
    ),
    "Reading first and removing later": (
        client.Ranges,
        client.RangeInfo,
        client.RangePlan,
        client.Leased,
        client.Producer,
        client.Identity,
    ),
}
"""Everything public, in the order of the page."""

_ENTRY = re.compile(r"^([\w, ]+|\w+[^:]*): (.*)$")
_WIDTH = 92
_PARTS = ("Args:", "Attributes:", "Raises:", "Returns:")


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for title, members in SECTIONS.items():
        parts.append(f"## {title}\n\n")
        parts += [section(member) for member in members]
    parts.append(KEYS)
    parts += [keys(title, described) for title, described in TABLES]
    parts.append(AIO)
    names = [f"`{name}`" for name in aio.__all__]
    parts.append(f"{', '.join(names)}.\n\n")
    parts.append(awaited())
    return "".join(parts)


def keys(title: str, described: dict[str, str]) -> str:
    """The keys of a dict and what they mean."""
    rows = [f"| `{name}` | {meaning} |\n" for name, meaning in described.items()]
    return "".join([f"### {title}\n\n", "| key | |\n| --- | --- |\n", *rows, "\n"])


def awaited() -> str:
    """Which calls of `aio` are awaited, and how the others are used."""
    ways: dict[str, list[str]] = {
        way: [] for way in (AWAITED, AWAITED_OR_WITH, WITH, FOR, FOR_OR_WITH, PLAIN)
    }
    ways[way_of(aio.connect)].append("`connect`")
    ways[FOR].append("`Queue` itself")
    for kind in (getattr(aio, name) for name in aio.__all__):
        for name, value in public(kind) if isinstance(kind, type) else ():
            ways[way_of(value)].append(f"`{kind.__name__}.{name}`")
    rows = [f"| {way} | {', '.join(calls)} |\n" for way, calls in ways.items()]
    return "".join(["| how | calls |\n| --- | --- |\n", *rows])


def way_of(value: Any) -> str:
    """How a member of `aio` is used."""
    function = inspect.unwrap(value)
    if inspect.iscoroutinefunction(function):
        return AWAITED
    if inspect.isasyncgenfunction(function):
        return FOR if function is value else WITH
    returned = "" if isinstance(value, property) else str(inspect.signature(function))
    if "Pending[" in returned:
        return AWAITED_OR_WITH
    return FOR_OR_WITH if "MessageStream" in returned else PLAIN


def section(member: Any) -> str:
    """A function or a class with its public members."""
    where = "openmsmq" if member.__name__ in openmsmq.__all__ else "openmsmq.client"
    if not isinstance(member, type):
        head = f"### {where}.{member.__name__}\n\n"
        return head + code(signature(member)) + document(member)
    bases = [base.__name__ for base in member.__bases__ if issubclass(base, Exception)]
    name = f"{where}.{member.__name__}"
    if member is EmbeddedQueueManager:
        name = "What embedded returns"
    head = f"### {name}\n\n" + (f"Is a `{bases[0]}`. " if bases else "")
    return head + document(member) + table(member) + "".join(methods(member))


def table(member: type) -> str:
    """The properties of a class, and its fields unless the docstring has them."""
    rows = []
    if not re.search("^(Args|Attributes):", inspect.getdoc(member) or "", re.MULTILINE):
        rows = [f"| `{name}` | `{kind}` |\n" for name, kind in own_fields(member)]
    rows += [
        f"| `{name}` | {one_line(value)} |\n"
        for name, value in public(member)
        if isinstance(value, property)
    ]
    return "".join(["| property | |\n| --- | --- |\n", *rows, "\n"]) if rows else ""


def own_fields(member: type) -> list[tuple[str, str]]:
    """The public fields of a record with their types."""
    tree = ast.parse(dedent(inspect.getsource(member))).body[0]
    assert isinstance(tree, ast.ClassDef)  # noqa: S101 - the source of a class
    return [
        (each.target.id, annotation(each.annotation).replace("|", "\\|"))
        for each in tree.body
        if isinstance(each, ast.AnnAssign)
        and isinstance(each.target, ast.Name)
        and not each.target.id.startswith("_")
    ]


def methods(member: type) -> Iterator[str]:
    """The methods of a class."""
    for name, value in public(member):
        function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        if inspect.isfunction(function):
            yield f"#### {member.__name__}.{name}\n\n"
            yield code(signature(function)) + document(function)


def public(member: type) -> list[tuple[str, Any]]:
    """What a class defines under public names, itself or in a base of the same package."""
    package = member.__module__.rpartition(".")[0]
    classes = [member, *(base for base in member.__bases__ if in_facade(base, package))]
    shown = [
        (name, value)
        for kind in classes
        for name, value in vars(kind).items()
        if not name.startswith("_")
    ]
    kinds = (property, classmethod, staticmethod)
    return [each for each in shown if isinstance(each[1], kinds) or callable(each[1])]


def in_facade(kind: type, package: str) -> bool:
    """Whether a base is part of a facade of the client, and not a class that programs use."""
    return package.startswith("openmsmq.client.") and kind.__module__.startswith(f"{package}.")


def signature(function: Any) -> list[str]:
    """The call as it is written in the source, without `self`."""
    tree = ast.parse(dedent(inspect.getsource(inspect.unwrap(function)))).body[0]
    assert isinstance(tree, ast.FunctionDef)  # noqa: S101 - the blocking API has no other
    shown = list(arguments(tree.args))
    end = f") -> {annotation(tree.returns)}"
    line = f"{tree.name}({', '.join(shown)}{end}"
    if len(line) <= _WIDTH:
        return [line]
    return [f"{tree.name}(", *(f"    {each}," for each in shown), end]


def arguments(given: ast.arguments) -> Iterator[str]:
    """Each argument with its type and its default."""
    defaults: list[ast.expr | None] = [None] * (len(given.args) - len(given.defaults))
    for each, default in zip(given.args, [*defaults, *given.defaults], strict=True):
        if each.arg != "self":
            yield argument(each, default)
    if given.vararg is not None:
        yield f"*{argument(given.vararg, None)}"
    elif given.kwonlyargs:
        yield "*"
    for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        yield argument(each, default)
    if given.kwarg is not None:
        yield f"**{argument(given.kwarg, None)}"


def argument(each: ast.arg, default: ast.expr | None) -> str:
    shown = f"{each.arg}: {annotation(each.annotation)}"
    return shown if default is None else f"{shown} = {ast.unparse(default)}"


def annotation(node: ast.expr | None) -> str:
    """A type; without the quotes of one that is only defined later."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return "None" if node is None else ast.unparse(node)


def one_line(value: Any) -> str:
    return " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split()).replace("|", "\\|")


def document(member: Any) -> str:
    """The docstring as Markdown: arguments and errors as lists."""
    parts: list[str] = []
    for paragraph in (inspect.getdoc(member) or "").split("\n\n"):
        title, _, rest = paragraph.partition("\n")
        if title in _PARTS:
            parts.append(f"{title}\n\n{entries(dedent(rest))}\n")
        elif paragraph.startswith(" "):
            parts.append(code(dedent(paragraph).split("\n")))
        else:
            parts.append(f"{paragraph}\n\n")
    return "".join(parts)


def entries(text: str) -> str:
    """`name: what it is` of a docstring as a list."""
    lines: list[str] = []
    for line in text.split("\n"):
        found = _ENTRY.match(line)
        if found and not line.startswith(" "):
            names = ", ".join(f"`{name.strip()}`" for name in found[1].split(","))
            lines.append(f"- {names}: {found[2]}")
        else:
            lines.append(indent(line.strip(), "  "))
    return "".join(f"{line}\n" for line in lines)


def code(lines: list[str]) -> str:
    return "".join(["```py\n", *(f"{line}\n" for line in lines), "```\n\n"])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
