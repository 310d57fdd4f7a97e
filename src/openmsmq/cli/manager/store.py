"""`openmsmq store`: checks the store of a stopped queue manager."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

import typer

from openmsmq.cli.failure import Refusal, reporting
from openmsmq.cli.options.data_directory import DataOption, data_directory, store_directory
from openmsmq.cli.output import JsonOption, print_json, print_properties
from openmsmq.terminal.progress import progress
from openmsmq.terminal.quantities import count_text, size_text
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.errors import StoreError

if TYPE_CHECKING:
    from openmsmq.store.check import StoreReport
    from openmsmq.store.interface import Finding

_HELP: Final = "Check the store of a stopped queue manager."


def register(app: typer.Typer) -> None:
    """Add the group to the program."""
    group = typer.Typer(help=_HELP, no_args_is_help=True, rich_markup_mode=None)
    # With a callback a single command keeps its name.
    group.callback()(_group)
    group.command("check")(reporting("store check", check))
    app.add_typer(group, name="store")


def _group() -> None:
    """Check the store of a stopped queue manager."""


def check(*, data: DataOption = None, as_json: JsonOption = False) -> None:
    """Check every byte of a store without changing it.

    The exit code is 0 if the store is sound.
    """
    from openmsmq.store.check import check_store

    directory = store_directory(data_directory(data))
    try:
        with progress("checking", None) as update:
            report = check_store(directory, update)
    except StoreError as exc:
        raise Refusal(
            Hresult.MQ_ERROR_MESSAGE_STORAGE_FAILED,
            exc.detail,
            cause=exc.cause or "There is no store, or a queue manager is running on it.",
            remedy=exc.remedy
            or "Stop the queue manager first, or name the data directory with --data.",
        ) from exc
    if as_json:
        print_json({"store": str(directory), **report_object(report)})
    else:
        print_properties(report_properties(str(directory), report))
    if not report.sound:
        raise Refusal(
            Hresult.MQ_ERROR_MESSAGE_STORAGE_FAILED,
            f"{directory} is damaged",
            cause="The disk is failing, or something else has written into the files.",
            remedy="Copy the directory, then restore the newest backup into a new one.",
        )


def report_object(report: "StoreReport") -> dict[str, Any]:
    """What a check found, for JSON."""
    return {
        "sound": report.sound,
        "messages": report.messages,
        "bytes": report.message_bytes,
        "segments": report.segments,
        "snapshots": report.snapshots,
        "batches": report.batches,
        "rows": report.rows,
        "damage": [asdict(finding) for finding in report.damage],
        "repairable": [asdict(finding) for finding in report.repairable],
    }


def report_properties(directory: str, report: "StoreReport") -> list[tuple[str, str]]:
    """What a check found, for people."""
    properties = [
        ("Store", directory),
        ("State", "sound" if report.sound else "DAMAGED"),
        ("Messages", f"{count_text(report.messages)} ({size_text(report.message_bytes)})"),
        (
            "Files",
            f"{count_text(report.segments, 'segment')}, {count_text(report.snapshots, 'snapshot')}",
        ),
        ("Batches", count_text(report.batches)),
    ]
    if report.damage:
        properties.append(("Damage", findings_text(report.damage)))
    if report.repairable:
        properties.append(("At next start", f"repaired: {findings_text(report.repairable)}"))
    return properties


def findings_text(findings: "tuple[Finding, ...]") -> str:
    """Where something is wrong, one in a line."""
    return "\n".join(
        f"{finding.file} at {finding.offset}: {finding.reason}" for finding in findings
    )
