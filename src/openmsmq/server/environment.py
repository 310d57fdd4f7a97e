"""Settings from the environment: every key is also a variable, `OPENMSMQ_` and the key."""

from collections.abc import Mapping
from typing import Any, Final, get_origin

from .settings import Field

PREFIX: Final = "OPENMSMQ_"
# OPENMSMQ_SOCKET selects the queue manager of clients; a starting one does not use it as its own.
_OF_CLIENTS: Final = frozenset({"socket"})


def variable(key: str) -> str:
    """The variable of a key."""
    return PREFIX + key.upper()


def read_environment(fields: Mapping[str, Field], environment: Mapping[str, str]) -> dict[str, Any]:
    """The values of keys set in the environment; an empty variable counts as not set.

    Lists are separated by commas, as in `OPENMSMQ_NAMES=alpha.example,queues.example`; tables are
    lists of pairs, as in `OPENMSMQ_HOSTS=BETA=192.0.2.8,GAMMA=192.0.2.9`.
    """
    return {
        key: _value(field, text)
        for key, field in fields.items()
        if key not in _OF_CLIENTS and (text := environment.get(variable(key)))
    }


def _value(field: Field, text: str) -> object:
    """A text as the value of a field; the field itself converts numbers and paths."""
    kind = get_origin(field.annotation)
    if kind not in (tuple, dict):
        return text
    items = [item.strip() for item in text.split(",") if item.strip()]
    if kind is tuple:
        return items
    return {name.strip(): value.strip() for name, _, value in (i.partition("=") for i in items)}
