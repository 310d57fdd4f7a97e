"""Principals of keytabs, and files that are none."""

from pathlib import Path
from struct import pack

import pytest

from openmsmq.security.kerberos import read_keytab
from openmsmq.wire.errors import ConfigError


def text(value: str) -> bytes:
    return pack(">H", len(value.encode())) + value.encode()


def entry(principal: str) -> bytes:
    """An entry as MIT's tools write it: name type, time, version, key."""
    name, _, realm = principal.rpartition("@")
    components = name.split("/")
    body = pack(">H", len(components)) + text(realm) + b"".join(map(text, components))
    body += pack(">IIB", 1, 0, 2) + pack(">HH", 18, 32) + bytes(32) + pack(">I", 2)
    return pack(">i", len(body)) + body


def removed(size: int) -> bytes:
    return pack(">i", -size) + bytes(size)


def test_principals_come_once_in_their_order(tmp_path: Path) -> None:
    keytab = tmp_path / "keytab"
    names = ["host/a.example@R", "HTTP/a.example@R", "host/a.example@R", "A$@R", "straße@R"]
    entries = [entry(name) for name in names]
    keytab.write_bytes(b"\5\2" + entries[0] + removed(40) + b"".join(entries[1:]))
    assert read_keytab(keytab) == ("host/a.example@R", "HTTP/a.example@R", "A$@R", "straße@R")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not a keytab"),
        (b"\5\1" + entry("a@R"), "not a keytab"),
        (b"\5\2" + bytes(2**20), "not a keytab"),
        (b"\5\2", "no keys"),
        (b"\5\2" + removed(40), "no keys"),
        (b"\5\2\0\0", "damaged"),
        (b"\5\2" + entry("a@R")[:-1], "damaged"),
        (b"\5\2" + pack(">i", 2) + b"\0\1", "damaged"),
        (b"\5\2" + pack(">i", 4) + b"\0\1\0\x09", "damaged"),
        (b"\5\2" + pack(">i", 8) + b"\0\1\0\1R\0\1\xff", "damaged"),
    ],
)
def test_what_is_no_keytab_is_told(tmp_path: Path, content: bytes, reason: str) -> None:
    keytab = tmp_path / "keytab"
    keytab.write_bytes(content)
    with pytest.raises(ConfigError, match=f"rpc_keytab: {keytab}.*{reason}") as refused:
        read_keytab(keytab)
    assert "ktadd" in refused.value.remedy


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"rpc_keytab.*No such file"):
        read_keytab(tmp_path / "none")
