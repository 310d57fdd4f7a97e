"""What is kept of passwords, and how names of accounts are compared ([MS-NLMP] 3.3.1)."""

from .md4 import md4


def nt_hash(password: str) -> bytes:
    """NTOWFv1: what is kept in place of a password, and is as good as one."""
    return md4(password.encode("utf-16-le"))


def upper(text: str) -> str:
    """Upper case as Windows has it: every character stays one character."""
    return "".join(big if len(big := character.upper()) == 1 else character for character in text)
