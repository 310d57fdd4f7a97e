"""The hash algorithms of signatures, under the names of settings and options."""

import hashlib
from collections.abc import Callable, Iterable
from typing import Final, Protocol, Self

from openmsmq.wire.codes.algorithms import HashAlgorithm


class Hash(Protocol):
    """A hash that is being computed."""

    def update(self, data: bytes, /) -> None: ...

    def digest(self) -> bytes: ...

    def copy(self) -> Self: ...


HASH_NAMES: Final = {
    "sha512": HashAlgorithm.SHA_512,
    "sha256": HashAlgorithm.SHA_256,
    "sha1": HashAlgorithm.SHA1,
    "md5": HashAlgorithm.MD5,
    "md4": HashAlgorithm.MD4,
    "md2": HashAlgorithm.MD2,
}
NAMES_OF_HASHES: Final = {int(algorithm): name for name, algorithm in HASH_NAMES.items()}
DEFAULT_HASH: Final = HashAlgorithm.SHA_512
# [MS-MQQB] note 1: newer Windows takes SHA-512; SHA-256 is as good.
DEFAULT_ACCEPTED: Final = ("sha512", "sha256")
# Accepted only with the `legacy` extra.
LEGACY_HASHES: Final = frozenset({"md5", "md4", "md2"})
# Those that can be signed with here.
SIGNING_HASHES: Final = ("sha512", "sha256", "sha1", "md5")

# RFC 8017, 9.2: DigestInfo up to the digest.
DIGEST_INFO: Final[dict[int, bytes]] = {
    HashAlgorithm.MD2: bytes.fromhex("3020300c06082a864886f70d020205000410"),
    HashAlgorithm.MD4: bytes.fromhex("3020300c06082a864886f70d020405000410"),
    HashAlgorithm.MD5: bytes.fromhex("3020300c06082a864886f70d020505000410"),
    HashAlgorithm.SHA1: bytes.fromhex("3021300906052b0e03021a05000414"),
    HashAlgorithm.SHA_256: bytes.fromhex("3031300d060960864801650304020105000420"),
    HashAlgorithm.SHA_512: bytes.fromhex("3051300d060960864801650304020305000440"),
}


def accepted_hashes(names: Iterable[str]) -> frozenset[int]:
    """The algorithms of these names.

    Raises:
        ValueError: a name is unknown, or needs the `legacy` extra.
    """
    algorithms = set()
    for name in names:
        if name not in HASH_NAMES:
            raise ValueError(f"{name!r} must be one of {', '.join(HASH_NAMES)}")
        if name in LEGACY_HASHES and not has_legacy():
            raise ValueError(f"{name!r} needs the extra: pip install 'openmsmq[legacy]'")
        algorithms.add(int(HASH_NAMES[name]))
    return frozenset(algorithms)


def has_legacy() -> bool:
    """Whether the `legacy` extra is installed."""
    try:
        import Cryptodome.Hash  # noqa: F401
    except ImportError:
        return False
    return True


def new_hash(algorithm: int, data: bytes = b"") -> Hash:
    """The hash of some data, by an algorithm that is accepted."""
    return _CONSTRUCTORS[algorithm](data)


def _md5(data: bytes) -> Hash:
    return hashlib.md5(data, usedforsecurity=False)


def _sha1(data: bytes) -> Hash:
    return hashlib.sha1(data, usedforsecurity=False)


def _md4(data: bytes) -> Hash:
    from Cryptodome.Hash import MD4

    return MD4.new(data)  # noqa: S303 - accepted by a setting only


def _md2(data: bytes) -> Hash:
    from Cryptodome.Hash import MD2

    return MD2.new(data)  # noqa: S303 - accepted by a setting only


_CONSTRUCTORS: Final[dict[int, Callable[[bytes], Hash]]] = {
    HashAlgorithm.SHA_512: hashlib.sha512,
    HashAlgorithm.SHA_256: hashlib.sha256,
    HashAlgorithm.SHA1: _sha1,
    HashAlgorithm.MD5: _md5,
    HashAlgorithm.MD4: _md4,
    HashAlgorithm.MD2: _md2,
}
