"""The byte vectors of tests/vectors/rpc-stubs.json, and all stubs by name."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from openmsmq.wire.ndr import TRANSFER_SYNTAXES, Call, Stub, TransferSyntax
from openmsmq.wire.rpc_interfaces import epm, mgmt, qm2qm, qmcomm, remote_read

_PATH = Path(__file__).parents[2] / "vectors" / "rpc-stubs.json"
INTERFACES: dict[str, dict[int, Call]] = {
    "epm": epm.CALLS,
    "mgmt": mgmt.CALLS,
    "qm2qm": qm2qm.CALLS,
    "qmcomm": qmcomm.CALLS,
    "remote_read": remote_read.CALLS,
}
SYNTAXES = {syntax.name: syntax for syntax in TRANSFER_SYNTAXES}


# Any: stubs of all records.
def _stubs() -> dict[str, Stub[Any]]:
    return {
        f"{interface}.{opnum}.{direction}": getattr(call, direction)
        for interface, calls in INTERFACES.items()
        for opnum, call in calls.items()
        for direction in ("request", "response")
    }


STUBS = _stubs()


class Vector(NamedTuple):
    """The octets of a stub; the values at `referents` are free."""

    name: str
    stub: str
    syntax: TransferSyntax
    referents: tuple[int, ...]
    data: bytes


def _vectors() -> list[Vector]:
    return [
        Vector(
            item["name"],
            f"{item['interface']}.{item['opnum']}.{item['direction']}",
            SYNTAXES[item["syntax"]],
            tuple(item["referents"]),
            bytes.fromhex(item["hex"]),
        )
        for item in json.loads(_PATH.read_text())["stubs"]
    ]


VECTORS = _vectors()
