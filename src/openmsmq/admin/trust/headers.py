"""The headers of every answer."""

import secrets
from typing import Final

FIXED: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
UNDER_TLS: Final = ((b"strict-transport-security", b"max-age=31536000"),)


def new_nonce() -> str:
    """A nonce for one answer."""
    return secrets.token_urlsafe(18)


def content_security_policy(nonce: str) -> str:
    """The resources of a page: files of the console, and nothing else."""
    return (
        "default-src 'none'; "
        f"script-src 'self' 'nonce-{nonce}'; "
        "style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types htmx"
    )


def headers_of(nonce: str, *, tls: bool) -> list[tuple[bytes, bytes]]:
    """The headers of every answer, errors included."""
    policy = (b"content-security-policy", content_security_policy(nonce).encode())
    return [policy, *FIXED, *(UNDER_TLS if tls else ())]
