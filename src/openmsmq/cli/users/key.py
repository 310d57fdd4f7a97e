"""`openmsmq key`: the certificates of a user, with their private keys."""

import getpass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from openmsmq.cli.failure import Explanation
from openmsmq.cli.groups import Commands, add_group
from openmsmq.cli.options.connection import SocketOption, connect
from openmsmq.cli.options.passwords import PasswordFileOption, password_in
from openmsmq.cli.output import Column, JsonOption, print_json, print_table, say
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.errors import ConfigError

from .machine_keys import (
    export_machine_keys,
    import_machine_keys,
    list_machine_keys,
    rotate_keys,
)

if TYPE_CHECKING:
    from openmsmq.client.certificates import CertificateStore, UserCertificate

_HELP: Final = "Manage your certificates: create, list, export, import and register them."
_COLUMNS: Final = (
    Column("Digest"),
    Column("Subject", cut=True),
    Column("Valid until"),
    Column("Key", right=True),
    Column("Private key"),
    Column("Issuer", cut=True, optional=True),
)
_REGISTERED_COLUMNS: Final = (
    Column("Digest"),
    Column("Subject", cut=True),
    Column("Valid until"),
    Column("Internal"),
    Column("Identifier", optional=True),
)
_EXPLANATION: Final = Explanation(
    Hresult.MQ_ERROR_INVALID_CERTIFICATE,
    cause="The certificate, its key or the file is not what this command needs.",
    remedy="Check the name, the file and --password-file; nothing was changed.",
)

KeyArgument = Annotated[
    str,
    typer.Argument(metavar="KEY", help="Digest, its beginning, or the name."),
]


MachineOption = Annotated[
    bool, typer.Option("--machine", help="Keys of the queue manager instead of yours.")
]


def register(app: typer.Typer) -> None:
    """Add the group to the program."""
    commands: Commands = {
        "create": create,
        "list": list_keys,
        "export": export_key,
        "import": import_key,
        "rotate": rotate_keys,
        "register": register_key,
        "unregister": unregister_key,
        "renew": renew_key,
        "show": show_keys,
    }
    add_group(app, "key", commands, help_text=_HELP, explanation=_EXPLANATION)


def create(
    *,
    name: Annotated[
        str | None, typer.Option(help="Name in the certificate; else your user name.")
    ] = None,
    days: Annotated[int, typer.Option(min=1, max=36500, help="How long it is valid.")] = 3650,
    bits: Annotated[int, typer.Option(min=1024, max=16384, help="Length of the key.")] = 2048,
    as_json: JsonOption = False,
) -> None:
    """Create a key pair and a self-signed certificate for it."""
    subject = getpass.getuser() if name is None else name
    # [RFC5280] A.1: a common name has 64 characters at most.
    if not 0 < len(subject) <= 64:
        raise typer.BadParameter("a name has 1 to 64 characters", param_hint="--name")
    certificate = store().create(subject, days=days, bits=bits)
    tell("Created", certificate, as_json=as_json)


def list_keys(
    *, machine: MachineOption = False, as_json: JsonOption = False, socket: SocketOption = None
) -> None:
    """List your certificates, or the keys of the queue manager."""
    if machine:
        list_machine_keys(as_json=as_json, socket=socket)
        return
    certificate_store = store()
    certificates = list(certificate_store)
    if as_json:
        for certificate in certificates:
            print_json(properties(certificate))
    elif certificates:
        print_table(_COLUMNS, [row(certificate) for certificate in certificates])
    else:
        say(f"No certificates in {certificate_store.directory}; `openmsmq key create` creates one.")


def export_key(
    key: KeyArgument,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="New file: .pem, .cer, .der, .p12 or .pfx."),
    ] = None,
    *,
    machine: MachineOption = False,
    private: Annotated[
        bool, typer.Option("--private", help="Include the private key; not for .cer and .der.")
    ] = False,
    password_file: PasswordFileOption = None,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Export a certificate to a file.

    `key export --machine FILE` writes the public keys of the queue manager, for others to import.
    """
    if machine:
        if file is not None:
            raise typer.BadParameter("--machine takes a FILE only")
        export_machine_keys(Path(key), as_json=as_json, socket=socket)
        return
    if file is None:
        raise typer.BadParameter("a FILE is missing", param_hint="FILE")
    exported = store().export_to(key, file, private=private, password=password_in(password_file))
    tell(f"Exported to {file}:", exported, as_json=as_json)


def import_key(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A certificate as PEM, DER or PKCS #12.")
    ],
    *,
    machine: MachineOption = False,
    password_file: PasswordFileOption = None,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Import a certificate, and its private key if present.

    With --machine the file has public keys of another queue manager, for the directory.
    """
    if machine:
        import_machine_keys(file, as_json=as_json, socket=socket)
        return
    tell(
        "Imported", store().import_from(file, password=password_in(password_file)), as_json=as_json
    )


