"""Configuration of a queue manager: checked values, errors that name the key.

Each part declares its settings beside it, on top of the common ones; `Config` is all of them. A
value comes from an option of the command line, else from the environment, else from the file.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

from openmsmq.wire.errors import ConfigError, file_fault

from .environment import read_environment, variable
from .parts.console import ConsoleConfig
from .parts.multicast import MulticastConfig
from .parts.rpc_config import RpcConfig
from .parts.srmp import SrmpConfig
from .settings import WrongSettings
from .signature_config import SignatureConfig


class Setting(NamedTuple):
    """A setting in force, and its source."""

    key: str
    value: Any
    source: str


class Config(SrmpConfig, MulticastConfig, ConsoleConfig, RpcConfig, SignatureConfig):
    """Every setting of `openmsmq serve`; a key of the file and an option have the same name."""

    @classmethod
    def load(
        cls,
        file: Path | None,
        options: Mapping[str, Any],
        environment: Mapping[str, str] | None = None,
    ) -> Self:
        """Combine the settings of the file, the environment and the command line; the last wins.

        Args:
            environment: the variables of the process; without them none is used.

        Raises:
            ConfigError: a key is unknown or its value is invalid; the text names it.
        """
        values = read_file(file) if file is not None else {}
        variables = read_environment(cls.fields, environment or {})
        settings = {key: value for key, value in options.items() if value is not None}
        names = {key: variable(key) for key in variables.keys() - settings.keys()}
        try:
            return cls(**{**values, **variables, **settings})
        except WrongSettings as exc:
            raise WrongSettings(exc.faults, names) from exc


def effective_settings(file: Path | None, environment: Mapping[str, str]) -> list[Setting]:
    """Every setting that `serve` would use without options, by key, without passwords.

    Raises:
        ConfigError: a key is unknown or its value is invalid; the text names it.
    """
    values = Config.load(file, {}, environment).shown()
    sources = {key: str(file) for key in (read_file(file) if file is not None else {})}
    sources |= {key: variable(key) for key in read_environment(Config.fields, environment)}
    return [Setting(key, values[key], sources.get(key, "default")) for key in sorted(values)]


def read_file(file: Path) -> dict[str, Any]:
    """The keys of a configuration file.

    Raises:
        ConfigError: it cannot be read; the text names it.
    """
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as exc:
        raise ConfigError(f"{file}: {file_fault(exc)}") from exc
