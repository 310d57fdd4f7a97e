"""The blocking facade is the asynchronous one, by rules."""

import pytest

from tools import facade


def test_no_module_of_the_blocking_facade_is_stale() -> None:
    assert facade.stale() == []


@pytest.mark.parametrize(
    ("asynchronous", "expected"),
    [
        ("    async def close(self) -> None:", "    def close(self) -> None:"),
        ("        await self.close()", "        self.close()"),
        ('    return Pending("connect", make)', "    return make()"),
        (") -> Pending[Queue]:", ") -> Queue:"),
        ("    async def __aenter__(self) -> Self:", "    def __enter__(self) -> Self:"),
        ("    # blocking: @property", "    @property"),
        ("In an `async with` statement", "In a `with` statement"),
        ("AsyncGenerator[Block, None]", "Generator[Block, None, None]"),
        ("async for message in queue:", "for message in queue:"),
    ],
)
def test_a_rule_turns_asynchronous_into_blocking(asynchronous: str, expected: str) -> None:
    assert facade.blocking(asynchronous, "x.py").partition("\n")[2] == expected
