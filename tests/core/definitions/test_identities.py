"""Keys and certificates in definitions: compared by digest, never brought."""

from hashlib import sha256

import pytest
from tests.core.directory_harness import Machine, shared_file
from tests.security.accounts import FakeAccounts

from openmsmq.core.definitions.plan import PlanOptions
from openmsmq.directory.certificates import certificate_digest
from openmsmq.directory.objects import User
from openmsmq.security.caller import SYSTEM_CALLER, unix_user_sid
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.definitions.model import CertificateDefinition, Definitions, KeyDefinition

ACCOUNTS = FakeAccounts()
CERTIFICATE = b"a certificate"
KEYS = b"a list of keys"
OTHER = "ab" * 16


@pytest.fixture
def machine() -> Machine:
    made = Machine(shared_file()).provision()
    manager, directory = made.qm.state.manager, made.qm.state.directory
    assert directory is not None
    manager.public_encryption_key_list = KEYS
    directory.write(manager, ("public_encryption_key_list",), utc=1.0)
    user = User(
        identifier=made.qm.state.guids(),
        security_identifier=unix_user_sid(1000),
        certificates=(CERTIFICATE,),
        certificate_digest_list=(certificate_digest(CERTIFICATE),),
        certificate_identifiers=(made.qm.state.guids(),),
    )
    directory.create(user, utc=1.0)
    return made


def exported(machine: Machine) -> Definitions:
    return machine.qm.definer.export(caller=SYSTEM_CALLER, accounts=ACCOUNTS)


def apply(machine: Machine, definitions: Definitions) -> list[tuple[str, str, str]]:
    done = machine.qm.definer.apply(
        definitions, PlanOptions(), caller=SYSTEM_CALLER, accounts=ACCOUNTS
    )
    return [(change.action, change.kind, change.name) for change in done.value]


def test_what_there_is_is_exported_by_digest(machine: Machine) -> None:
    definitions = exported(machine)
    name = machine.qm.state.manager.computer_name
    assert definitions.keys == (KeyDefinition(name=name, digest=sha256(KEYS).hexdigest()),)
    assert definitions.certificates == (
        CertificateDefinition(principal="user:alice", digest=certificate_digest(CERTIFICATE).hex()),
    )
    assert apply(machine, definitions) == []


def test_what_is_missing_or_not_listed_is_told_and_nothing_is_changed(machine: Machine) -> None:
    before = exported(machine)
    name = machine.qm.state.manager.computer_name
    digest = certificate_digest(CERTIFICATE).hex()
    wanted = Definitions(
        keys=(KeyDefinition(name="elsewhere", digest="00" * 32),),
        certificates=(CertificateDefinition(principal="uid:1000", digest=OTHER.upper()),),
    )
    assert sorted(apply(machine, wanted)) == sorted(
        [
            ("missing", "key", "elsewhere"),
            ("unlisted", "key", name),
            ("missing", "certificate", f"user:alice {OTHER}"),
            ("unlisted", "certificate", f"user:alice {digest}"),
        ]
    )
    changed = Definitions(keys=(KeyDefinition(name=name.upper(), digest="00" * 32),))
    assert apply(machine, changed) == [("missing", "key", name.upper())]
    assert exported(machine) == before


def test_faults_name_their_place(machine: Machine) -> None:
    key = KeyDefinition(name="a", digest="00" * 32)
    with pytest.raises(QueueError, match=r"\$\.keys\[1\]\.name: 'a' is listed twice"):
        apply(machine, Definitions(keys=(key, key)))
    unknown = CertificateDefinition(principal="user:nobody", digest=OTHER)
    with pytest.raises(QueueError, match=r"\$\.certificates\[0\]\.principal"):
        apply(machine, Definitions(certificates=(unknown,)))
