"""The key pairs of a queue manager, with private halves in separate files."""

import os
import re
import secrets
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from openmsmq.wire.codes.algorithms import Provider
from openmsmq.wire.errors import ConfigError
from openmsmq.wire.security.key_blobs import CALG_RSA_KEYX, CALG_RSA_SIGN, PublicKeyBlob

EXCHANGE: Final = "exchange"
SIGNING: Final = "signing"
DIRECTORY_MODE: Final = 0o700
FILE_MODE: Final = 0o600
OTHERS: Final = 0o077
PUBLIC_EXPONENT: Final = 65537
# The library makes no shorter ones. [MS-MQDMPR] 3.1.3: the Base provider has keys of 512 bits.
LIBRARY_BITS: Final = 1024
MILLER_RABIN_ROUNDS: Final = 40
_SMALL_PRIMES: Final = tuple(
    n for n in range(3, 2000, 2) if all(n % d for d in range(3, int(n**0.5) + 1, 2))
)


class RsaKey(NamedTuple):
    """A private key."""

    n: int
    e: int
    d: int
    p: int
    q: int

    @property
    def bits(self) -> int:
        return self.n.bit_length()

    def public_blob(self, algorithm: int) -> bytes:
        """The public half as PUBLICKEYBLOB."""
        modulus = self.n.to_bytes((self.bits + 7) // 8, "little")
        return PublicKeyBlob(self.e, modulus, algorithm).serialize()


class RetiredKey(NamedTuple):
    """A replaced key, and the time: it decrypts messages that were encrypted before."""

    key: RsaKey
    retired: int


class KeyFiles:
    """Key pairs by purpose and provider, in one directory; created at the first use.

    Args:
        bits: lengths of new keys that replace those of the providers, by their names.
    """

    def __init__(self, directory: Path, bits: Mapping[str, int] | None = None) -> None:
        self._directory = directory
        self._bits = bits or {}

    def exchange_key(self, provider: Provider) -> bytes:
        """The public key with which others encrypt secrets."""
        return self.private_key(EXCHANGE, provider).public_blob(CALG_RSA_KEYX)

    def signing_key(self, provider: Provider) -> bytes:
        """The public key that verifies a signature."""
        return self.private_key(SIGNING, provider).public_blob(CALG_RSA_SIGN)

    def private_key(self, purpose: str, provider: Provider) -> RsaKey:
        """The key pair for a purpose.

        Raises:
            ConfigError: the files cannot be used.
        """
        key = self.find(purpose, provider)
        if key is None:
            key = make_key(self._bits.get(provider.name, provider.rsa_bits))
            self._write(self._path(purpose, provider), render_pem(key))
        return key

    def find(self, purpose: str, provider: Provider) -> RsaKey | None:
        """The key pair for a purpose, if there is one.

        Raises:
            ConfigError: the file cannot be used.
        """
        try:
            return _read(self._path(purpose, provider))
        except FileNotFoundError:
            return None

    def rotate(self, purpose: str, provider: Provider, *, utc: int) -> RsaKey:
        """Replace the current key pair by a new one; the old one is kept as retired.

        Raises:
            ConfigError: the files cannot be used.
        """
        key = make_key(self._bits.get(provider.name, provider.rsa_bits))
        path = self._path(purpose, provider)
        try:
            if path.exists():
                path.replace(path.with_suffix(f".{utc}.pem"))
        except OSError as exc:
            raise ConfigError(f"data: {path}: {exc.strerror}") from exc
        self._write(path, render_pem(key))
        return key

    def retired(self, purpose: str, provider: Provider) -> list[RetiredKey]:
        """The retired key pairs, the last one first.

        Raises:
            ConfigError: a file cannot be used.
        """
        keys = [RetiredKey(_read(path), when) for when, path in self._retired(purpose, provider)]
        return sorted(keys, key=lambda key: key.retired, reverse=True)

    def forget_retired(self, purpose: str, provider: Provider, *, before: float) -> None:
        """Delete the key pairs that were retired before a time."""
        for when, path in self._retired(purpose, provider):
            if when < before:
                path.unlink(missing_ok=True)

    def _path(self, purpose: str, provider: Provider) -> Path:
        return self._directory / f"{purpose}-{slug(provider.name)}.pem"

    def _retired(self, purpose: str, provider: Provider) -> list[tuple[int, Path]]:
        stem = self._path(purpose, provider).stem
        matches = [
            (re.fullmatch(rf"{re.escape(stem)}\.([0-9]{{1,12}})\.pem", path.name), path)
            for path in self._directory.glob(f"{stem}.*.pem")
        ]
        return [(int(match[1]), path) for match, path in matches if match is not None]

    def _write(self, path: Path, text: str) -> None:
        """Replace the file atomically; only its owner may read it."""
        try:
            self._directory.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
            new = path.with_suffix(".new")
            new.unlink(missing_ok=True)
            handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(text)
                file.flush()
                os.fsync(handle)
            new.replace(path)
        except OSError as exc:
            raise ConfigError(f"data: {path}: {exc.strerror}") from exc


def _read(path: Path) -> RsaKey:
    """The key in a file that only its owner may read."""
    try:
        with path.open(encoding="ascii") as file:
            if os.fstat(file.fileno()).st_mode & OTHERS:
                raise ConfigError(
                    f"data: {path}: others may read this private key; `chmod 600` it, and if "
                    "somebody did, replace it with `openmsmq key rotate --machine`"
                )
            return parse_pem(file.read())
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as exc:
        raise ConfigError(f"data: {path}: {exc}") from exc


def slug(name: str) -> str:
    """A name that is safe for files."""
    return "-".join("".join(c if c.isalnum() else " " for c in name.lower()).split())


# Creating keys


def make_key(bits: int) -> RsaKey:
    """A new key pair."""
    if bits < LIBRARY_BITS:
        return make_short_key(bits)
    # It takes a while to load, and most starts create no keys.
    from cryptography.hazmat.primitives.asymmetric import rsa

    numbers = rsa.generate_private_key(PUBLIC_EXPONENT, bits).private_numbers()
    public = numbers.public_numbers
    return RsaKey(public.n, public.e, numbers.d, numbers.p, numbers.q)


def make_short_key(bits: int) -> RsaKey:
    """A key pair of an insecure length, which old peers ask for."""
    while True:
        p, q = make_prime(bits // 2), make_prime(bits // 2)
        n = p * q
        if p != q and n.bit_length() == bits:
            return RsaKey(n, PUBLIC_EXPONENT, pow(PUBLIC_EXPONENT, -1, (p - 1) * (q - 1)), p, q)


def make_prime(bits: int) -> int:
    """A random prime with its two highest bits set, suitable for the public exponent."""
    while True:
        number = secrets.randbits(bits) | 3 << bits - 2 | 1
        if number % PUBLIC_EXPONENT != 1 and is_prime(number):
            return number


def is_prime(number: int) -> bool:
    """Whether an odd number is prime, by Miller and Rabin; wrong once in 4 to the 40th."""
    if any(number % prime == 0 for prime in _SMALL_PRIMES):
        return number in _SMALL_PRIMES
    shift = (number - 1 & 1 - number).bit_length() - 1
    odd = number - 1 >> shift
    for _ in range(MILLER_RABIN_ROUNDS):
        x = pow(secrets.randbelow(number - 3) + 2, odd, number)
        if x in (1, number - 1):
            continue
        if all((x := x * x % number) != number - 1 for _ in range(shift - 1)):
            return False
    return True


# The files: PKCS #1, as other tools read it


def render_pem(key: RsaKey) -> str:
    """RSAPrivateKey of PKCS #1 as PEM."""
    n, e, d, p, q = key
    numbers = (0, n, e, d, p, q, d % (p - 1), d % (q - 1), pow(q, -1, p))
    body = b"".join(_tagged(0x02, x.to_bytes(x.bit_length() // 8 + 1, "big")) for x in numbers)
    text = b64encode(_tagged(0x30, body)).decode("ascii")
    lines = [text[at : at + 64] for at in range(0, len(text), 64)]
    return "\n".join(("-----BEGIN RSA PRIVATE KEY-----", *lines, "-----END RSA PRIVATE KEY-----\n"))


def parse_pem(text: str) -> RsaKey:
    """The key in a file.

    Raises:
        ValueError: not a key of PKCS #1.
    """
    lines = [line for line in text.splitlines() if not line.startswith("-----")]
    raw = b64decode("".join(lines), validate=True)
    tag, body, rest = _untagged(raw)
    numbers = list(_integers(body))
    if tag != 0x30 or rest or len(numbers) != 9 or numbers[4] * numbers[5] != numbers[1]:
        raise ValueError("not an RSA private key")
    return RsaKey(*numbers[1:6])


def _integers(body: bytes) -> Iterator[int]:
    while body:
        tag, value, body = _untagged(body)
        if tag != 0x02:
            raise ValueError("not an RSA private key")
        yield int.from_bytes(value, "big")


def _tagged(tag: int, value: bytes) -> bytes:
    size = len(value)
    if size < 0x80:
        return bytes((tag, size)) + value
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes((tag, 0x80 | len(length))) + length + value


def _untagged(raw: bytes) -> tuple[int, bytes, bytes]:
    """Tag, value and the rest."""
    if len(raw) < 2:
        raise ValueError("not an RSA private key")
    size, start = raw[1], 2
    if size & 0x80:
        start += size & 0x7F
        size = int.from_bytes(raw[2:start], "big")
    if len(raw) < start + size:
        raise ValueError("not an RSA private key")
    return raw[0], raw[start : start + size], raw[start + size :]
