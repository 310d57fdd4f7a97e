"""Texts of errors."""

from pathlib import Path

import pytest

from openmsmq.wire.errors import file_fault


def test_the_reason_why_a_file_cannot_be_used_is_in_words(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as missing:
        (tmp_path / "none").read_text()
    assert file_fault(missing.value) == "No such file or directory"
    with pytest.raises(UnicodeDecodeError) as binary:
        b"\xff".decode()
    assert file_fault(binary.value) == "is not UTF-8"
    assert file_fault(ValueError("a tab in line 3")) == "a tab in line 3"
