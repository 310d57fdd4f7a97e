"""A realm of its own: MIT's KDC on a loopback address, with principals, keytabs and tickets."""

import importlib.util
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

ADDRESS: Final = "127.0.0.88"
REALM: Final = "OPENMSMQ.TEST"
# No name server is asked. Samba's client refuses to have tickets for localhost.
SERVER: Final = "localhost"
SERVICE: Final = f"host/{SERVER}@{REALM}"
OTHER_NAME: Final = "qm.openmsmq.test"
ALICE: Final = f"alice@{REALM}"
BOB: Final = f"bob@{REALM}"
PASSWORD: Final = "a long password of alice"
SECONDS: Final = 60
SBIN: Final = "/usr/sbin:/usr/bin:/sbin:/bin"

needs_kdc = pytest.mark.skipif(
    shutil.which("krb5kdc", path=SBIN) is None
    or shutil.which("kadmin.local", path=SBIN) is None
    or shutil.which("kinit", path=SBIN) is None,
    reason="needs MIT's KDC and its tools: krb5-kdc (Debian: krb5-kdc), kadmin.local "
    "(Debian: krb5-admin-server), kinit (Debian: krb5-user)",
)
needs_gssapi = pytest.mark.skipif(
    importlib.util.find_spec("gssapi") is None,
    reason="needs the extra `kerberos`: pip install -r requirements/kerberos.txt",
)

KDC_CONF: Final = """
[kdcdefaults]
    kdc_listen = {address}:{port}
    kdc_tcp_listen = {address}:{port}
[realms]
    {realm} = {{
        database_name = {folder}/principal
        key_stash_file = {folder}/stash
        acl_file = {folder}/acl
        max_life = 1h
        supported_enctypes = aes256-cts:normal aes128-cts:normal
    }}
[logging]
    kdc = FILE:{folder}/kdc.log
"""
KRB5_CONF: Final = """
[libdefaults]
    default_realm = {realm}
    dns_lookup_realm = false
    dns_lookup_kdc = false
    dns_canonicalize_hostname = false
    rdns = false
    qualify_shortname = ""
    udp_preference_limit = 1
    clockskew = 300
[realms]
    {realm} = {{
        kdc = {address}:{port}
    }}
[domain_realm]
    {server} = {realm}
    {other_name} = {realm}
"""


class Realm:
    """A KDC that runs, and what it gave out.

    Attributes:
        keytab: the keys of the server.
        environment: of processes that belong to the realm.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.keytab = folder / "server.keytab"
        values = {
            "address": ADDRESS,
            "port": self.port,
            "realm": REALM,
            "folder": folder,
            "server": SERVER,
            "other_name": OTHER_NAME,
        }
        (folder / "kdc.conf").write_text(KDC_CONF.format(**values))
        (folder / "krb5.conf").write_text(KRB5_CONF.format(**values))
        self.environment = {
            "KRB5_CONFIG": str(folder / "krb5.conf"),
            "KRB5_KDC_PROFILE": str(folder / "kdc.conf"),
            "KRB5CCNAME": f"FILE:{folder}/no-tickets",
            "KRB5RCACHEDIR": str(folder),
        }

    def run(self, *command: str, stdin: str = "") -> str:
        """A program of Kerberos; its output."""
        done = subprocess.run(
            command,
            input=stdin,
            env={**os.environ, **self.environment, "PATH": SBIN},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout

    def create(self) -> None:
        self.run("kdb5_util", "create", "-s", "-P", "master key", "-r", REALM)
        for principal in (ALICE, BOB):
            self.admin(f"addprinc -pw {quoted(PASSWORD)} {principal}")
        self.add_service(SERVICE, self.keytab)
        self.add_service(f"host/{OTHER_NAME}@{REALM}", self.keytab)

    def admin(self, query: str) -> None:
        self.run("kadmin.local", "-r", REALM, "-q", query)

    def add_service(self, principal: str, keytab: Path) -> None:
        """A service with a random key, in a keytab."""
        self.admin(f"addprinc -randkey {principal}")
        self.admin(f"ktadd -k {keytab} {principal}")

    def ticket(self, principal: str = ALICE, *options: str) -> str:
        """A new ticket of a user; the name of the cache that has it."""
        cache = f"FILE:{self.folder}/{principal.partition('@')[0]}-{time.monotonic_ns()}"
        self.run("kinit", "-c", cache, *options, principal, stdin=f"{PASSWORD}\n")
        return cache


def quoted(text: str) -> str:
    return f'"{text}"'


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def running_realm(folder: Path) -> Iterator[Realm]:
    """A KDC with `ALICE`, `BOB` and the keytab of `SERVICE`."""
    realm = Realm(folder)
    realm.create()
    process = subprocess.Popen(
        ["krb5kdc", "-n", "-r", REALM],
        executable=shutil.which("krb5kdc", path=SBIN),
        env={**os.environ, **realm.environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(realm.port, process)
        yield realm
    finally:
        process.terminate()
        process.wait(SECONDS)


def wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            socket.create_connection((ADDRESS, port), 1.0).close()
        except OSError:
            assert process.poll() is None, "the KDC ended"
            assert time.monotonic() < deadline, "the KDC does not listen"
            time.sleep(0.02)
        else:
            return
