"""Values as text for pages."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from markupsafe import Markup, escape

from openmsmq.admin.web import segment
from openmsmq.terminal.printable import printable
from openmsmq.terminal.quantities import count_text, duration_text, size_text


def shown(value: object) -> str:
    """Foreign text with invisible or direction-changing characters made visible."""
    return printable(str(value))


def short_name(queue: str) -> str:
    """The short name of a queue: private queues without `private$`."""
    return queue.removeprefix("private$\\")


_DIRECT: Final = re.compile(
    r"DIRECT=(?:OS|TCP):([^\\]+)\\(?:private\$\\)?(.+)", re.IGNORECASE | re.DOTALL
)
_URL: Final = re.compile(r"DIRECT=HTTPS?://(\[[^\]]*\]|[^/:]+).*", re.IGNORECASE | re.DOTALL)


def short_destination(format_name: str, machine: str) -> str:
    """The destination of a message, as in lists: a queue of this machine by its short name."""
    direct = _DIRECT.fullmatch(format_name)
    if direct is None:
        return format_name
    host, queue = direct.groups()
    return queue if host.lower() in (".", machine.lower()) else f"{host}\\{queue}"


def host_at(format_name: str) -> str:
    """The machine in a format name or a URL; else the name itself."""
    direct = _DIRECT.fullmatch(format_name)
    if direct is not None:
        return direct[1]
    url = _URL.fullmatch(format_name)
    return format_name if url is None else url[1]


def queue_at(format_name: str) -> str:
    """The queue in a format name or a URL, without its address."""
    direct = _DIRECT.fullmatch(format_name)
    if direct is not None:
        return direct[2]
    return format_name.rpartition("/")[2] or format_name


def count(value: float | None) -> str:
    """A whole number with digit groups."""
    return "" if value is None else count_text(int(value))


def compact(value: float | None) -> str:
    """A number in few digits: `1.20 M` from a million on."""
    if value is None:
        return ""
    if value >= 1_000_000_000:
        return f"{value / 1_000_000_000:.2f} G"
    if value >= 1_000_000:
        return f"{value / 1_000_000:.2f} M"
    return count_text(int(value))


def rate(value: float | None) -> str:
    """A number per second."""
    if value is None:
        return "-"
    if value and value < 99.95:
        return f"{value:.1f}"
    return f"{value:,.0f}"


def age(seconds: float | None) -> str:
    """A time span in its largest unit, `26 min`; two for days."""
    if seconds is None:
        return ""
    if seconds < 0:
        seconds = 0.0
    if seconds < 1:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds / 60:.0f} min"
    if seconds < 86400:
        return duration_text(seconds - seconds % 60)
    return f"{seconds / 86400:.0f} d"


def moment(value: float | datetime | str | None, style: str = "time") -> Markup:
    """A `time` element in UTC; the page's script shows it in the zone of the browser.

    Args:
        style: `time` for the time of day, `second` to the second, `date` with the date.
    """
    if value is None:
        return Markup("")
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if not isinstance(value, datetime):
        value = datetime.fromtimestamp(value, UTC)
    value = value.astimezone(UTC)
    if style == "date":
        text = f"{value:%d %b %Y, %H:%M:%S}".lstrip("0")
    elif style == "second":
        text = f"{value:%H:%M:%S}"
    else:
        text = f"{value:%H:%M:%S}.{value.microsecond // 1000:03}"
    return Markup('<time datetime="{}" data-style="{}" title="{} UTC">{}</time>').format(
        value.isoformat(timespec="milliseconds"), style, f"{value:%d %b %Y, %H:%M:%S}", text
    )


def travel(sent: datetime, arrived: datetime) -> str:
    """The transit time of a message; the time at which it was sent has whole seconds."""
    seconds = (arrived - sent).total_seconds()
    if seconds < 0:
        return "before it was sent, by the clock of its sender"
    return "within a second" if seconds < 1 else f"{age(int(seconds))} later"


def until(value: str, now: float) -> str:
    """The time until a moment."""
    return age(datetime.fromisoformat(value).timestamp() - now)


def spark(values: Sequence[float | None], width: int = 92, height: int = 18, tone: str = "") -> str:
    """A small line, drawn as SVG."""
    known = [0.0 if value is None else float(value) for value in values]
    if len(known) < 2:
        known = [0.0, 0.0]
    top = max(known) or 1.0
    step = width / (len(known) - 1)
    points = [
        f"{at * step:.1f} {height - 1.5 - value / top * (height - 3):.1f}"
        for at, value in enumerate(known)
    ]
    line = "M" + "L".join(points)
    return Markup(
        '<svg class="spark {}" viewBox="0 0 {} {}" preserveAspectRatio="none" aria-hidden="true">'
        '<path class="area" d="{}"/><path d="{}"/></svg>'
    ).format(tone, width, height, f"{line}L{width} {height}L0 {height}Z", line)


def highlight(text: str, needle: str) -> Markup:
    """The text with matches marked."""
    safe = shown(text)
    if not needle:
        return escape(safe)
    at = safe.casefold().find(needle.casefold())
    if at < 0 or len(safe.casefold()) != len(safe):
        return escape(safe)
    end = at + len(needle)
    return Markup("{}<mark>{}</mark>{}").format(safe[:at], safe[at:end], safe[end:])


def advice(value: object) -> Markup:
    """Text in which commands, written in backticks, are code."""
    parts = shown(value).split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if at % 2 else escape(part)
        for at, part in enumerate(parts)
    )


def shown_lines(value: str) -> str:
    """Text of several lines with invisible or direction-changing characters made visible."""
    return "\n".join(printable(line) for line in value.split("\n"))


FILTERS: dict[str, Any] = {
    "shown": shown,
    "shown_lines": shown_lines,
    "advice": advice,
    "short": lambda queue: shown(short_name(queue)),
    "queue_at": lambda destination: shown(queue_at(destination)),
    "count": count,
    "counted": count_text,
    "compact": compact,
    "rate": rate,
    "size": size_text,
    "age": age,
    "moment": moment,
    "until": until,
    "segment": segment,
    "highlight": highlight,
}
