"""Classes of settings: types, defaults, limits and what their errors say."""

from pathlib import Path
from typing import Any, Literal

import pytest

from openmsmq.server.setting_values import Port
from openmsmq.server.settings import Settings, WrongSettings, setting


def even(number: int) -> int:
    if number % 2:
        raise ValueError("not even")
    return number


class Base(Settings):
    """Settings of every type."""

    flag: bool = False
    whole: int = 1
    real: float = 1.5
    text: str = "t"
    path: Path | None = None
    port: Port = 1801
    choice: Literal["a", "b"] = "a"
    texts: tuple[str, ...] = setting(default=(), max_length=2)
    paths: tuple[Path, ...] = ()
    table: dict[str, str] = setting(default_factory=dict)
    short: str = setting(default="", max_length=3)
    name: str | None = setting(default=None, min_length=1, max_length=3)
    least: int = setting(default=5, ge=2)
    ranged: float = setting(default=5.0, ge=2.0, le=10.0)
    even: int = setting(default=2, check=even)


class Derived(Base):
    """One more, and one that goes with another."""

    more: int = 7

    def conflicts(self) -> dict[str, str]:
        return {"more": "more than whole"} if self.more > 10 * self.whole else {}


def test_a_class_has_the_settings_of_its_bases_and_their_defaults() -> None:
    settings = Derived(whole=2)
    assert (settings.whole, settings.more, settings.texts, settings.table) == (2, 7, (), {})
    assert list(Derived.fields) == [*Base.fields, "more"]
    assert settings.named == {"whole"}


@pytest.mark.parametrize(
    ("key", "value", "taken"),
    [
        *[("flag", value, True) for value in (True, "yes", "ON", "t", "1", 1)],
        *[("flag", value, False) for value in (False, "no", "off", "F", "0", 0)],
        *[("whole", value, 12) for value in (12, "12", 12.0, " 12 ")],
        *[("real", value, 2.0) for value in (2, 2.0, "2")],
        ("path", "x", Path.cwd() / "x"),
        ("path", Path("~/x"), Path.home() / "x"),
        ("port", "0", 0),
        ("port", 65535, 65535),
        ("port", "off", "off"),
        ("texts", ["a", "b"], ("a", "b")),
        ("paths", ["x"], (Path.cwd() / "x",)),
        ("table", {"a": "b"}, {"a": "b"}),
        ("name", None, None),
        ("name", "abc", "abc"),
        ("least", 2, 2),
        ("ranged", 10, 10.0),
    ],
)
def test_a_value_has_the_type_of_its_setting(key: str, value: Any, taken: object) -> None:
    settings = Base(**{key: value})
    assert getattr(settings, key) == taken
    assert type(getattr(settings, key)) is type(taken) or isinstance(taken, Path)


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("flag", "maybe", "'maybe' is not true or false"),
        ("flag", 1.0, "1.0 is not true or false"),
        ("flag", 2, "2 is not true or false"),
        ("whole", True, "true is not a whole number"),
        ("whole", 1.5, "1.5 is not a whole number"),
        ("whole", "1.5", "'1.5' is not a whole number"),
        ("whole", float("inf"), "inf is not a whole number"),
        ("whole", None, "None is not a whole number"),
        ("real", "x", "'x' is not a number"),
        ("real", False, "false is not a number"),
        ("real", 10**400, f"{10**400} is not a number"),
        ("text", 5, "5 is not a text"),
        ("path", 5, "5 is not a path"),
        ("port", 65536, "65536 is not a port (0 to 65535) or 'off'"),
        ("port", -1, "-1 is not a port (0 to 65535) or 'off'"),
        ("port", "on", "'on' is not a port (0 to 65535) or 'off'"),
        ("choice", "c", "'c' is not one of a, b"),
        ("texts", "a", "'a' is not a list of texts"),
        ("texts", ["a", 1], "1 is not a text"),
        ("texts", ["a"] * 3, "a list is not a list of at most 2"),
        ("table", [], "a list is not a table of texts"),
        ("table", {"a": 1}, "1 is not a text"),
        ("short", "abcd", "'abcd' is not a text of 0 to 3 characters"),
        ("name", "", "'' is not a text of 1 to 3 characters"),
        ("least", 1, "1 is not at least 2"),
        ("least", "x", "'x' is not at least 2"),
        ("ranged", 1.0, "1.0 is not in 2 to 10"),
        ("ranged", 11, "11.0 is not in 2 to 10"),
        ("ranged", float("nan"), "nan is not in 2 to 10"),
        ("even", 3, "3: not even"),
        ("other", 3, "there is no such setting"),
        ("shrt", 3, "there is no such setting; did you mean short?"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(key: str, value: Any, text: str) -> None:
    with pytest.raises(WrongSettings) as caught:
        Base(**{key: value})
    assert caught.value.faults == {key: text}
    assert str(caught.value) == f"{key}: {text}"


def test_values_that_do_not_go_together_are_refused_if_each_is_right() -> None:
    wrong: Any = "x"
    with pytest.raises(WrongSettings, match="more: more than whole"):
        Derived(more=11)
    with pytest.raises(WrongSettings, match=r"^whole: 'x' is not a whole number$"):
        Derived(more=11, whole=wrong)


def test_settings_cannot_be_changed() -> None:
    settings = Base()
    with pytest.raises(AttributeError, match="whole cannot be changed"):
        settings.whole = 2  # type: ignore[misc]


def test_settings_have_a_form_for_json() -> None:
    values: dict[str, Any] = {"path": "/x", "paths": ["/y"], "texts": ["a"]}
    shown = Base(**values).as_json()
    assert shown["path"] == "/x"
    assert (shown["paths"], shown["texts"], shown["table"]) == (["/y"], ["a"], {})
    assert list(shown) == list(Base.fields)
