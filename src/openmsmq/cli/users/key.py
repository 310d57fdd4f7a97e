"""`openmsmq key`: the certificates of a user, with their private keys."""

import getpass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from openmsmq.cli.failure import Explanation
from openmsmq.cli.groups import Commands, add_group
from openmsmq.cli.options.passwords import PasswordFileOption, password_in
from openmsmq.cli.output import Column, JsonOption, print_json, print_table
from openmsmq.wire.codes.hresult import Hresult

if TYPE_CHECKING:
    from openmsmq.client.certificates import CertificateStore, UserCertificate

_HELP: Final = "Create, list, export and import your certificates and their private keys."
_COLUMNS: Final = (
    Column("Digest"),
    Column("Subject", cut=True),
    Column("Valid until"),
    Column("Key", right=True),
    Column("Private key"),
    Column("Issuer", cut=True, optional=True),
)
_EXPLANATION: Final = Explanation(
    Hresult.MQ_ERROR_INVALID_CERTIFICATE,
    cause="The certificate, its key or the file is not what this command needs.",
    remedy="Check the name, the file and --password-file; nothing was changed.",
)

KeyArgument = Annotated[
    str,
    typer.Argument(metavar="KEY", help="Digest, the beginning of it, or the name."),
]


def register(app: typer.Typer) -> None:
    """Add the group to the program."""
    commands: Commands = {
        "create": create,
        "list": list_keys,
        "export": export_key,
        "import": import_key,
    }
    add_group(app, "key", commands, help_text=_HELP, explanation=_EXPLANATION)


def create(
    *,
    name: Annotated[
        str | None, typer.Option(help="Whom the certificate names; else your user name.")
    ] = None,
    days: Annotated[int, typer.Option(min=1, max=36500, help="How long it is valid.")] = 3650,
    bits: Annotated[int, typer.Option(min=1024, max=16384, help="Length of the key.")] = 2048,
    as_json: JsonOption = False,
) -> None:
    """Make a key pair, and a certificate for it that it signs itself."""
    subject = getpass.getuser() if name is None else name
    # [RFC5280] A.1: a common name has 64 characters at most.
    if not 0 < len(subject) <= 64:
        raise typer.BadParameter("a name has 1 to 64 characters", param_hint="--name")
    made = store().create(subject, days=days, bits=bits)
    tell("Created", made, as_json=as_json)


def list_keys(*, as_json: JsonOption = False) -> None:
    """List the certificates that you have."""
    kept = store()
    found = list(kept)
    if as_json:
        for each in found:
            print_json(properties(each))
    elif found:
        print_table(_COLUMNS, [row(each) for each in found])
    else:
        typer.echo(f"No certificates in {kept.directory}; `openmsmq key create` makes one.")


def export_key(
    key: KeyArgument,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="New file: .pem, .cer, .der, .p12 or .pfx."),
    ],
    *,
    private: Annotated[
        bool, typer.Option("--private", help="With the private key; not in .cer and .der.")
    ] = False,
    password_file: PasswordFileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a certificate to a file, to give to others or to another machine of yours."""
    exported = store().export_to(key, file, private=private, password=password_in(password_file))
    tell(f"Exported to {file}:", exported, as_json=as_json)


def import_key(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A certificate as PEM, DER or PKCS #12.")
    ],
    *,
    password_file: PasswordFileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Keep a certificate, with its private key if the file has one."""
    tell(
        "Imported", store().import_from(file, password=password_in(password_file)), as_json=as_json
    )


def store() -> "CertificateStore":
    # It loads what knows certificates, and few commands need that.
    from openmsmq.client.certificates import CertificateStore

    return CertificateStore()


def tell(what: str, certificate: "UserCertificate", *, as_json: bool) -> None:
    if as_json:
        print_json(properties(certificate))
    else:
        until = certificate.not_after.date().isoformat()
        typer.echo(f"{what} {certificate.digest} {certificate.subject}, valid until {until}")


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
