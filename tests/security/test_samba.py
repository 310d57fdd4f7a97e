"""Samba as the other side: its security library as a client, `ntlm_auth` as a server."""

import json
import shutil
import subprocess
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from tests.security.ntlm.peers import ALICE, NAMES, NOW, PASSWORD, find, repeatable

from openmsmq.security.mechanism import (
    RPC_C_AUTHN_GSS_NEGOTIATE,
    RPC_C_AUTHN_WINNT,
    AuthenticationFailed,
    SecurityContext,
)
from openmsmq.security.ntlm import NtlmCredentials
from openmsmq.security.packages import acceptors, initiators

PYTHON: Final = "/usr/bin/python3"
CLIENT: Final = Path(__file__).with_name("samba_gensec.py")
SECONDS: Final = 30
HEADER, BODY, TRAILER = b"request header", b"the stub " * 20, b"trailer."
WHOLE: Final = HEADER + BODY + TRAILER
TYPES: Final = {"ntlmssp": RPC_C_AUTHN_WINNT, "spnego": RPC_C_AUTHN_GSS_NEGOTIATE}


def has_bindings() -> bool:
    if not Path(PYTHON).exists():
        return False
    probe = subprocess.run(
        [PYTHON, "-c", "import samba.gensec"], capture_output=True, timeout=SECONDS, check=False
    )
    return probe.returncode == 0


needs_bindings = pytest.mark.skipif(
    not has_bindings(), reason="needs Samba's Python bindings (Debian: python3-samba)"
)
needs_ntlm_auth = pytest.mark.skipif(
    shutil.which("ntlm_auth") is None, reason="needs Samba's ntlm_auth (Debian: winbind)"
)


class SambaClient:
    """The process of a client."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, **request: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        reply: dict[str, Any] = json.loads(self._process.stdout.readline())
        return reply

    def step(self, token: bytes) -> bytes:
        reply = self.ask(step=token.hex())
        assert "error" not in reply, reply["error"]
        return bytes.fromhex(reply["token"])


@contextmanager
def samba_client(
    mechanism: str, *, user: str = "alice", password: str = PASSWORD, seal: bool = True
) -> Iterator[SambaClient]:
    arguments = [PYTHON, str(CLIENT), mechanism, user, password, "seal" if seal else "sign"]
    with subprocess.Popen(
        arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield SambaClient(process)


def acceptor(mechanism: str) -> SecurityContext:
    packages = acceptors(NAMES, find, random=repeatable(), utc=lambda: NOW)
    return packages[TYPES[mechanism]]()


def log_on(client: SambaClient, server: SecurityContext) -> None:
    token = client.step(b"")
    while not server.complete:
        answer = server.step(token)
        if answer:
            token = client.step(answer)


@needs_bindings
@pytest.mark.parametrize("mechanism", TYPES)
@pytest.mark.parametrize("seal", [False, True])
def test_samba_logs_on_and_signs(mechanism: str, *, seal: bool) -> None:
    server = acceptor(mechanism)
    with samba_client(mechanism, seal=seal) as client:
        log_on(client, server)
        assert server.caller.sid == ALICE
        for _ in range(3):
            signature = client.ask(sign=[BODY.hex(), WHOLE.hex()])["signature"]
            body = server.unwrap(
                HEADER,
                BODY,
                TRAILER,
                bytes.fromhex(signature),
                seal=False,
                header_signing=True,
            )
            assert body == BODY
            _, ours = server.wrap(HEADER, BODY, TRAILER, seal=False, header_signing=True)
            assert client.ask(check=[BODY.hex(), WHOLE.hex(), ours.hex()]) == {}


@needs_bindings
@pytest.mark.parametrize("mechanism", TYPES)
def test_samba_seals(mechanism: str) -> None:
    server = acceptor(mechanism)
    with samba_client(mechanism) as client:
        log_on(client, server)
        for _ in range(3):
            wrapped = bytes.fromhex(client.ask(wrap=BODY.hex())["wrapped"])
            body = server.unwrap(
                b"", wrapped[16:], b"", wrapped[:16], seal=True, header_signing=True
            )
            assert body == BODY
            sealed, signature = server.wrap(b"", BODY, b"", seal=True, header_signing=True)
            reply = client.ask(unwrap=(signature + sealed).hex())
            assert reply == {"plain": BODY.hex()}


@needs_bindings
def test_samba_refuses_a_changed_signature() -> None:
    server = acceptor("ntlmssp")
    with samba_client("ntlmssp") as client:
        log_on(client, server)
        _, signature = server.wrap(HEADER, BODY, TRAILER, seal=False, header_signing=True)
        changed = bytes([*signature[:11], signature[11] ^ 1, *signature[12:]])
        assert "error" in client.ask(check=[BODY.hex(), WHOLE.hex(), changed.hex()])


@needs_bindings
@pytest.mark.parametrize("mechanism", TYPES)
@pytest.mark.parametrize(("user", "password"), [("alice", "wrong"), ("bob", PASSWORD)])
def test_samba_with_a_wrong_password_fails(mechanism: str, user: str, password: str) -> None:
    server = acceptor(mechanism)
    with (
        samba_client(mechanism, user=user, password=password) as client,
        pytest.raises(AuthenticationFailed, match="wrong password"),
    ):
        log_on(client, server)


@pytest.fixture
def samba_settings(tmp_path: Path) -> Path:
    settings = tmp_path / "smb.conf"
    keys = ("lock directory", "state directory", "cache directory", "private dir", "pid directory")
    lines = ["[global]", "netbios name = SAMBASERVER", "workgroup = WORKGROUP"]
    lines += [f"{key} = {tmp_path}" for key in keys]
    settings.write_text("\n".join(lines) + "\n")
    return settings


class SambaServer:
    """A process of ntlm_auth."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, command: str, token: bytes) -> list[str]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{command} {b64encode(token).decode()}\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().split()


