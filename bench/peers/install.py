"""Brings the peers here if that is allowed: as root, from Debian's packages.

No service is started by the installation, and none of the running ones is touched.
"""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from .brokers import RABBITMQ, ROOT

INSTALL_SECONDS: Final = 300
_POLICY: Final = Path("/usr/sbin/policy-rc.d")
_HEADER: Final = Path("/usr/include/amqp.h")
ENVIRONMENT: Final = ROOT / "build" / "bench-venv"
CLIENTS: Final = Path(__file__).with_name("requirements.txt")
PYTHON: Final = ENVIRONMENT / "bin" / "python"


class Missing(Exception):
    """Why a peer cannot be measured here."""


def need_rabbitmq(*, install: bool) -> None:
    if not RABBITMQ.exists():
        install_package("rabbitmq-server", allowed=install)


def need_redis(*, install: bool) -> None:
    if shutil.which("redis-server") is None:
        install_package("redis-server", allowed=install)


def need_native_client(*, install: bool) -> Path:
    """The C program that drives RabbitMQ, compiled now."""
    if shutil.which("cc") is None:
        raise Missing("there is no C compiler (cc)")
    if not _HEADER.exists():
        install_package("librabbitmq-dev", allowed=install)
    source = Path(__file__).with_name("native_amqp.c")
    program = ROOT / "build" / "native_amqp"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        program.parent.mkdir(exist_ok=True)
        _run(["cc", "-O2", "-o", str(program), str(source), "-lrabbitmq"])
    return program


def need_clients() -> None:
    """An environment of its own for the peers' Python clients."""
    stamp = ENVIRONMENT / "installed.txt"
    if stamp.exists() and stamp.read_text() == CLIENTS.read_text():
        return
    _run([sys.executable, "-m", "venv", "--clear", str(ENVIRONMENT)])
    _run([str(PYTHON), "-m", "pip", "install", "--quiet", "-r", str(CLIENTS)])
    stamp.write_text(CLIENTS.read_text())


def need_sampler() -> Path:
    """The program that looks into running Python programs."""
    need_clients()
    return PYTHON.with_name("py-spy")


def install_package(package: str, *, allowed: bool) -> None:
    if not allowed:
        raise Missing(f"Debian's {package} is not installed")
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise Missing(f"{package} is not installed; `apt-get install {package}` needs root")
    command = ["apt-get", "install", "--yes", "--no-install-recommends", package]
    with _no_services():
        try:
            _run(command)
        except Missing:
            _run(["apt-get", "update"])
            _run(command)


@contextlib.contextmanager
def _no_services() -> Iterator[None]:
    """Debian's way to say that packages must not start what they bring."""
    if _POLICY.exists():
        yield
        return
    _POLICY.write_text("#!/bin/sh\nexit 101\n")
    _POLICY.chmod(0o755)
    try:
        yield
    finally:
        _POLICY.unlink()


def _run(command: list[str]) -> None:
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(
            command, env=quiet, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as exc:
        raise Missing(f"`{' '.join(command)}` did not end well: {exc}") from exc
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip() or "no word").splitlines()[-1]
        raise Missing(f"`{' '.join(command)}` failed: {last}")
