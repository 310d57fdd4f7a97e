"""`openmsmq job`: jobs of this user: what they did; resume, stop and undo them."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final

import typer

from openmsmq.cli.groups import Commands, add_group
from openmsmq.cli.options.confirmation import DryRunOption, YesOption, confirm
from openmsmq.cli.options.connection import SocketOption, connect
from openmsmq.cli.output import Column, JsonOption, print_json, print_properties, print_table
from openmsmq.terminal.printable import printable
from openmsmq.terminal.quantities import count_text, time_text
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

from .running import report_object, run_job

if TYPE_CHECKING:
    from openmsmq.care.jobs import Job, JobReport

_HELP: Final = "Show jobs that move, send, save or remove messages; resume, stop and undo them."
_COLUMNS: Final = (
    Column("Job"),
    Column("Kind"),
    Column("State"),
    Column("Messages", right=True),
    Column("Done", right=True),
    Column("Refused", right=True, optional=True),
    Column("Planned", optional=True),
)
JobArgument = Annotated[
    str, typer.Argument(metavar="ID", help="Id of the job, as `openmsmq job list` shows it.")
]


def register(app: typer.Typer) -> None:
    """Add the group to the program."""
    commands: Commands = {
        "list": list_jobs,
        "show": show,
        "resume": resume,
        "stop": stop,
        "undo": undo,
    }
    add_group(app, "job", commands, help_text=_HELP)


def _load(identifier: str) -> "Job":
    from openmsmq.care.jobs import jobs_directory, load_job

    if not identifier or "/" in identifier or identifier.startswith("."):
        raise typer.BadParameter(f"{identifier!r} is not the id of a job")
    return load_job(jobs_directory() / identifier)


def _load_unended(identifier: str) -> "Job":
    job = _load(identifier)
    if job.ended:
        raise QueueError(
            Hresult.MQ_ERROR_ILLEGAL_OPERATION,
            f"job {identifier} is {job.state}: nothing is left to do",
            cause="The job has ended already.",
            remedy=f"`openmsmq job show {identifier}` says what it did.",
        )
    return job


def _report(job: "Job") -> "JobReport":
    """What a job has done, and whether a process runs it."""
    from openmsmq.care.jobs import is_running, report_of

    report = report_of(job)
    return report._replace(state="running") if not job.ended and is_running(job) else report


def list_jobs(*, as_json: JsonOption = False) -> None:
    """List the jobs of this user, the oldest first."""
    from openmsmq.care.jobs import job_ids, jobs_directory

    jobs = [_load(identifier) for identifier in job_ids(jobs_directory())]
    reports = [(job, _report(job)) for job in jobs]
    if as_json:
        for job, report in reports:
            print_json(report_object(job, report))
        return
    rows = [
        (
            report.id,
            str(job.spec.kind),
            report.state,
            count_text(len(job.messages)),
            count_text(report.done),
            count_text(report.refused),
            time_text(datetime.fromtimestamp(job.plan.created, UTC)),
        )
        for job, report in reports
    ]
    print_table(_COLUMNS, rows)


def show(
    identifier: JobArgument,
    *,
    messages: Annotated[
        bool, typer.Option("--messages", help="Also show the result for each message.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the task and the progress of a job."""
    job = _load(identifier)
    report = _report(job)
    if as_json:
        print_json(report_object(job, report))
    else:
        spec = job.spec
        print_properties(
            [
                ("Job", report.id),
                ("Kind", str(spec.kind)),
                ("State", report.state),
                ("From", ", ".join(spec.sources) or spec.file),
                ("To", spec.target or ("where each was for" if spec.kind == "retry" else "-")),
                ("Messages", count_text(len(job.messages))),
                ("Done", count_text(report.done)),
                ("Refused", count_text(report.refused)),
                ("No longer there", count_text(report.gone)),
                ("Left", count_text(report.left)),
            ]
        )
        for text, count in report.reasons.items():
            typer.echo(f"  {count:,} refused: {printable(text)}")
    if not messages:
        return
    for message, result in job.results():
        outcome = "left" if result is None else str(result.outcome)
        text = "" if result is None else result.text
        if as_json:
            print_json(
                {
                    "id": message.id,
                    "lookup_id": str(message.lookup_id),
                    "label": message.label,
                    "destination": message.destination,
                    "outcome": outcome,
                    "text": text,
                }
            )
        else:
            line = f"{outcome:8}  {message.id}  {message.label}  {text}"
            typer.echo(printable(line.rstrip()))


def resume(
    identifier: JobArgument, *, as_json: JsonOption = False, socket: SocketOption = None
) -> None:
    """Resume a job that was stopped or killed."""
    run_job(socket, _load_unended(identifier), as_json=as_json)


def stop(identifier: JobArgument, *, as_json: JsonOption = False) -> None:
    """Stop a running job after its current step."""
    job = _load_unended(identifier)
    report = _report(job)
    if report.state != "running":
        raise QueueError(
            Hresult.MQ_ERROR_ILLEGAL_OPERATION,
            f"job {identifier} is {report.state}: no process runs it",
            cause="The process that ran it has stopped it, or was killed.",
            remedy=f"`openmsmq job resume {identifier}` goes on with it.",
        )
    job.ask_to_stop()
    if as_json:
        print_json({**report_object(job, report), "state": "stopping"})
    else:
        typer.echo(f"Asked job {identifier} to stop")


def undo(
    identifier: JobArgument,
    *,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Undo a job. The messages that it moved or sent return, if they are still in place."""
    from openmsmq.care.jobs import dry_run_undo, report_of, undo_job

    job = _load(identifier)
    if job.undone and not job.left_to_undo:
        raise QueueError(
            Hresult.MQ_ERROR_ILLEGAL_OPERATION,
            f"job {identifier} is undone: nothing is left to put back",
            cause="The job was undone already.",
            remedy=f"`openmsmq job show {identifier}` says what it did.",
        )
    if not dry_run:
        confirm(f"Put back {count_text(report_of(job).done, 'message')}?", yes=yes)
    with connect(socket) as manager:
        report = (dry_run_undo if dry_run else undo_job)(manager, job)
    if as_json:
        counts = {"undone": report.undone, "gone": report.gone}
        print_json({"job": report.id, "dry_run": dry_run, **counts})
        return
    words = "Would put back" if dry_run else "Put back"
    typer.echo(f"{words} {count_text(report.undone, 'message')}")
    if report.gone:
        where = "no longer where the job put"
        typer.echo(
            f"{count_text(report.gone, 'message')} {where} {'it' if report.gone == 1 else 'them'}"
        )
