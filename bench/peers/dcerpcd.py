"""Samba as a peer: its client against its own RPC server, and against another one.

`samba-dcerpcd` serves RPC without a domain and without SMB. It listens at port 135, so it needs
root, and an address of its own.
"""

import contextlib
import os
import socket
import subprocess
from pathlib import Path
from typing import Final

from .brokers import ROOT, Broker
from .install import Missing, install_package

# The bindings belong to the Python of the system.
PYTHON: Final = Path("/usr/bin/python3")
BINDINGS: Final = Path("/usr/lib/python3/dist-packages/samba")
SERVER: Final = Path("/usr/libexec/samba/samba-dcerpcd")
CLIENT: Final = Path(__file__).with_name("samba_client.py")
HOST: Final = "127.0.0.135"
EPM_PORT: Final = 135
PATIENCE_SECONDS: Final = 60.0
FOLDERS: Final = {
    "private": "private dir",
    "lock": "lock directory",
    "state": "state directory",
    "cache": "cache directory",
    "pid": "pid directory",
    "ncalrpc": "ncalrpc dir",
}


def need_samba(*, install: bool) -> None:
    """Samba's RPC server and Python bindings.

    Raises:
        Missing: they are not here, or there is no right to start the server.
    """
    if not SERVER.exists():
        install_package("samba-common-bin", allowed=install)
    if not BINDINGS.exists():
        install_package("python3-samba", allowed=install)
    if os.geteuid() != 0:
        raise Missing("samba-dcerpcd needs root")


class SambaServer(Broker):
    """Samba's RPC server with endpoint mapper and mgmt."""

    name = "samba"
    client = ""

    def configure(self) -> None:
        super().configure()
        lines = ["[global]", "netbios name = BENCH", "server role = standalone server"]
        lines += [f"interfaces = {HOST}/8", "bind interfaces only = yes"]
        lines += ["rpc start on demand helpers = no"]
        for folder, key in FOLDERS.items():
            (self.folder / folder).mkdir()
            lines.append(f"{key} = {self.folder / folder}")
        (self.folder / "smb.conf").write_text("\n".join(lines) + "\n")

    def command(self) -> list[str]:
        settings = f"--configfile={self.folder / 'smb.conf'}"
        options = ["--foreground", "--no-process-group", "--debug-stdout", settings]
        return [str(SERVER), "--libexec-rpcds", *options]

    def answers(self) -> bool:
        with (
            contextlib.suppress(OSError),
            socket.create_connection((HOST, EPM_PORT), timeout=1),
        ):
            return True
        return False


def calls_per_second(host: str, port: int, seconds: float) -> float:
    """Calls of mgmt by Samba's client, one in flight.

    Raises:
        RuntimeError: the client failed.
    """
    done = subprocess.run(
        [str(PYTHON), str(CLIENT), host, str(port), str(seconds)],
        cwd=ROOT,
        env={**os.environ, "SMB_CONF_PATH": os.devnull},
        capture_output=True,
        text=True,
        timeout=seconds + PATIENCE_SECONDS,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"Samba's client: {(done.stderr.strip() or 'no word')[-500:]}")
    return float(done.stdout)
