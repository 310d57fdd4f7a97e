"""The principals of a keytab; its keys stay in the file (MIT's format, version 2)."""

from pathlib import Path
from struct import Struct
from typing import Final

from openmsmq.wire.errors import ConfigError

VERSION: Final = b"\5\2"
MAX_BYTES: Final = 2**20
_SIZE: Final = Struct(">i")
_COUNT: Final = Struct(">H")


def read_keytab(path: Path) -> tuple[str, ...]:
    """The principals that have keys, each once, in the order of the file.

    Raises:
        ConfigError: the file cannot be read, is not a keytab or has no keys.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as exc:
        raise ConfigError(f"rpc_keytab: {path}: {exc.strerror or exc}") from exc
    if not content.startswith(VERSION) or len(content) > MAX_BYTES:
        raise ConfigError(f"rpc_keytab: {path}: not a keytab", remedy=_REMEDY)
    try:
        principals = _principals(content)
    except (IndexError, UnicodeDecodeError) as exc:
        raise ConfigError(f"rpc_keytab: {path}: the keytab is damaged", remedy=_REMEDY) from exc
    if not principals:
        raise ConfigError(f"rpc_keytab: {path}: the keytab has no keys", remedy=_REMEDY)
    return tuple(dict.fromkeys(principals))


_REMEDY: Final = (
    "Make one at the KDC (kadmin: ktadd -k FILE host/NAME; Windows: ktpass) and copy it here; "
    "`klist -k FILE` lists it."
)


def _principals(content: bytes) -> list[str]:
    principals = []
    at = len(VERSION)
    while at < len(content):
        size = _SIZE.unpack(_cut(content, at, _SIZE.size))[0]
        at += _SIZE.size
        # A negative size is the place of an entry that was removed.
        if size > 0:
            principals.append(_principal(_cut(content, at, size)))
        at += abs(size)
    return principals


def _principal(entry: bytes) -> str:
    """The name of an entry: count, realm, components; each with its length."""
    count = _COUNT.unpack(_cut(entry, 0, _COUNT.size))[0]
    at = _COUNT.size
    texts = []
    for _ in range(count + 1):
        length = _COUNT.unpack(_cut(entry, at, _COUNT.size))[0]
        at += _COUNT.size
        texts.append(_cut(entry, at, length).decode())
        at += length
    return f"{'/'.join(texts[1:])}@{texts[0]}"


def _cut(content: bytes, start: int, size: int) -> bytes:
    piece = content[start : start + size]
    if len(piece) != size:
        raise IndexError("the end comes too early")
    return piece