@contextmanager
def samba_server(helper: str, settings: Path) -> Iterator[SambaServer]:
    with subprocess.Popen(
        [
            "ntlm_auth",
            f"--helper-protocol={helper}",
            f"--configfile={settings}",
            "--username=alice",
            f"--password={PASSWORD}",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        yield SambaServer(process)


def initiator(auth_type: int, password: str, *, seal: bool) -> SecurityContext:
    credentials = NtlmCredentials.of_password("WORKGROUP\\alice", password)
    packages = initiators(
        credentials,
        random=repeatable(),
        utc=lambda: NOW,
        seal=seal,
        target_name="host/sambaserver",
        workstation="CLIENT",
    )
    return packages[auth_type]()


@needs_ntlm_auth
@pytest.mark.parametrize("seal", [False, True])
def test_samba_takes_our_ntlm(samba_settings: Path, *, seal: bool) -> None:
    client = initiator(RPC_C_AUTHN_WINNT, PASSWORD, seal=seal)
    with samba_server("squid-2.5-ntlmssp", samba_settings) as server:
        code, challenge = server.ask("YR", client.step(b""))
        assert code == "TT"
        answer = server.ask("KK", client.step(b64decode(challenge)))
    assert answer[0] == "AF"
    assert client.complete


@needs_ntlm_auth
def test_samba_refuses_our_wrong_password_and_changed_mic(samba_settings: Path) -> None:
    for password, change in (("wrong", 0), (PASSWORD, 1)):
        client = initiator(RPC_C_AUTHN_WINNT, password, seal=True)
        with samba_server("squid-2.5-ntlmssp", samba_settings) as server:
            _, challenge = server.ask("YR", client.step(b""))
            token = bytearray(client.step(b64decode(challenge)))
            token[72] ^= change
            assert server.ask("KK", bytes(token))[0] != "AF"


@needs_ntlm_auth
def test_samba_takes_our_spnego(samba_settings: Path) -> None:
    client = initiator(RPC_C_AUTHN_GSS_NEGOTIATE, PASSWORD, seal=True)
    with samba_server("gss-spnego", samba_settings) as server:
        command, token = "YR", client.step(b"")
        for _ in range(4):
            code, text, *_ = server.ask(command, token)
            assert code in ("TT", "AF")
            # Its last token is accept-completed with its mechListMIC, which the client checks.
            token = client.step(b64decode(text))
            if code == "AF":
                break
            command = "KK"
    assert client.complete
