"""Samba's RPC clients with tickets of a real KDC: every level, with and without header signing."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
from tests.interop.kerberos.kdc import (
    ALICE,
    BOB,
    OTHER_NAME,
    PASSWORD,
    REALM,
    Realm,
    needs_gssapi,
    needs_kdc,
)
from tests.interop.kerberos.relay import forget_header_signing, relayed
from tests.interop.kerberos.test_contexts import ACCOUNTS
from tests.net.rpc.serving import HOST, in_thread
from tests.security.ntlm import peers
from tests.security.test_samba import PYTHON, needs_bindings

from openmsmq.protocol.rpc.server import LoggedOn
from openmsmq.security.kerberos import KerberosAcceptor
from openmsmq.wire.rpc.status import AuthnLevel

pytestmark = [needs_gssapi, needs_kdc, needs_bindings]

CLIENT: Final = Path(__file__).with_name("samba_rpc.py")
SECONDS: Final = 60
# The tests connect to port 135, which the system keeps for root.
ADDRESS: Final = "127.0.0.136"
MAPPER_PORT: Final = 135
LEAST: Final = 9
# endpoint mapper, and the interface of the tests
INTERFACES: Final = 2
LEVELS: Final = {
    "connect": AuthnLevel.CONNECT,
    "packet": AuthnLevel.PKT,
    "sign": AuthnLevel.PKT_INTEGRITY,
    "seal": AuthnLevel.PKT_PRIVACY,
}


def call(realm: Realm, port: int, options: str, cache: str) -> dict[str, Any]:
    """What Samba's client says that calls the server with a ticket."""
    done = subprocess.run(
        [
            PYTHON,
            str(CLIENT),
            f"ncacn_ip_tcp:{HOST}[{port},{options},target_hostname={OTHER_NAME}]",
            REALM,
        ],
        env={
            **os.environ,
            **realm.environment,
            "KRB5CCNAME": cache,
            "SMB_CONF_PATH": os.devnull,
        },
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.stdout, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


@pytest.mark.spec("MQRR-1.7-03")
@pytest.mark.parametrize("mechanism", ["krb5", "spnego"])
@pytest.mark.parametrize("level", LEVELS)
def test_samba_calls_with_a_ticket(realm: Realm, mechanism: str, level: str) -> None:
    logons: list[LoggedOn] = []
    with in_thread(kerberos=KerberosAcceptor(realm.keytab, ACCOUNTS.get), logons=logons) as port:
        answer = call(realm, port, f"{mechanism},{level}", realm.ticket(ALICE))
    assert answer == {"interfaces": [INTERFACES] * 3}
    assert [(event.identity, event.sid, event.level) for event in logons] == [
        ("Alice", str(peers.ALICE), LEVELS[level])
    ]


@pytest.mark.parametrize("signing", [True, False])
@pytest.mark.parametrize("level", ["connect", "sign", "seal"])
def test_samba_signs_headers_or_not(
    realm: Realm, monkeypatch: pytest.MonkeyPatch, level: str, *, signing: bool
) -> None:
    if not signing:
        forget_header_signing(monkeypatch)
    with (
        in_thread(kerberos=KerberosAcceptor(realm.keytab, ACCOUNTS.get)) as port,
        relayed(port) as relay,
    ):
        answer = call(realm, relay.port, f"krb5,{level}", realm.ticket(ALICE))
    assert answer == {"interfaces": [INTERFACES] * 3}
    protects = level != "connect"
    assert (relay.offers, relay.agreed) == ([protects], [protects and signing])


@pytest.mark.parametrize("level", ["sign", "seal"])
def test_an_offer_of_samba_that_is_removed_on_its_way_is_noticed(realm: Realm, level: str) -> None:
    """[MS-RPCE] 2.2.2.13: the verification trailer tells what was offered."""
    with (
        in_thread(kerberos=KerberosAcceptor(realm.keytab, ACCOUNTS.get)) as port,
        relayed(port, removes_offers=True) as relay,
    ):
        answer = call(realm, relay.port, f"krb5,{level}", realm.ticket(ALICE))
    assert "Access Denied" in answer["error"]
    assert (relay.offers, relay.agreed) == ([True], [False])


@pytest.mark.parametrize("mechanism", ["krb5", "spnego"])
def test_samba_is_refused_with_a_ticket_of_nobody_here(realm: Realm, mechanism: str) -> None:
    with in_thread(kerberos=KerberosAcceptor(realm.keytab, ACCOUNTS.get)) as port:
        answer = call(realm, port, f"{mechanism},seal", realm.ticket(BOB))
        assert "error" in answer
        # The server goes on.
        answer = call(realm, port, f"{mechanism},seal", realm.ticket(ALICE))
    assert answer == {"interfaces": [INTERFACES] * 3}


def test_samba_is_refused_where_there_is_no_keytab(realm: Realm) -> None:
    with in_thread() as port:
        assert "error" in call(realm, port, "krb5,seal", realm.ticket(ALICE))


@pytest.mark.skipif(os.geteuid() != 0, reason="port 135 needs root")
def test_the_raw_protocol_tests_of_samba_with_kerberos_pass(realm: Realm) -> None:
    """Levels packet and integrity with and without header signing, and what changes it later."""
    environment = {
        **os.environ,
        **realm.environment,
        "SERVER": ADDRESS,
        "TARGET_HOSTNAME": OTHER_NAME,
        "USERNAME": "alice",
        "PASSWORD": PASSWORD,
        "DOMAIN": REALM,
        "REALM": REALM,
        "SMB_CONF_PATH": os.devnull,
        "IGNORE_RANDOM_PAD": "1",
    }
    tests = [PYTHON, "-m", "unittest", "-v", "-k", "test_krb5", "samba.tests.dcerpc.raw_protocol"]
    kerberos = KerberosAcceptor(realm.keytab, ACCOUNTS.get)
    with in_thread(MAPPER_PORT, bind=ADDRESS, kerberos=kerberos):
        done = subprocess.run(
            tests, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    total = re.search(r"^Ran (\d+) tests", done.stderr, re.MULTILINE)
    assert total is not None, done.stderr[-2000:]
    assert int(total[1]) >= LEAST
    assert not re.findall(r"^(?:FAIL|ERROR): (\w+)", done.stderr, re.MULTILINE), done.stderr
