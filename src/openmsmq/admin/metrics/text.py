"""Families of series as text: Prometheus 0.0.4 and OpenMetrics 1.0, written by hand."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final, Literal, NamedTuple

PREFIX: Final = "msmq_"
PROMETHEUS: Final = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS: Final = "application/openmetrics-text; version=1.0.0; charset=utf-8"
_TOTAL: Final = "_total"
_INFO: Final = "_info"

Kind = Literal["counter", "gauge", "histogram", "info"]


class Family(NamedTuple):
    """Series of one name.

    Attributes:
        name: with its prefix; of a counter with `_total`.
        pieces: makes the lines of its series, one or more per piece, each with its end; called
            only when the family is written.
    """

    name: str
    kind: Kind
    help: str
    pieces: Callable[[], Iterable[bytes]]


def escaped(text: str) -> str:
    """A label value between its quotation marks."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def labels(**values: str) -> str:
    """Labels between their braces."""
    return "{" + ",".join(f'{name}="{escaped(text)}"' for name, text in values.items()) + "}"


def number(value: float) -> str:
    """A value, as short as it can be read back."""
    return repr(int(value)) if float(value).is_integer() else repr(float(value))


def encoded(text: str) -> bytes:
    """Text as sent; half of a surrogate pair, which UTF-8 cannot encode, becomes a `?`."""
    return text.encode("utf-8", "replace")


def listed(name: str, kind: Kind, description: str, lines: Callable[[], Iterable[str]]) -> Family:
    """A family from lines without their ends."""
    return Family(
        name, kind, description, lambda: [encoded("".join(f"{line}\n" for line in lines()))]
    )


def single(name: str, kind: Kind, description: str, value: float) -> Family:
    """A family of one series without labels."""
    return listed(name, kind, description, lambda: (f"{name} {number(value)}",))


def labelled(
    name: str, kind: Kind, description: str, series: Iterable[tuple[str, float]]
) -> Family:
    """A family of series with labels as `labels` writes them."""
    return listed(
        name, kind, description, lambda: [f"{name}{each} {number(value)}" for each, value in series]
    )


def histogram(
    name: str, description: str, bounds: Sequence[float], counts: Sequence[int], total: float
) -> Family:
    """A histogram from the counts of its buckets."""

    def lines() -> list[str]:
        sums = list(accumulate(counts))
        edges = [*map(bound_text, bounds), "+Inf"]
        buckets = zip(edges, sums, strict=True)
        return [
            *(f'{name}_bucket{{le="{edge}"}} {count}' for edge, count in buckets),
            f"{name}_sum {number(total)}",
            f"{name}_count {sums[-1]}",
        ]

    return listed(name, "histogram", description, lines)


def bound_text(bound: float) -> str:
    """A bound of a bucket, the same in both formats."""
    return repr(float(bound))


def write(families: Iterable[Family], *, openmetrics: bool) -> Iterator[bytes]:
    """The families, piece by piece."""
    for name, kind, description, make in families:
        shown, word = name, str(kind)
        if openmetrics:
            shown = name.removesuffix(_TOTAL) if kind == "counter" else name
            shown = shown.removesuffix(_INFO) if kind == "info" else shown
        elif kind == "info":
            word = "gauge"
        pieces = [piece for piece in make() if piece]
        if pieces:
            yield encoded(f"# HELP {shown} {description}\n# TYPE {shown} {word}\n")
            yield from pieces
    if openmetrics:
        yield b"# EOF\n"
