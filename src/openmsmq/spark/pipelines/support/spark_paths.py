"""Paths for Spark's readers, which treat them as patterns."""

import re
from pathlib import Path
from typing import Final

_PATTERN: Final = re.compile(r"[\\*?\[\]{}]")


def literal_path(path: str | Path) -> str:
    r"""The absolute path as a pattern that only it matches.

    Only for what is read: targets of writes and the option `basePath` are no patterns.
    """
    return _PATTERN.sub(r"\\\g<0>", str(Path(path).absolute()))
