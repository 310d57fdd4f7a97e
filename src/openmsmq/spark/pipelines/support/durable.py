"""One writer of a directory at a time."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from openmsmq.care.durable import locked_directory

from .errors import PipelineError


@contextmanager
def only_writer(directory: Path) -> Iterator[None]:
    """Keep other writers of a directory out.

    Raises:
        PipelineError: there is one.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(locked_directory(directory))
        except BlockingIOError as exc:
            raise PipelineError(
                f"{directory} is being written by another process",
                cause="Another run of the pipeline uses the same directory.",
                remedy="Wait for it to end, or name another directory.",
            ) from exc
        yield
