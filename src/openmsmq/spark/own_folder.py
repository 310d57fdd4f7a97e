"""The folder of the files that we create for Spark."""

import hashlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path


def own_folder(environ: Mapping[str, str]) -> Path:
    """Our folder in the virtual environment, or in the user's cache when there is none."""
    if sys.prefix != sys.base_prefix and os.access(sys.prefix, os.W_OK):
        return Path(sys.prefix, "share", "openmsmq")
    return Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "openmsmq")


def folder_for(environ: Mapping[str, str], kind: str, original: Path) -> Path:
    """The folder of a `kind` that replaces `original`; each original has its own."""
    digest = hashlib.sha256(os.fsencode(original)).hexdigest()[:12]
    return own_folder(environ) / f"{kind}-{digest}"
