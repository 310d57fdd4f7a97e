"""The conformance figures as a table for the terminal and as pages for docs/conformance."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Final

from rich.table import Table

from tools.catalogue import EXCLUDED, NEEDS, Catalogue, Exclusion, Results, Row, State, Tally

TITLES: Final = {
    "MQDMPR": "[MS-MQDMPR] the queue manager: queues, messages, transactions",
    "MQQB": "[MS-MQQB] message transfer between queue managers",
    "MQQP": "[MS-MQQP] reading queues remotely, the older interface",
    "MQRR": "[MS-MQRR] reading queues remotely",
    "MQSRM": "[MC-MQSRM] message transfer over HTTP and multicast (SRMP)",
}
FIGURES: Final = ("rows", "tested", "passing", "unreached", "excluded")
KNOWN: Final = "unreached.tsv"
GENERATED: Final = "<!-- Written by `make conformance`. Do not edit. -->\n\n"


def figures(tally: Tally) -> list[str]:
    values = asdict(tally)
    return [str(values[name]) for name in FIGURES] + [f"{tally.percent:.1f}"]


def terminal_table(catalogue: Catalogue, results: Results, specifications: Iterable[str]) -> Table:
    """One line for each area, one for each specification, one for all that is shown."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("specification")
    table.add_column("area")
    for name in (*FIGURES, "%"):
        table.add_column(name, justify="right")
    shown = list(specifications)
    for specification in shown:
        tallies = catalogue.tallies(results, specification)
        for tally in tallies[:-1]:
            table.add_row(specification, tally.area, *figures(tally))
        table.add_row(specification, "all", *figures(tallies[-1]), style="bold")
    if shown == catalogue.specifications():
        table.add_row("all", "all", *figures(catalogue.tally(results)), style="bold")
    return table


def json_lines(
    catalogue: Catalogue, results: Results, specifications: Iterable[str]
) -> Iterator[dict[str, object]]:
    for specification in specifications:
        for tally in catalogue.tallies(results, specification):
            yield {**asdict(tally), "area": tally.area or "all", "percent": tally.percent}


def markdown_table(heading: Iterable[str], right: int, lines: Iterable[Iterable[str]]) -> str:
    """A Markdown table whose columns from `right` on are aligned to the right."""
    names = list(heading)
    rule = ["---" if column < right else "---:" for column in range(len(names))]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (names, rule, *lines))


def readme(catalogue: Catalogue, results: Results) -> str:
    whole = catalogue.tally(results)
    specifications = catalogue.specifications()
    per_specification = [
        [f"[{name}]({name}.md)", TITLES.get(name, name), *figures(catalogue.tally(results, name))]
        for name in specifications
    ]
    per_area = [
        [f"[{tally.specification}]({tally.specification}.md)", tally.area, *figures(tally)]
        for name in specifications
        for tally in catalogue.tallies(results, name)[:-1]
    ]
    exclusions = [[row.id, row.needs, escape(row.reason)] for row in sorted_exclusions(catalogue)]
    return (
        f"{GENERATED}# Conformance\n\n"
        "Each catalogue (`*.tsv` beside this page) lists the requirements of one specification, a "
        'row each. Tests name the rows they prove: `@pytest.mark.spec("MQQB-2.2.3.1-04")`. A row '
        "is *tested* when at least one test names it, and *passing* when all of those tests pass. "
        "It is *unreached*, and does not count as passing, when each of its tests uses a function "
        "or class that nothing but tests can reach: neither a queue manager nor a client nor a "
        f"command runs it. [{KNOWN}]({KNOWN}) lists such code of core, protocol and service, with "
        "a reason each; a *window* there only shows tests what reached code did, and takes nothing "
        "away. "
        f"A row may be *excluded* only in [{EXCLUDED}]({EXCLUDED}), with a reason, and only if it "
        f"needs one of: {', '.join(NEEDS)}. The percentage is passing rows of those not excluded.\n"
        "\n"
        "`make conformance` runs the tests that name rows and writes these pages; `make test` "
        "prints the same figures. `pytest --spec MQQB-2.2.3.1` runs the tests of one section. "
        "[Mutants](mutants.md) says how often the tests notice when the code is wrong.\n\n"
        "## Specifications\n\n"
        + markdown_table(
            ["specification", "", *FIGURES, "%"],
            2,
            [*per_specification, ["all", "", *figures(whole)]],
        )
        + "\n## Areas\n\n"
        + markdown_table(["specification", "area", *FIGURES, "%"], 2, per_area)
        + "\n## Excluded rows\n\n"
        + markdown_table(["row", "needs", "reason"], 3, exclusions)
    )


def page(catalogue: Catalogue, results: Results, specification: str) -> str:
    """Every row of a specification with its state and its tests, by area."""
    rows = [row for row in catalogue.rows.values() if row.specification == specification]
    parts = [f"{GENERATED}# {TITLES.get(specification, specification)}\n\n[All](README.md)\n"]
    for area in sorted({row.area for row in rows}):
        lines = [
            [
                f'<a id="{row.id}"></a>{row.id}',
                row.level,
                row.role,
                escape(row.requirement),
                state_cell(catalogue, results, row),
            ]
            for row in rows
            if row.area == area
        ]
        heading = ["row", "level", "role", "requirement", "state and tests"]
        parts.append(f"\n## {area}\n\n" + markdown_table(heading, 5, lines))
    return "".join(parts)


def sorted_exclusions(catalogue: Catalogue) -> list[Exclusion]:
    return sorted(catalogue.excluded.values(), key=lambda exclusion: exclusion.id)


def state_cell(catalogue: Catalogue, results: Results, row: Row) -> str:
    state = catalogue.state(row, results)
    if state is State.EXCLUDED:
        exclusion = catalogue.excluded[row.id]
        return f"excluded ({exclusion.needs}): {escape(exclusion.reason)}"
    # The cases of a parametrised test are one line: their number says enough.
    cases = Counter(test.partition("[")[0] for test in results.get(row.id, {}))
    tests = [
        f"`{test}`" + (f" ({count} cases)" if count > 1 else "")
        for test, count in sorted(cases.items())
    ]
    return "<br>".join([f"**{state.value}**" if tests else state.value, *tests])


def escape(text: str) -> str:
    """Keep Markdown from reading requirement text as mark-up."""
    for character in ("\\", "|", "<", "*", "_", "[", "`"):
        text = text.replace(character, f"\\{character}")
    return text
