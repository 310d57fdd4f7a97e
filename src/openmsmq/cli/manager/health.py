"""`openmsmq health`: checks the queue manager, for containers and scripts."""

import asyncio
from typing import Annotated, Any, Final

import typer

from openmsmq.cli.failure import FAILED, Refusal, failure_of, report
from openmsmq.cli.options.connection import SocketOption
from openmsmq.cli.output import JsonOption, print_json, say
from openmsmq.wire.errors import MsmqError

# How long the queue manager has to answer.
ANSWER_SECONDS: Final = 2.0


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("health")(health)


def health(
    *,
    ready: Annotated[
        bool,
        typer.Option("--ready", help="Also check that it is ready, accepts messages and listens."),
    ] = False,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Check the health of the queue manager.

    The exit code is 0 if it is healthy, else 1: then stderr has the failed check.
    """
    from openmsmq.admin.health_checks import no_answer, ready_checks

    try:
        checks = ready_checks(asyncio.run(_status(None if socket is None else str(socket))))
    except MsmqError as exc:
        if not as_json:
            _report_no_answer(exc)
            raise typer.Exit(FAILED) from exc
        checks = no_answer(str(exc))
    except TimeoutError:
        checks = no_answer(f"the queue manager has not answered within {ANSWER_SECONDS:g} s")
    if not ready:
        checks = checks[:1]
    failed = [check for check in checks if not check.passed]
    if as_json:
        print_json(
            {"ok": not failed, "checks": {check.name: check.detail or None for check in checks}}
        )
    elif failed:
        for check in failed:
            say(f"openmsmq health: {check.name}: {check.detail}", err=True)
    else:
        typer.echo("ok")
    if failed:
        raise typer.Exit(FAILED)


def _report_no_answer(error: MsmqError) -> None:
    """Report the failed check when no queue manager answers, with code, cause and remedy."""
    known = failure_of(error)
    detail = f"answers: {known.detail}"
    report("health", Refusal(known.code, detail, cause=known.cause, remedy=known.remedy))


async def _status(address: str | None) -> dict[str, Any]:
    """The status of the queue manager.

    Raises:
        ConnectionLost: none listens there.
        TimeoutError: it listens and does not answer.
    """
    from openmsmq import aio

    async with asyncio.timeout(ANSWER_SECONDS):
        # Not in an `async with` statement: closing would wait for a queue manager that hangs.
        manager = await aio.connect(address, timeout=ANSWER_SECONDS)
        status = await manager.status()
    await manager.close()
    return status
