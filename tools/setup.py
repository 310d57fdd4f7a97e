"""Set up `.venv` in this checkout from the locked requirements.

Needs nothing but a Python of 3.11 or newer with the standard library. The virtual environment is
complete when the stamp file in it equals the digest of what went in, so a second run does nothing.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
LOCK = ROOT / "requirements" / "lock.txt"
STAMP = VENV / "openmsmq-setup-stamp"
OLDEST_PYTHON = (3, 11)


def fingerprint() -> str:
    digest = hashlib.sha256(sys.version.encode())
    for path in (LOCK, ROOT / "pyproject.toml"):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def locked_version(package: str) -> str:
    for line in LOCK.read_text().splitlines():
        if line.startswith(f"{package}=="):
            return line.split()[0]
    raise SystemExit(f"setup: {LOCK} does not lock {package}")


def say(step: int, text: str) -> None:
    print(f"[{step}/4] {text}", flush=True)


def run(*command: str) -> None:
    if subprocess.run(command, cwd=ROOT, check=False).returncode:
        raise SystemExit(
            f"setup: '{' '.join(command)}' failed.\n"
            "If the network was down, run the same make target again; "
            "`rm -rf .venv` starts over from nothing."
        )


def create_environment() -> None:
    try:
        venv.create(VENV, with_pip=True, clear=True)
    except (OSError, subprocess.CalledProcessError) as exc:
        raise SystemExit(
            f"setup: no virtual environment could be made ({exc}).\n"
            "On Debian and Ubuntu: apt-get install python3-venv."
        ) from exc


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    if sys.version_info < OLDEST_PYTHON:
        raise SystemExit("setup: openmsmq needs Python 3.11 or newer; set PYTHON=python3.11.")
    wanted = fingerprint()
    if STAMP.exists() and STAMP.read_text() == wanted:
        return
    python = str(VENV / "bin" / "python")
    uv = VENV / "bin" / "uv"
    say(1, "virtual environment .venv")
    if not uv.exists():
        create_environment()
        say(2, "installer")
        pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        run(*pip, locked_version("uv"))
    os.environ["UV_PYTHON"] = python
    # Trust what the machine trusts: company networks have certificates of their own.
    os.environ.setdefault("UV_SYSTEM_CERTS", "true")
    # Links fail across file systems; uv then copies, and need not say so.
    os.environ.setdefault("UV_LINK_MODE", "copy")
    say(3, "locked packages, Spark among them: about a minute the first time")
    run(str(uv), "pip", "sync", str(LOCK))
    say(4, "openmsmq itself")
    run(
        str(uv), "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--editable", "."
    )
    STAMP.write_text(wanted)


if __name__ == "__main__":
    main()
