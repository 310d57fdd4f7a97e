"""The page about the protocol lists every request with its number and its fields."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from openmsmq.protocol.local import messages as local

PAGE = (Path(__file__).parents[3] / "docs" / "local-protocol.md").read_text()
KINDS: tuple[Any, ...] = (*local.AnyRequest.__args__, *local.AnyReply.__args__)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_is_listed_with_its_number_and_fields(kind: type[msgspec.Struct]) -> None:
    row = f"| {kind.__struct_config__.tag} | {kind.__name__} |"
    (line,) = [line for line in PAGE.splitlines() if line.startswith(row)]
    if issubclass(kind, local.Request):
        fields = line.split("|")[3]
        for field in msgspec.structs.fields(kind)[1:]:
            assert field.name in fields
