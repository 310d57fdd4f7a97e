"""Charts of a report, drawn by matplotlib as SVG text inside an HTML page."""

import io
import re
import warnings
from datetime import timedelta
from html import escape
from typing import TYPE_CHECKING, Any, Final

from openmsmq.terminal.printable import printable

from .summary import Bars, Chart, Kind, Lines, Tone, value_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLORS: Final = {
    Tone.GOOD: "#2f9e6e",
    Tone.WAITING: "#e0a030",
    Tone.BAD: "#d1495b",
    Tone.UNKNOWN: "#9aa5b1",
    Tone.PLAIN: "#3b6fb6",
}
# Told apart also by those who do not see all colours.
CYCLE: Final = ("#3b6fb6", "#e08214", "#2f9e6e", "#b24a8c", "#7b6fd0", "#6b7785", "#b5a21f")
INK: Final = "#1f2933"
FAINT: Final = "#e4e8ee"
WIDTH_INCHES: Final = 8.6
LABEL_LENGTH: Final = 52
LEAST_SPAN: Final = timedelta(seconds=15)
# The stubs want each key as a literal of its own.
STYLE: Final[Any] = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 10.0,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": "#5a6875",
    "ytick.color": INK,
}
_REFERENCE: Final = re.compile(r'(\bid="|url\(#|href="#)')


def is_telling(chart: Chart) -> bool:
    """Whether a picture shows more than one number, which stands in a table."""
    if isinstance(chart, Bars):
        return len(chart.labels) > 1
    return any(len(points) > 1 for points in chart.series.values())


def draw(chart: Chart, number: int) -> str:
    """The SVG element of a chart; `number` keeps its ids apart from those of other charts."""
    # Loaded only here: it takes a second, and few commands draw.
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with (
        mpl.rc_context({**STYLE, "svg.hashsalt": f"chart {number}"}),
        warnings.catch_warnings(),
    ):
        # The browser draws the texts, and has more fonts; here they are only measured.
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        figure = Figure(layout="constrained")
        FigureCanvasSVG(figure)
        if isinstance(chart, Bars):
            _bars(figure, chart)
        else:
            _lines(figure, chart)
        file = io.StringIO()
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    return _element(file.getvalue(), chart.title, number)


def _element(svg: str, title: str, number: int) -> str:
    """The element alone, with a title for those who do not see it, and ids of its own."""
    element = svg[svg.index("<svg") :]
    element = re.sub(r"<metadata>.*?</metadata>", "", element, flags=re.DOTALL)
    element = _REFERENCE.sub(rf"\g<1>chart{number}-", element)
    head, _, rest = element.partition(">")
    # Without a size of its own it takes the width of the page.
    head = re.sub(r'\s(?:width|height)="[^"]*"', "", head)
    return f'{head} role="img"><title>{escape(title)}</title>{rest}'


def _bars(figure: "Figure", chart: Bars) -> None:
    figure.set_size_inches(WIDTH_INCHES, 0.55 + 0.34 * max(len(chart.labels), 1))
    axes = figure.add_subplot()
    tones = chart.tones or (Tone.PLAIN,) * len(chart.labels)
    places = range(len(chart.labels))
    bars = axes.barh(places, chart.values, color=[COLORS[tone] for tone in tones], height=0.68)
    axes.bar_label(
        bars, [_number(value, chart.kind) for value in chart.values], padding=5, color=INK
    )
    axes.set_yticks(places, [_short(label) for label in chart.labels])
    axes.invert_yaxis()
    axes.margins(x=0.12)
    axes.xaxis.set_visible(False)
    axes.tick_params(left=False)
    _no_frame(axes, "top", "right", "bottom")


def _lines(figure: "Figure", chart: Lines) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    figure.set_size_inches(WIDTH_INCHES, 3.2)
    axes = figure.add_subplot()
    for index, (name, points) in enumerate(chart.series.items()):
        times, values = [time for time, _ in points], [value for _, value in points]
        axes.plot(
            times,  # type: ignore[arg-type]  # matplotlib takes moments, its stubs numbers only
            values,
            label=_short(name),
            color=CYCLE[index % len(CYCLE)],
            linewidth=1.8,
            drawstyle="steps-post" if chart.steps else "default",
            marker="o" if len(points) < 3 else "",
            markersize=4,
        )
    locator = AutoDateLocator()  # type: ignore[no-untyped-call]  # partly typed
    axes.xaxis.set_major_locator(locator)
    formatter = ConciseDateFormatter(locator)  # type: ignore[no-untyped-call]  # as above
    axes.xaxis.set_major_formatter(formatter)
    axes.yaxis.set_major_locator(MaxNLocator(6, integer=chart.kind is Kind.COUNT))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _number(value, chart.kind)))
    # Room for the marks at the top; and one moment alone would stand among years.
    low, high = axes.get_ylim()
    axes.set_ylim(min(0, low), high + 0.03 * (high - min(0, low)))
    start, end = axes.get_xlim()
    moments = [time for points in chart.series.values() for time, _ in points]
    if moments and max(moments) - min(moments) < LEAST_SPAN:
        middle = min(moments) + (max(moments) - min(moments)) / 2
        span = [middle - LEAST_SPAN, middle + LEAST_SPAN]
        start, end = date2num(span)  # type: ignore[no-untyped-call]  # as above
    axes.set_xlim(start, end)
    axes.grid(axis="y", color=FAINT)
    axes.set_axisbelow(True)
    _no_frame(axes, "top", "right", "left")
    if chart.series:
        figure.legend(loc="outside lower left", frameon=False, ncols=2, fontsize=9)


def _number(value: float, kind: Kind) -> str:
    return value_text(int(value) if kind is Kind.COUNT else value, kind)


def _no_frame(axes: "Axes", *sides: str) -> None:
    for side in sides:
        axes.spines[side].set_visible(False)


def _short(label: str) -> str:
    """The label, or its beginning and its end; `$` would begin a formula."""
    label = printable(label)
    if len(label) > LABEL_LENGTH:
        label = f"{label[: LABEL_LENGTH // 2 - 1]}…{label[-LABEL_LENGTH // 2 :]}"
    return label.replace("$", r"\$")
