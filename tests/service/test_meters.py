"""What the system says of a process and its disk."""

import shutil
from pathlib import Path
from types import SimpleNamespace as Namespace

import pytest

from openmsmq.service import meters


def test_the_space_that_a_disk_has_left_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Namespace(free=40))
    assert meters.free_bytes(tmp_path) == 40


def test_a_folder_that_is_not_there_has_no_space(tmp_path: Path) -> None:
    assert meters.free_bytes(tmp_path / "none") == 0


def test_files_that_cannot_be_counted_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert meters.open_files() > 0
    monkeypatch.setattr(meters, "_FILES", str(tmp_path / "none"))
    assert meters.open_files() == 0


def test_memory_is_told_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = tmp_path / "statm"
    sizes.write_text("7 3 1 1 0 1 0\n")
    monkeypatch.setattr(meters, "_STATM", sizes)
    page = meters._PAGE_BYTES
    assert meters.memory_sizes() == (7 * page, 3 * page)
    sizes.unlink()
    assert meters.memory_sizes() == (0, 0)
