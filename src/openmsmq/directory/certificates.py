"""Certificates of users in the directory."""

import hashlib
from dataclasses import replace
from uuid import UUID

from .objects import NULL_GUID, User


def certificate_digest(certificate: bytes) -> bytes:
    """The 16 bytes by which the directory knows an encoded certificate.

    [MS-MQDMPR] 3.1.1.15: MD5; it names the certificate and protects nothing.
    """
    return hashlib.md5(certificate, usedforsecurity=False).digest()


def add_certificate(user: User, certificate: bytes, identifier: UUID = NULL_GUID) -> User:
    """The user with one more certificate; one that it has already is not added."""
    if certificate in user.certificates:
        return user
    return _with(user, [*_pairs(user), (certificate, identifier)])


def remove_certificate(user: User, digest: bytes) -> User:
    """The user without the certificate that has this digest."""
    return _with(user, [pair for pair in _pairs(user) if certificate_digest(pair[0]) != digest])


def _pairs(user: User) -> list[tuple[bytes, UUID]]:
    """The certificates, each with its GUID."""
    known = user.certificate_identifiers
    identifiers = (*known, *[NULL_GUID] * len(user.certificates))
    return list(zip(user.certificates, identifiers, strict=False))


def _with(user: User, pairs: list[tuple[bytes, UUID]]) -> User:
    return replace(
        user,
        certificates=tuple(certificate for certificate, _ in pairs),
        certificate_digest_list=tuple(certificate_digest(certificate) for certificate, _ in pairs),
        certificate_identifiers=tuple(identifier for _, identifier in pairs),
    )
