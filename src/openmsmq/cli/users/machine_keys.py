"""`openmsmq key ... --machine`: the keys of a queue manager, to encrypt messages to it."""

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from openmsmq.cli.failure import Refusal
from openmsmq.cli.options.connection import SocketOption, connect
from openmsmq.cli.output import Column, JsonOption, print_json, print_table, say
from openmsmq.wire.codes.hresult import Hresult

_COLUMNS: Final = (
    Column("Provider", cut=True),
    Column("Key", right=True),
    Column("Fingerprint"),
    Column("Replaced"),
)
_SHOWN_DIGITS: Final = 16


def list_machine_keys(*, as_json: bool, socket: Path | None) -> None:
    """List the keys with which the queue manager decrypts."""
    with connect(socket) as manager:
        keys = manager.machine_keys()
    if keys or as_json:
        print_keys(keys, as_json=as_json)
    else:
        typer.echo("The queue manager has no keys; it creates them when it joins a directory.")


def rotate_keys(
    *,
    machine: Annotated[
        bool, typer.Option("--machine", help="Keys of the queue manager; required.")
    ] = False,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Create and publish new keys of the queue manager.

    The old ones decrypt for `key_retention_days` more. `openmsmq key renew` replaces your own
    certificate.
    """
    if not machine:
        raise typer.BadParameter("only keys of the queue manager are rotated: add --machine")
    with connect(socket) as manager:
        keys = manager.rotate_machine_keys()
    print_keys(keys, as_json=as_json)


def export_machine_keys(file: Path, *, as_json: bool, socket: Path | None) -> None:
    """Write the public keys of the queue manager to a file."""
    with connect(socket) as manager:
        exported = manager.export_machine_keys()
    document = {**exported, "keys": b64encode(exported["keys"]).decode("ascii")}
    try:
        with file.open("x", encoding="utf-8") as out:
            out.write(json.dumps(document, indent=2) + "\n")
    except OSError as exc:
        raise _refusal(f"{file}: {exc.strerror}") from exc
    _tell(f"Exported to {file}:", document, as_json=as_json)


def import_machine_keys(file: Path, *, as_json: bool, socket: Path | None) -> None:
    """Add the public keys of another queue manager to the directory of this one."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        guid, name = str(document["guid"]), str(document["name"])
        keys = b64decode(document["keys"], validate=True)
    except OSError as exc:
        raise _refusal(f"{file}: {exc.strerror}") from exc
    except (ValueError, KeyError, TypeError) as exc:
        raise _refusal(f"{file} is not what `openmsmq key export --machine` writes") from exc
    with connect(socket) as manager:
        manager.import_machine_keys(guid, name, keys)
    _tell("Imported", document, as_json=as_json)


def print_keys(keys: Iterable[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        for key in keys:
            print_json(key)
        return
    rows = [
        [
            key["provider"].removeprefix("Microsoft "),
            f"{key['bits']} bits",
            key["fingerprint"][:_SHOWN_DIGITS],
            "" if key["retired"] is None else _day(key["retired"]),
        ]
        for key in keys
    ]
    print_table(_COLUMNS, rows)


def _day(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()


def _tell(what: str, document: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(document)
    else:
        say(f"{what} the public keys of {document['name']} {document['guid']}")


def _refusal(text: str) -> Refusal:
    return Refusal(
        Hresult.MQ_ERROR_INVALID_PARAMETER,
        text,
        cause="The file cannot be used.",
        remedy="Give a file that `openmsmq key export --machine` wrote, or a new one to export to.",
    )
