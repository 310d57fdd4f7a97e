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
        lines: makes the lines of its series, one or more in a piece; called only when the family is
            written.
    """

    name: str
    kind: Kind
    help: str
    lines: Callable[[], Iterable[str]]


def escaped(text: str) -> str:
    """A label value between its quotation marks."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def labels(**values: str) -> str:
    """Labels between their braces."""
    return "{" + ",".join(f'{name}="{escaped(text)}"' for name, text in values.items()) + "}"


def number(value: float) -> str:
    """A value, as short as it can be read back."""
    return repr(int(value)) if float(value).is_integer() else repr(float(value))


def single(name: str, kind: Kind, description: str, value: float) -> Family:
    """A family of one series without labels."""
    return Family(name, kind, description, lambda: (f"{name} {number(value)}",))


def labelled(
    name: str, kind: Kind, description: str, series: Iterable[tuple[str, float]]
) -> Family:
    """A family of series with labels as `labels` writes them."""
    return Family(
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

    return Family(name, "histogram", description, lines)


def bound_text(bound: float) -> str:
    """A bound of a bucket, the same in both formats."""
    return repr(float(bound))


def write(families: Iterable[Family], *, openmetrics: bool) -> Iterator[bytes]:
    """The families one by one: all of them as text would take much memory at once."""
    for name, kind, description, make in families:
        shown, word = name, str(kind)
        if openmetrics:
            shown = name.removesuffix(_TOTAL) if kind == "counter" else name
            shown = shown.removesuffix(_INFO) if kind == "info" else shown
        elif kind == "info":
            word = "gauge"
        lines = list(make())
        if not lines:
            continue
        head = (f"# HELP {shown} {description}", f"# TYPE {shown} {word}")
        # Half of a surrogate pair, which UTF-8 cannot carry, becomes a question mark.
        yield "\n".join((*head, *lines, "")).encode("utf-8", "replace")
    if openmetrics:
        yield b"# EOF\n"
