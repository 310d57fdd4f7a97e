"""Keys of queue managers and certificates of users in definitions: compared by digest only.

A file cannot add a key or a certificate. It lists those that the directory is expected to have;
missing and unlisted ones are reported.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from openmsmq.directory.certificates import certificate_digest
from openmsmq.security.principals import describe_principal, parse_principal
from openmsmq.wire.definitions.model import CertificateDefinition, KeyDefinition

from .faults import at, refusal
from .plan import Change, Plan

if TYPE_CHECKING:
    from openmsmq.directory.editing import TopologyEditor
    from openmsmq.security.principals import Accounts


def keys_in(editor: TopologyEditor) -> tuple[KeyDefinition, ...]:
    """The public keys for encryption that the directory has, one entry for each queue manager."""
    return tuple(
        KeyDefinition(
            name=server.computer_name,
            digest=sha256(server.public_encryption_key_list).hexdigest(),
        )
        for server in editor.servers()
        if server.public_encryption_key_list
    )


def certificates_in(
    editor: TopologyEditor, accounts: Accounts
) -> tuple[CertificateDefinition, ...]:
    """The certificates of users that the directory has."""
    entries = [
        CertificateDefinition(
            principal=describe_principal(user.security_identifier, accounts),
            digest=certificate_digest(certificate).hex(),
        )
        for user in editor.users()
        for certificate in user.certificates
    ]
    return tuple(sorted(entries, key=lambda entry: (entry.principal, entry.digest)))


def plan_keys(plan: Plan, editor: TopologyEditor, wanted: tuple[KeyDefinition, ...]) -> None:
    """Report the keys that differ.

    Raises:
        QueueError: a queue manager is listed twice.
    """
    listed: dict[str, str] = {}
    for number, key in enumerate(wanted):
        name = key.name.casefold()
        if name in listed:
            raise refusal(f"$.keys[{number}].name", f"{key.name!r} is listed twice")
        listed[name] = key.digest.lower()
    keys = keys_in(editor)
    present = {key.name.casefold(): key.digest for key in keys}
    names = {key.name.casefold(): key.name for key in (*keys, *wanted)}
    _compare(plan, "key", present, listed, names)


def plan_certificates(
    plan: Plan,
    editor: TopologyEditor,
    wanted: tuple[CertificateDefinition, ...],
    accounts: Accounts,
) -> None:
    """Report the certificates that differ.

    Raises:
        QueueError: a principal is unknown.
    """
    listed: set[tuple[str, str]] = set()
    for number, definition in enumerate(wanted):
        with at(f"$.certificates[{number}].principal"):
            sid = parse_principal(definition.principal, accounts)
        listed.add((describe_principal(sid, accounts), definition.digest.lower()))
    present = {
        (certificate.principal, certificate.digest)
        for certificate in certificates_in(editor, accounts)
    }
    for action, entries in (("missing", listed - present), ("unlisted", present - listed)):
        for principal, digest in sorted(entries):
            change = Change(action=action, kind="certificate", name=f"{principal} {digest}")
            plan.add([change], None)


def _compare(
    plan: Plan, kind: str, present: dict[str, str], listed: dict[str, str], names: dict[str, str]
) -> None:
    for key in sorted(present.keys() | listed.keys()):
        if present.get(key) == listed.get(key):
            continue
        if key not in listed:
            change = Change(action="unlisted", kind=kind, name=names[key])
        else:
            change = Change(
                action="missing",
                kind=kind,
                name=names[key],
                property="digest",
                before=present.get(key, ""),
                after=listed[key],
            )
        plan.add([change], None)