def register_key(
    key: KeyArgument,
    *,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Add your certificate to the directory. Then its signatures are accepted."""
    chosen = store().find(key)
    with connect(socket) as manager:
        manager.register_certificate(store().encoded(chosen))
    tell("Registered", chosen, as_json=as_json)


def unregister_key(
    key: KeyArgument,
    *,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Remove your certificate from the directory; its file stays."""
    with connect(socket) as manager:
        digest = _registered_digest(key, manager.registered_certificates(), list(store()))
        remaining = manager.unregister_certificate(bytes.fromhex(digest))
    if as_json:
        print_json({"digest": digest, "registered": len(remaining)})
    else:
        say(f"Unregistered {digest}; the directory has {len(remaining)} of your certificates.")


def renew_key(
    key: KeyArgument,
    *,
    days: Annotated[int, typer.Option(min=1, max=36500, help="How long it is valid.")] = 3650,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the old one in the directory.")
    ] = False,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Replace a certificate by one with a new key, and register it.

    Messages in transit that were signed with the old key are refused once it is no longer
    registered: with --keep it stays until `openmsmq key unregister`.
    """
    old = store().find(key)
    with connect(socket) as manager:
        registered = {entry["digest"] for entry in manager.registered_certificates()}
        name = old.subject.removeprefix("CN=")
        certificate = store().create(name, days=days, bits=max(old.bits, 2048))
        manager.register_certificate(store().encoded(certificate))
        if old.digest in registered and not keep:
            manager.unregister_certificate(bytes.fromhex(old.digest))
    tell("Renewed:", certificate, as_json=as_json)


def show_keys(*, as_json: JsonOption = False, socket: SocketOption = None) -> None:
    """List your certificates in the directory."""
    here = {certificate.digest: certificate for certificate in store()}
    with connect(socket) as manager:
        sid = manager.identity.sid
        registered = manager.registered_certificates()
    if as_json:
        for entry in registered:
            known = here.get(entry["digest"])
            print_json(
                {
                    "digest": entry["digest"],
                    "identifier": entry["identifier"],
                    "internal": entry["internal"],
                    "sid": sid,
                    "subject": None if known is None else known.subject,
                    "private_key": known is not None and known.private,
                }
            )
    elif registered:
        rows = [_registered_row(entry, here.get(entry["digest"])) for entry in registered]
        print_table(_REGISTERED_COLUMNS, rows)
    else:
        say(f"The directory has no certificate of {sid}; `openmsmq key register` adds one.")


def _registered_row(entry: dict[str, Any], known: "UserCertificate | None") -> list[str]:
    return [
        entry["digest"],
        "(not in your files)" if known is None else known.subject,
        "" if known is None else known.not_after.date().isoformat(),
        "yes" if entry["internal"] else "no",
        entry["identifier"],
    ]


def _registered_digest(
    wanted: str, registered: list[dict[str, Any]], here: "list[UserCertificate]"
) -> str:
    """The digest of a certificate that the directory has, by its digest, its start or a name."""
    text = wanted.lower()
    named = {
        certificate.digest
        for certificate in here
        if certificate.subject.lower() in (text, f"cn={text}")
    }
    digests = [
        entry["digest"]
        for entry in registered
        if entry["digest"].startswith(text) or entry["digest"] in named
    ]
    if len(digests) != 1:
        what = "no certificate" if not digests else f"{len(digests)} certificates"
        raise ConfigError(f"{what} {wanted!r} in the directory; see `openmsmq key show`")
    return str(digests[0])


def store() -> "CertificateStore":
    # It loads what knows certificates, and few commands need that.
    from openmsmq.client.certificates import CertificateStore

    return CertificateStore()


def tell(what: str, certificate: "UserCertificate", *, as_json: bool) -> None:
    if as_json:
        print_json(properties(certificate))
    else:
        until = certificate.not_after.date().isoformat()
        say(f"{what} {certificate.digest} {certificate.subject}, valid until {until}")


def properties(certificate: "UserCertificate") -> dict[str, Any]:
    return {
        "digest": certificate.digest,
        "subject": certificate.subject,
        "issuer": certificate.issuer,
        "not_before": iso(certificate.not_before),
        "not_after": iso(certificate.not_after),
        "bits": certificate.bits,
        "private_key": certificate.private,
        "file": str(certificate.file),
    }


def iso(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def row(certificate: "UserCertificate") -> list[str]:
    return [
        certificate.digest,
        certificate.subject,
        certificate.not_after.date().isoformat(),
        f"{certificate.bits} bits",
        "yes" if certificate.private else "no",
        certificate.issuer,
    ]
