"""`openmsmq config`: the settings of `serve` and their origin."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from openmsmq.cli.failure import Refusal
from openmsmq.cli.groups import Commands, add_group
from openmsmq.cli.output import Column, JsonOption, print_json, print_table, say
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.errors import ConfigError

_HELP: Final = "Show and check the settings of `serve`."
_COLUMNS: Final = (Column("KEY"), Column("VALUE", cut=True), Column("FROM", cut=True))

ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Configuration file of `serve` (TOML)."),
]


def register(app: typer.Typer) -> None:
    """Add the group to the program."""
    commands: Commands = {"show": show, "check": check}
    add_group(app, "config", commands, help_text=_HELP)


def show(
    *,
    config: ConfigOption = None,
    changed: Annotated[
        bool, typer.Option("--changed", help="Only settings that are not the default.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show every setting, its value and its origin.

    A value comes from the environment (OPENMSMQ_ and the key), else from the file, else it is the
    default. Options of `serve` override all of these.
    """
    settings = [
        setting for setting in _settings(config) if not changed or setting["source"] != "default"
    ]
    if as_json:
        for setting in settings:
            print_json(setting)
    else:
        print_table(_COLUMNS, [(s["key"], _text(s["value"]), s["source"]) for s in settings])


def check(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Configuration file of `serve` (TOML).")
    ],
    *,
    as_json: JsonOption = False,
) -> None:
    """Check a configuration file and the environment."""
    count = sum(setting["source"] == str(file) for setting in _settings(file))
    if as_json:
        print_json({"file": str(file), "valid": True, "keys": count})
    else:
        say(f"{file} can be used: it sets {count} keys.")


def _settings(file: Path | None) -> list[dict[str, Any]]:
    from openmsmq.server.config import effective_settings

    try:
        settings = effective_settings(file, os.environ)
    except ConfigError as exc:
        raise Refusal(
            Hresult.MQ_ERROR_INVALID_PARAMETER,
            "; ".join(str(exc).splitlines()),
            cause="A key is misspelt, or its value is out of range.",
            remedy="Correct the file or the variable; docs/serve.md has every key with its limits.",
        ) from exc
    return [{"key": key, "value": value, "source": source} for key, value, source in settings]


def _text(value: Any) -> str:
    """A value as it stands in the file; nothing where there is none."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {_text(entry)}" for name, entry in value.items())
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return "" if value is None else str(value)
