"""What Java and Spark write to stderr without being asked, kept from people at a shell."""

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

STDERR: Final = 2
# Java says that a module may change, Spark's workers say that they start and end.
_NOISE: Final = re.compile(
    rb"WARNING: Using incubator modules|(?:Starting )?Streaming TransformWithState\w* Python worker"
)


@contextmanager
def filtered_stderr() -> Iterator[None]:
    """Programs that are started meanwhile write to stderr without noise, as long as they live."""
    try:
        original = os.dup(STDERR)
    except OSError:
        # It is closed: nothing can be shown.
        yield
        return
    reader, writer = os.pipe()
    os.dup2(writer, STDERR)
    os.close(writer)
    threading.Thread(target=_pass_on, args=(reader, original), daemon=True).start()
    try:
        yield
    finally:
        os.dup2(original, STDERR)


@contextmanager
def quiet_python() -> Iterator[None]:
    """Keep PySpark from logging the errors that it raises; the caller has loaded it."""
    from pyspark.logger import PySparkLogger

    # Made by PySpark's own function: any other logger would lack what PySpark asks of it.
    logger = PySparkLogger.getLogger("SQLQueryContextLogger")
    before = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = before


def _pass_on(reader: int, target: int) -> None:
    """Lines that are not noise, until the writers have closed the pipe."""
    after_noise = False
    with os.fdopen(reader, "rb") as lines, os.fdopen(target, "wb", 0) as out:
        for line in lines:
            # Some noise ends with an empty line.
            is_noise = _NOISE.match(line) is not None or (after_noise and not line.strip())
            if not is_noise:
                out.write(line)
            after_noise = is_noise
