"""`openmsmq user`: accounts of other machines that read queues here."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from openmsmq.cli.failure import Explanation
from openmsmq.cli.groups import Commands, add_group
from openmsmq.cli.options.confirmation import DryRunOption, YesOption, confirm
from openmsmq.cli.options.connection import SocketOption
from openmsmq.cli.options.data_directory import DataOption, managed_directory
from openmsmq.cli.options.passwords import PasswordFileOption, new_password
from openmsmq.cli.output import Column, JsonOption, print_json, print_table, say
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.errors import ConfigError

if TYPE_CHECKING:
    from openmsmq.service.account_file import Account, AccountFile
    from openmsmq.wire.security.sid import SID

_HELP: Final = "Manage accounts of other machines that read queues here (NTLM, Kerberos)."
_COLUMNS: Final = {
    "name": Column("User", cut=True),
    "principal": Column("Principal"),
    "kerberos_principal": Column("Kerberos"),
    "sid": Column("SID", optional=True),
}
_EXPLANATION: Final = Explanation(
    Hresult.MQ_ERROR_INVALID_PARAMETER,
    cause="The account, its name, its password or the file of accounts.",
    remedy="Check the name and the options; nothing was changed.",
)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="User name, case-insensitive.")]


def register(app: typer.Typer) -> None:
    """Add the group to the program."""
    commands: Commands = {
        "add": add,
        "list": list_users,
        "passwd": change_password,
        "remove": remove,
    }
    add_group(app, "user", commands, help_text=_HELP, explanation=_EXPLANATION)


def add(
    name: NameArgument,
    *,
    principal: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="PRINCIPAL",
            help="Principal of the account: user:NAME, uid:NUMBER or a SID; else a new SID.",
        ),
    ] = None,
    kerberos: Annotated[
        str | None,
        typer.Option(
            "--principal",
            metavar="USER@REALM",
            help="Kerberos principal of the account; then it needs no password.",
        ),
    ] = None,
    password_file: PasswordFileOption = None,
    data: DataOption = None,
    socket: SocketOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add an account; `queue grant` grants rights to its principal."""
    accounts = account_file(data, socket)
    sid = None if principal is None else user_sid(principal)
    password = None
    if kerberos is None or password_file is not None:
        password = new_password(password_file, name)
    tell("Added", accounts.add(name, password, sid, kerberos), as_json=as_json)


def list_users(
    *, data: DataOption = None, socket: SocketOption = None, as_json: JsonOption = False
) -> None:
    """List the accounts, without passwords."""
    accounts = account_file(data, socket)
    users = [properties(account) for account in accounts.read().accounts.values()]
    if as_json:
        for row in users:
            print_json(row)
    elif users:
        columns = {
            key: column for key, column in _COLUMNS.items() if any(row[key] for row in users)
        }
        rows = [[str(row[key] or "") for key in columns] for row in users]
        print_table(tuple(columns.values()), rows)
    else:
        say(f"No accounts in {accounts.path}; `openmsmq user add NAME` adds one.")


def change_password(
    name: NameArgument,
    *,
    password_file: PasswordFileOption = None,
    data: DataOption = None,
    socket: SocketOption = None,
    as_json: JsonOption = False,
) -> None:
    """Change the password of an account. The next logon needs the new one."""
    accounts = account_file(data, socket)
    known = accounts.find(name)
    changed = accounts.set_password(name, new_password(password_file, known.name))
    tell("Changed the password of", changed, as_json=as_json)


def remove(
    name: NameArgument,
    *,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    data: DataOption = None,
    socket: SocketOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove an account; its principal keeps its rights."""
    accounts = account_file(data, socket)
    account = accounts.find(name)
    if not dry_run:
        confirm(f"Remove the account {account.name}?", yes=yes)
        accounts.remove(name)
    if as_json:
        print_json(properties(account) | {"removed": not dry_run, "dry_run": dry_run})
    else:
        say(f"{'Would remove' if dry_run else 'Removed'} {account.name}")


def account_file(data: Path | None, socket: Path | None) -> "AccountFile":
    # It loads what knows NTLM, and few commands need that.
    from openmsmq.service.account_file import AccountFile

    return AccountFile(managed_directory(data, socket))


def user_sid(principal: str) -> "SID":
    """The SID of a user; groups cannot log on.

    Raises:
        ConfigError: it is a group, or everybody.
    """
    from openmsmq.security.principals import parse_principal
    from openmsmq.service.account_file import can_log_on
    from openmsmq.service.accounts import UnixAccounts

    sid = parse_principal(principal, UnixAccounts())
    if not can_log_on(sid):
        raise ConfigError(
            f"--as {principal}: an account stands for a user, and this is a group or everybody",
            remedy="Name user:NAME, uid:NUMBER or the SID of a user.",
        )
    return sid


def properties(account: "Account") -> dict[str, Any]:
    from openmsmq.security.principals import describe_principal
    from openmsmq.service.accounts import UnixAccounts

    return {
        "name": account.name,
        "principal": describe_principal(account.sid, UnixAccounts()),
        "sid": str(account.sid),
        "kerberos_principal": account.principal,
        "has_password": bool(account.nt_hash),
    }


def tell(what: str, account: "Account", *, as_json: bool) -> None:
    description = properties(account)
    if as_json:
        print_json(description)
    else:
        say(f"{what} {description['name']}, which stands for {description['principal']}")
