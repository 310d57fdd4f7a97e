"""What happens without the extra `kerberos`: nothing is loaded, and errors say what to install."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.security.kerberos.test_keytab import entry

import openmsmq
from openmsmq.client.remote.address import parse_rpc_address
from openmsmq.security.kerberos import gss, has_ticket, initiator
from openmsmq.server.config import Config
from openmsmq.server.parts.rpc import RpcPart
from openmsmq.wire.errors import ConfigError


@pytest.fixture
def without_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if gssapi were not installed."""
    monkeypatch.setitem(sys.modules, "gssapi", None)
    monkeypatch.setattr(initiator, "is_installed", lambda: False)


@pytest.mark.usefixtures("without_extra")
def test_a_client_says_what_to_install() -> None:
    with pytest.raises(ConfigError, match="needs the package gssapi") as refused:
        openmsmq.connect("msmq://localhost", auth="kerberos")
    for word in ("openmsmq[kerberos]", "gcc", "libkrb5-dev"):
        assert word in refused.value.remedy


@pytest.mark.usefixtures("without_extra")
def test_a_server_with_a_keytab_says_what_to_install(tmp_path: Path) -> None:
    config = Config(data=tmp_path, rpc_keytab=tmp_path / "keytab")
    with pytest.raises(ConfigError, match="needs the package gssapi"):
        RpcPart.check(config)


@pytest.mark.usefixtures("without_extra")
def test_nobody_has_a_ticket_and_reads_as_anonymous() -> None:
    assert not has_ticket()
    assert not parse_rpc_address("msmq://localhost").kerberos


def test_programs_without_kerberos_do_not_load_it() -> None:
    assert gss.PACKAGE == "gssapi"
    loaded = "import sys, openmsmq.security.packages; sys.exit('gssapi' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", loaded], check=False).returncode == 0


def test_a_server_checks_its_keytab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openmsmq.server.parts.rpc.require_gssapi", lambda: None)
    keytab = tmp_path / "keytab"
    config = Config(data=tmp_path / "data", rpc_keytab=keytab, rpc_port=0, qm2qm_port=0)
    with pytest.raises(ConfigError, match="rpc_keytab"):
        RpcPart.check(config)
    keytab.write_bytes(b"\5\2" + entry("host/a@R"))
    RpcPart.check(config)
