"""Puts a changed module in the place of the real one, in every process of a trial.

Python loads this file when it starts, because a trial has its folder on PYTHONPATH.
"""

import marshal
import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType


class ChangedLoader(SourceFileLoader):
    """Loads the code of a mutant instead of that of the file."""

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002 - there is one module only
        data = Path(os.environ["OPENMSMQ_MUTANT_CODE"]).read_bytes()
        code: CodeType = marshal.loads(data)  # noqa: S302 - written by the trial
        return code


class ChangedFinder(MetaPathFinder):
    """Finds the one module that is changed."""

    def __init__(self, name: str, path: str) -> None:
        self._name = name
        self._path = path

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 - Python's interface
        target: ModuleType | None = None,  # noqa: ARG002 - Python's interface
    ) -> ModuleSpec | None:
        if fullname != self._name:
            return None
        return spec_from_file_location(
            fullname, self._path, loader=ChangedLoader(fullname, self._path)
        )


if "OPENMSMQ_MUTANT_CODE" in os.environ:
    sys.meta_path.insert(
        0, ChangedFinder(os.environ["OPENMSMQ_MUTANT"], os.environ["OPENMSMQ_MUTANT_FILE"])
    )
