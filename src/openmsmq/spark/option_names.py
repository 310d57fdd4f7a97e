"""Names of options: compared without case, and none is passed over because it is misspelt."""

from collections.abc import Mapping
from typing import Any, Final

from openmsmq.wire.errors import ConfigError

from . import option_values as values

# Spark hands its own options on to the data source.
_OF_SPARK: Final = frozenset({"checkpointlocation"})
_CREDENTIALS: Final = "auth."


def read_values(
    options: Mapping[str, str], known: Mapping[str, values.Reader[Any]]
) -> dict[str, Any]:
    """The values of these options by their names as documented.

    Raises:
        ConfigError: an unknown name, or a value that is not allowed.
    """
    by_key = {name.lower(): (name, read) for name, read in known.items()}
    found: dict[str, Any] = {}
    for given, value in options.items():
        key = given.lower()
        if key in _OF_SPARK:
            continue
        if key not in by_key:
            raise ConfigError(f"option {given}: unknown; the options are {', '.join(known)}")
        name, read = by_key[key]
        try:
            found[name] = read(value)
        except values.NotAllowed as exc:
            # What was given as a credential is not repeated, not even when it is wrong.
            reason = "cannot be used" if name.startswith(_CREDENTIALS) else str(exc)
            raise ConfigError(f"option {name}: {reason}") from None
    return found


def camel(name: str) -> str:
    """The name of an option for the name of a field."""
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def snake(name: str) -> str:
    """The name of a field for the name of an option."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def exclude(found: Mapping[str, Any], *names: str) -> None:
    """Refuse options that say the same thing in two ways.

    Raises:
        ConfigError: names them.
    """
    given = [name for name in dict.fromkeys(names) if name in found]
    if len(given) > 1:
        raise ConfigError(f"option {given[0]}: not together with {', '.join(given[1:])}")
