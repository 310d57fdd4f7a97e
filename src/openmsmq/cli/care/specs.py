"""The job that a command describes."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .options import condition_of

if TYPE_CHECKING:
    from openmsmq.care.jobs import JobSpec

LimitsOption = Annotated[
    str,
    typer.Option(
        "--limits",
        metavar="restart|keep|lift",
        help="Whether time limits start again, are kept or are lifted.",
    ),
]


def spec_of(
    kind: str,
    sources: Sequence[str],
    target: str = "",
    *,
    where: str | None = None,
    lookup_ids: Sequence[int] | None = None,
    first: int | None = None,
    rate: float | None = None,
    limits: str = "restart",
    file: Path | None = None,
    step: int = 1000,
) -> "JobSpec":
    """The job that a command asks for.

    Raises:
        FilterError: the filter cannot be read.
        BadParameter: a word that is not known.
    """
    from openmsmq.care.filters import filter_to_data
    from openmsmq.care.jobs import JobKind, JobSpec, Limits

    if limits not in tuple(Limits):
        raise typer.BadParameter(
            f"{limits!r} must be one of {', '.join(Limits)}", param_hint="--limits"
        )
    condition = condition_of(where)
    return JobSpec(
        kind=JobKind(kind),
        sources=tuple(sources),
        target=target,
        where=None if condition is None else filter_to_data(condition),
        lookup_ids=tuple(lookup_ids) if lookup_ids else None,
        first=first,
        rate=rate,
        limits=Limits(limits),
        file="" if file is None else str(file.absolute()),
        step=step,
    )


def refuse_without_where(first: int | None, rate: float | None) -> None:
    """Refuse options of a job for what is done in one request.

    Raises:
        BadParameter: one was given.
    """
    if first is not None or rate is not None:
        raise typer.BadParameter("--first and --rate go with --where")
