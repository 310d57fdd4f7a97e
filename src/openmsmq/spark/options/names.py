"""Names of options: case-insensitive; unknown names are errors."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, Final

from openmsmq.wire.errors import ConfigError

from . import values

# Spark hands its own options on to the data source.
_OF_SPARK: Final = frozenset({"checkpointlocation"})
_CREDENTIALS: Final = "auth."
# What `load` and `save` are given.
_PATH: Final = "path"
_QUEUE: Final = "queue"
# Names of Spark's source for Kafka.
_OF_KAFKA: Final = {
    "subscribe": "queue or queues",
    "subscribepattern": "queuePattern",
    "assign": "queue or queues",
    "topic": "queue",
    "kafka.bootstrap.servers": "endpoint",
    "maxoffsetspertrigger": "maxMessagesPerTrigger",
    "minoffsetspertrigger": "minMessagesPerTrigger",
    "startingoffsetsbytimestamp": "startingTimestamp",
    "endingoffsetsbytimestamp": "endingTimestamp",
}


def read_values(
    options: Mapping[str, str], known: Mapping[str, values.Reader[Any]]
) -> dict[str, Any]:
    """The values of these options by their names as documented.

    Raises:
        ConfigError: an unknown name, or a value that is not allowed.
    """
    by_key = {name.lower(): (name, read) for name, read in known.items()}
    settings: dict[str, Any] = {}
    for option, value in options.items():
        key = option.lower()
        if key in _OF_SPARK:
            continue
        if key == _PATH:
            key = _QUEUE
        if key not in by_key:
            raise ConfigError(f"option {option}: unknown; {_hint(key, known)}")
        name, read = by_key[key]
        if name in settings:
            raise ConfigError(f"option {_QUEUE}: not together with a name in load() or save()")
        try:
            settings[name] = read(value)
        except values.NotAllowed as exc:
            # What was given as a credential is not repeated, not even when it is wrong.
            reason = "cannot be used" if name.startswith(_CREDENTIALS) else str(exc)
            raise ConfigError(f"option {name}: {reason}") from None
    return settings


def _hint(key: str, known: Iterable[str]) -> str:
    """What somebody may have meant who gave an option that is not known."""
    by_key = {name.lower(): name for name in known}
    if key in _OF_KAFKA:
        return f"here it is {_OF_KAFKA[key]}"
    close = get_close_matches(key, by_key, 1)
    if close:
        return f"did you mean {by_key[close[0]]}?"
    return f"the options are {', '.join(by_key.values())}"


def camel(name: str) -> str:
    """The name of an option for the name of a field."""
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def snake(name: str) -> str:
    """The name of a field for the name of an option."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def exclude(settings: Mapping[str, Any], *names: str) -> None:
    """Refuse options that say the same thing in two ways.

    Raises:
        ConfigError: names them.
    """
    together = [name for name in dict.fromkeys(names) if name in settings]
    if len(together) > 1:
        raise ConfigError(f"option {together[0]}: not together with {', '.join(together[1:])}")
