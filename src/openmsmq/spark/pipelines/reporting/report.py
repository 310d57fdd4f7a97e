"""The report of a pipeline: one self-contained HTML file."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Final

from openmsmq.terminal.quantities import time_text
from openmsmq.version import __version__

from .charts import draw, is_telling
from .summary import Column, Kind, Summary, Table, Value, value_text

# The page may show what is in it, and load nothing.
POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"
_WORD_END: Final = re.compile(r"(?<=[\w$)])([_\\;/=:]|-(?=\w))(?=\w)")
_CODE: Final = "`"
# A page of more rows is no longer read; the tables on disk have them all.
SHOWN_ROWS: Final = 500
CSS: Final = """
:root { color-scheme: light; --ink: #1f2933; --soft: #5a6875; --line: #e4e8ee; --card: #fff; }
* { box-sizing: border-box; }
body { margin: 0; background: #f5f7fa; color: var(--ink); line-height: 1.5;
       font: 15px/1.5 system-ui, "Segoe UI", "Helvetica Neue", Arial, "DejaVu Sans", sans-serif; }
main { max-width: 1040px; margin: 0 auto; padding: 2.2rem 1.2rem 3rem; }
header p { color: var(--soft); margin: .2rem 0 0; }
h1 { font-size: 1.55rem; line-height: 1.25; margin: .1rem 0 0; letter-spacing: -.01em; }
h2 { font-size: 1.02rem; margin: 0 0 .7rem; }
.kicker { text-transform: uppercase; letter-spacing: .09em; font-size: .74rem; font-weight: 600;
          color: #3b6fb6; margin: 0; }
section, .facts > div { background: var(--card); border: 1px solid var(--line);
                        border-radius: 10px; box-shadow: 0 1px 2px rgb(31 41 51 / 4%); }
section { padding: 1.1rem 1.3rem 1.2rem; margin-top: 1.1rem; overflow-x: auto; }
.facts { display: grid; gap: .8rem; margin-top: 1.3rem;
         grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); }
.facts > div { padding: .75rem 1rem .8rem; min-width: 0; }
.facts dt { color: var(--soft); font-size: .82rem; }
.facts dd { margin: 0; font-size: 1.3rem; font-weight: 600; overflow-wrap: break-word;
            font-variant-numeric: tabular-nums; }
.facts dd.long { font-size: 1rem; padding-top: .25rem; }
.warning { background: #fff8e6; border: 1px solid #f0d9a0; border-left: 4px solid #e0a030;
           border-radius: 8px; padding: .6rem .9rem; margin: .8rem 0 0; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th { text-align: left; font-weight: 600; color: var(--soft); font-size: .8rem; white-space: nowrap;
     border-bottom: 2px solid var(--line); padding: .35rem .7rem .35rem 0; }
td { border-bottom: 1px solid var(--line); padding: .38rem .7rem .38rem 0; vertical-align: top;
     overflow-wrap: break-word; }
tr:last-child td { border-bottom: 0; }
th:last-child, td:last-child { padding-right: 0; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.number + .text, .time + .text { padding-left: 1.1rem; }
.time { white-space: nowrap; font-variant-numeric: tabular-nums; }
tfoot td { font-weight: 600; border-top: 2px solid var(--line); }
.note { color: var(--soft); font-size: .85rem; margin: .7rem 0 0; }
svg { display: block; width: 100%; height: auto; }
code { font: .86em ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
.inputs { display: grid; grid-template-columns: max-content 1fr; gap: .1rem .8rem;
          margin: .6rem 0 0; font-size: .9rem; color: var(--soft); }
.inputs dd { margin: 0; overflow-wrap: break-word; min-width: 0; }
footer { color: var(--soft); font-size: .82rem; margin-top: 1.4rem; }
@media print { body { background: #fff; } section { break-inside: avoid; box-shadow: none; } }
"""


def write_report(path: Path, summary: Summary, *, made: datetime | None = None) -> Path:
    """Write the report of a summary; the file appears whole or not at all."""
    text = report_html(summary, made or datetime.now(UTC))
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)
    return path


def report_html(summary: Summary, made: datetime) -> str:
    """The page of a summary."""
    title = escape(f"openmsmq {summary.pipeline}: {summary.headline}")
    return "\n".join(
        (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title>\n<style>{CSS}</style>\n</head>\n<body>\n<main>",
            *_page(summary, made),
            "</main>\n</body>\n</html>\n",
        )
    )


def _page(summary: Summary, made: datetime) -> Iterator[str]:
    yield f'<header><p class="kicker">openmsmq pipeline {escape(summary.pipeline)}</p>'
    yield f"<h1>{escape(summary.headline)}</h1>"
    yield f"<p>{time_text(made)}</p>"
    if summary.inputs:
        yield '<dl class="inputs">'
        yield from (
            f"<dt>{escape(name)}</dt><dd>{_text(text)}</dd>" for name, text in summary.inputs
        )
        yield "</dl>"
    yield "</header>"
    for warning in summary.warnings:
        yield f'<p class="warning">{_text(warning)}</p>'
    if summary.facts:
        yield '<dl class="facts">'
        yield from (_fact(column, value) for column, value in summary.facts)
        yield "</dl>"
    for number, chart in enumerate(chart for chart in summary.charts if is_telling(chart)):
        yield f"<section><h2>{escape(chart.title)}</h2>\n{draw(chart, number)}</section>"
    for table in summary.tables:
        yield from _table(table)
    yield f"<footer>Made by openmsmq {escape(__version__)}."
    for name, path in summary.outputs:
        yield f"<br>{escape(name)}: <code>{escape(path)}</code>"
    yield "</footer>"


def _fact(column: Column, value: Value) -> str:
    text = value_text(value, column.kind)
    size = ' class="long"' if len(text) > 9 else ""
    return f"<div><dt>{escape(column.title)}</dt><dd{size}>{escape(text)}</dd></div>"


def _table(table: Table) -> Iterator[str]:
    yield f"<section><h2>{escape(table.title)}</h2>\n<table>\n<thead><tr>"
    for column in table.columns:
        yield f'<th class="{_class(column)}">{escape(column.title)}</th>'
    yield "</tr></thead>\n<tbody>"
    for row in table.rows[:SHOWN_ROWS]:
        yield _row(table.columns, row)
    yield "</tbody>"
    if table.adds_up and table.rows:
        yield f"<tfoot>{_row(table.columns, table.sums(), blank='')}</tfoot>"
    yield "</table>"
    if len(table.rows) > SHOWN_ROWS:
        yield f'<p class="note">{len(table.rows) - SHOWN_ROWS:,} more rows are in the tables.</p>'
    if not table.rows:
        yield '<p class="note">None.</p>'
    elif table.note:
        yield f'<p class="note">{_text(table.note)}</p>'
    yield "</section>"


def _row(columns: tuple[Column, ...], row: tuple[Value, ...], blank: str = "-") -> str:
    cells = (
        f'<td class="{_class(column)}">'
        f"{_text(blank if value is None else value_text(value, column.kind))}</td>"
        for column, value in zip(columns, row, strict=True)
    )
    return f"<tr>{''.join(cells)}</tr>"


def _text(text: str) -> str:
    """A text; what stands between backticks is what somebody types."""
    parts = text.split(_CODE)
    # One that has no partner is a character like others.
    if len(parts) % 2 == 0:
        return _breakable(text)
    return "".join(
        f"<code>{escape(part)}</code>" if index % 2 else _breakable(part)
        for index, part in enumerate(parts)
    )


def _breakable(text: str) -> str:
    """A text whose long names end their lines between words."""
    return "<wbr/>".join(map(escape, _WORD_END.sub("\\1\0", text).split("\0")))


def _class(column: Column) -> str:
    return {Kind.TEXT: "text", Kind.PROSE: "text", Kind.TIME: "time"}.get(column.kind, "number")
