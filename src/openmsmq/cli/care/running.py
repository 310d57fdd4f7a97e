"""Jobs as commands run them: plan, question, progress, report."""

import signal
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import typer

from openmsmq.cli.failure import FAILED
from openmsmq.cli.options.confirmation import confirm
from openmsmq.cli.options.connection import connect
from openmsmq.cli.output import print_json
from openmsmq.terminal.printable import printable
from openmsmq.terminal.progress import progress
from openmsmq.terminal.quantities import count_text
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

if TYPE_CHECKING:
    from openmsmq.care.jobs import Job, JobReport, JobSpec
    from openmsmq.client.blocking.queue_manager import QueueManager

# What a job does, before and after it has.
WORDS: Final = {
    "move": ("Move", "Moved"),
    "copy": ("Copy", "Copied"),
    "retry": ("Send", "Sent"),
    "remove": ("Remove", "Removed"),
    "purge": ("Purge", "Purged"),
    "save": ("Save", "Saved"),
    "load": ("Load", "Loaded"),
}
_REASONS_SHOWN: Final = 10


def run_spec(
    socket: Path | None, spec: "JobSpec", *, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Plan a job and carry it out, or only say what it would do.

    Raises:
        Exit: something was refused, or the job was stopped.
        QueueError: a message that is named by its lookup id is not there.
    """
    from openmsmq.care.jobs import JobRunner, jobs_directory, plan_job

    with connect(socket) as manager, progress("looking", None) as update:
        job = plan_job(manager, spec, jobs_directory(), progress=update)
    _check_lookup_ids(job)
    if dry_run:
        try:
            report = JobRunner(job, lambda: connect(socket)).dry_run()
        finally:
            job.forget()
        show_report(job, report, as_json=as_json)
        return
    count = len(job.messages)
    if count:
        do, _ = WORDS[spec.kind]
        where = f" to {printable(spec.target)}" if spec.target else ""
        try:
            confirm(f"{do} {count_text(count, 'message')}{where}?", yes=yes)
        except typer.Abort:
            job.forget()
            raise
    run_job(socket, job, as_json=as_json)


def _check_lookup_ids(job: "Job") -> None:
    """A message that is named and not there is refused before anything is done, as by a move.

    Raises:
        QueueError: there is one.
    """
    if job.spec.where is not None or job.spec.first is not None:
        return
    there = {message.lookup_id for message in job.messages}
    missing = [wanted for wanted in job.spec.lookup_ids or () if wanted not in there]
    if missing:
        job.forget()
        raise QueueError(
            Hresult.MQ_ERROR_MESSAGE_NOT_FOUND,
            f"{', '.join(job.spec.sources)}: no message {', '.join(map(str, missing))}",
        )


def run_job(socket: Path | None, job: "Job", *, as_json: bool) -> None:
    """Carry out what is left of a job; Ctrl-C stops it between two steps."""
    from openmsmq.care.jobs import JobRunner

    with stopping() as stopped, progress(job.spec.kind, len(job.messages)) as update:
        own_names: set[str] = set()

        def connected() -> "QueueManager":
            manager = connect(socket)
            own_names.update(manager.identity.names)
            return manager

        runner = JobRunner(job, connected, progress=update, stopped=lambda: bool(stopped))
        report = runner.run()
    show_report(job, report, as_json=as_json, own_names=own_names)


@contextmanager
def stopping() -> Iterator[list[int]]:
    """A list that has something in it once the user pressed Ctrl-C, or the command was ended."""
    signals: list[int] = []

    def ask(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - of signals
        signals.append(number)

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def report_object(job: "Job", report: "JobReport") -> dict[str, Any]:
    """A report for JSON."""
    return {
        "job": report.id,
        "kind": str(job.spec.kind),
        "state": report.state,
        "dry_run": report.state == "dry run",
        "messages": len(job.messages),
        "done": report.done,
        "refused": report.refused,
        "gone": report.gone,
        "left": report.left,
        "reasons": report.reasons,
    }


def show_report(
    job: "Job", report: "JobReport", *, as_json: bool, own_names: Collection[str] = ()
) -> None:
    """Say what a job did or would do.

    Args:
        own_names: of the queue manager; what a job has sent to another one cannot be undone.

    Raises:
        Exit: with code 1, when something was refused or is left.
    """
    if as_json:
        print_json(report_object(job, report))
    else:
        _print_report(job, report, own_names)
    if report.refused or report.left:
        raise typer.Exit(FAILED)


def _print_report(job: "Job", report: "JobReport", own_names: Collection[str]) -> None:
    do, did = WORDS[job.spec.kind]
    dry = report.state == "dry run"
    words = f"Would {do.lower()}" if dry else did
    typer.echo(f"{words} {count_text(report.done, 'message')}")
    if report.gone:
        typer.echo(f"{count_text(report.gone, 'message')} no longer there, or locked by a reader")
    if report.refused:
        would = "would be " if dry else ""
        stay = "stays" if report.refused == 1 else "stay"
        refused = count_text(report.refused, "message")
        typer.echo(f"{refused} {would}refused, and {stay}:", err=True)
        reasons = sorted(report.reasons.items(), key=lambda item: -item[1])
        for text, count in reasons[:_REASONS_SHOWN]:
            typer.echo(f"  {count:,}: {printable(text)}", err=True)
    if dry:
        return
    if report.left:
        typer.echo(
            f"{count_text(report.left, 'message')} left: `openmsmq job resume {report.id}`",
            err=True,
        )
    elif report.done and job.can_be_undone and _has_put_here(job, own_names):
        typer.echo(f"Undo: openmsmq job undo {report.id}")


def _has_put_here(job: "Job", own_names: Collection[str]) -> bool:
    """Whether some messages of a job were for queues of this queue manager."""
    from openmsmq.client.machines import other_machine

    destinations = {message.destination for message in job.messages}
    return any(other_machine(name, own_names) is None for name in destinations)
