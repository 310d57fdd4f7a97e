"""Settings as classes: each has a type, a default and limits, and every value is checked.

    class CommonConfig(Settings):
        bind: str = "127.0.0.1"
        max_connections: int = setting(default=1000, ge=1, le=100_000)

A class has the settings of its bases, too. Values are converted: texts to numbers, names of files
to absolute paths. An error names every key that is wrong.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from inspect import get_annotations
from pathlib import Path
from typing import Any, ClassVar, Final, dataclass_transform

from openmsmq.wire.errors import ConfigError

from .setting_values import Convert, Unfit, converter, value_text

# The user and the password in a URL.
_CREDENTIALS: Final = re.compile(r"(?<=://)[^/@\s]+(?=@)")


@dataclass(slots=True, kw_only=True)
class Field:
    """One setting.

    Attributes:
        annotation: its type, with the conversion `convert`; set by its class.
        ge: the least value, and `le` the greatest.
        min_length: of a text.
        max_length: of a text or a list.
        check: returns the value to use, or raises ValueError.
    """

    annotation: Any = None
    convert: Convert = str
    default: Any = None
    default_factory: Callable[[], Any] | None = None
    ge: float | None = None
    le: float | None = None
    min_length: int = 0
    max_length: int | None = None
    check: Callable[[Any], Any] | None = None

    def read(self, value: object) -> Any:
        """The value, converted to its type.

        Raises:
            ValueError: the value is invalid; the text says why.
        """
        try:
            converted = self.convert(value)
            self._check_limits(converted)
        except Unfit as exc:
            range_text = self._range_text()
            if range_text:
                exc.wanted = range_text
            raise ValueError(str(exc)) from exc
        if self.check is None or converted is None:
            return converted
        try:
            return self.check(converted)
        except ValueError as exc:
            # For an item of a list, the text names it.
            name = "" if isinstance(value, dict) else f"{value_text(value)}: "
            raise ValueError(f"{name}{exc}") from exc

    def _check_limits(self, value: Any) -> None:
        if self.ge is not None and not value >= self.ge:
            raise Unfit(value, "")
        if self.le is not None and not value <= self.le:
            raise Unfit(value, "")
        if self.max_length is None or value is None:
            return
        if not self.min_length <= len(value) <= self.max_length:
            raise Unfit(value, self._length_text(value))

    def _range_text(self) -> str:
        if self.ge is None:
            return ""
        if self.le is None:
            return f"at least {self.ge:.15g}"
        return f"in {self.ge:.15g} to {self.le:.15g}"

    def _length_text(self, value: object) -> str:
        if isinstance(value, tuple):
            return f"a list of at most {self.max_length}"
        return f"a text of {self.min_length} to {self.max_length} characters"


def setting(
    *,
    default: Any = None,
    default_factory: Callable[[], Any] | None = None,
    ge: float | None = None,
    le: float | None = None,
    min_length: int = 0,
    max_length: int | None = None,
    check: Callable[[Any], Any] | None = None,
) -> Any:
    """Declare a setting with limits; see `Field`."""
    return Field(
        default=default,
        default_factory=default_factory,
        ge=ge,
        le=le,
        min_length=min_length,
        max_length=max_length,
        check=check,
    )


class WrongSettings(ConfigError):
    """Invalid settings.

    Attributes:
        faults: the errors, by key.
    """

    def __init__(self, faults: Mapping[str, str], names: Mapping[str, str] | None = None) -> None:
        self.faults = faults
        called = names or {}
        super().__init__(
            "\n".join(f"{called.get(key, key)}: {fault}" for key, fault in faults.items())
        )


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(setting,))
class Settings:
    """Base class of all settings."""

    fields: ClassVar[dict[str, Field]] = {}
    named: frozenset[str]
    """The settings that were given a value."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.fields = {}
        for base in reversed(cls.__mro__[1:]):
            cls.fields |= getattr(base, "fields", {})
        for name, annotation in get_annotations(cls).items():
            default = cls.__dict__[name]
            field = default if isinstance(default, Field) else Field(default=default)
            field.annotation = annotation
            field.convert = converter(annotation)
            cls.fields[name] = field

    def __init__(self, **values: Any) -> None:
        """Check values, and use the defaults of all other settings.

        Raises:
            WrongSettings: a key is unknown or its value is invalid.
        """
        faults: dict[str, str] = {}
        for name, field in self.fields.items():
            default = field.default if field.default_factory is None else field.default_factory()
            try:
                vars(self)[name] = field.read(values.get(name, default))
            except ValueError as exc:
                faults[name] = str(exc)
        for name in values.keys() - self.fields.keys():
            similar = get_close_matches(name.replace("-", "_").lower(), self.fields, n=1)
            hint = f"; did you mean {similar[0]}?" if similar else ""
            faults[name] = f"there is no such setting{hint}"
        faults = faults or self.conflicts()
        if faults:
            raise WrongSettings(faults)
        vars(self)["named"] = frozenset(values)

    def conflicts(self) -> dict[str, str]:
        """Errors between values that are valid by themselves, by key."""
        return {}

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} cannot be changed")

    def as_json(self) -> dict[str, Any]:
        """Every setting, in types of JSON."""
        return {name: _plain(getattr(self, name)) for name in self.fields}

    def shown(self) -> dict[str, Any]:
        """The same without the user and the password in a URL."""
        return {
            name: _CREDENTIALS.sub("***", value) if isinstance(value, str) else value
            for name, value in self.as_json().items()
        }


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value
