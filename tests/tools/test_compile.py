"""What `make compile` compiles, and when it is used."""

import os
from pathlib import Path

import pytest

from tools import compile as compiling


def test_every_module_that_is_compiled_exists_once() -> None:
    modules = compiling.modules()
    assert len(set(modules)) == len(modules) > 0
    for module in modules:
        assert (compiling.SOURCE / "openmsmq" / f"{module}.py").is_file(), module


def test_what_was_compiled_from_other_sources_is_not_used(tmp_path: Path) -> None:
    assert not compiling.is_fresh(tmp_path)
    stamp = tmp_path / compiling.STAMP
    stamp.write_text("other")
    assert not compiling.is_fresh(tmp_path)
    stamp.write_text(compiling.fingerprint())
    assert compiling.is_fresh(tmp_path)


def test_the_compiled_package_is_found_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    path = compiling.environment(tmp_path)["PYTHONPATH"]
    assert path.split(os.pathsep) == [str(tmp_path), "elsewhere"]
    monkeypatch.delenv("PYTHONPATH")
    assert compiling.environment(tmp_path)["PYTHONPATH"] == str(tmp_path)


def test_clean_removes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "compiled"
    target.mkdir()
    monkeypatch.setattr("sys.argv", ["compile", "--clean", "--into", str(target)])
    assert compiling.main() == 0
    assert not target.exists()
