"""Text that must appear as itself wherever a message, a queue or a client can put it."""

from typing import Final

# Each holds `bad`, by which tests find it again.
TEXTS: Final = (
    "<script>window.hurt=1</script>bad",
    '"><img src=x onerror=window.hurt=1>bad',
    "<div hx-get='/api/v1/me' hx-trigger='load'>bad</div>",
    "javascript:window.hurt=1//bad",
    "{{ 7*7 }}{% raw %}bad",
    "\u202ebad\u202c\u200b\ufeff",
    "\x1b[31mbad\x07",
    "=cmd|' /C calc'!A1bad",
    "bad" + "\u0301" * 246,
    "</textarea></title><svg onload=window.hurt=1>bad",
)
BODIES: Final = (
    b"<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;bad</a>",
    b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY l "lol"><!ENTITY l1 "&l;&l;">]><l>&l1;bad</l>',
    b"[" * 100_000 + b"]" * 100_000,
    b"x" * 1_000_000,
    b"\xff\xfe\x00\xd8bad",
    b'{"note": "</span><script>window.hurt=1</script>", "bad": 1e999}',
    b"\x00\x01\x00\x00\x00\xff\xff\xff\xff\x01\x00\x00\x00\x00\x00\x00\x00\x0c\x02\xff\xff\xff\x7f",
)
# Computer names have no spaces and no control characters; markup needs neither.
HOSTS: Final = tuple(text.replace(" ", "/") for text in TEXTS if "\x1b" not in text)
