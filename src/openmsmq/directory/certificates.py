"""Certificates of users in the directory."""

import hashlib
from dataclasses import replace

from .objects import User


def certificate_digest(certificate: bytes) -> bytes:
    """The 16 bytes by which the directory knows an encoded certificate.

    [MS-MQDMPR] 3.1.1.15: MD5; it names the certificate and protects nothing.
    """
    return hashlib.md5(certificate, usedforsecurity=False).digest()


def add_certificate(user: User, certificate: bytes) -> User:
    """The user with one more certificate; one that it has already is not added."""
    if certificate in user.certificates:
        return user
    return replace(
        user,
        certificates=(*user.certificates, certificate),
        certificate_digest_list=(*user.certificate_digest_list, certificate_digest(certificate)),
    )


def remove_certificate(user: User, digest: bytes) -> User:
    """The user without the certificate that has this digest."""
    kept = [each for each in user.certificates if certificate_digest(each) != digest]
    return replace(
        user,
        certificates=tuple(kept),
        certificate_digest_list=tuple(certificate_digest(each) for each in kept),
    )
