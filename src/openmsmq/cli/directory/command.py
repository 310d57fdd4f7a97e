"""`openmsmq directory`: sites, links and servers for the routing of messages."""

import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from openmsmq.cli.failure import Explanation, reporting
from openmsmq.cli.options.confirmation import DryRunOption
from openmsmq.cli.output import Column, JsonOption, print_json, print_table, say
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.errors import ConfigError

from .text import Names, link_json, link_row, server_json, server_row, site_json, site_row

if TYPE_CHECKING:
    from openmsmq.directory.editing import TopologyEditor
    from openmsmq.directory.objects import QueueManagerObject, RoutingLink, Site

_EXPLANATION: Final = Explanation(
    Hresult.MQ_ERROR_INVALID_PARAMETER,
    cause="A name, a number or the file of the directory.",
    remedy="Compare with `openmsmq directory show`; nothing was changed.",
)
_SITES: Final = (Column("Site"), Column("Kind"), Column("Servers", cut=True))
_LINKS: Final = (Column("Link"), Column("Cost", right=True), Column("Gates", cut=True))
_SERVERS: Final = (
    Column("Server"),
    Column("Sites", cut=True),
    Column("Roles", cut=True),
    Column("Out-routing servers", cut=True, optional=True),
    Column("In-routing servers", cut=True, optional=True),
)
FileOption = Annotated[
    Path | None,
    typer.Option(
        "--file",
        metavar="FILE",
        envvar="OPENMSMQ_DIRECTORY",
        help="File of the directory: the value of `directory` in the configuration.",
    ),
]
SiteArgument = Annotated[str, typer.Argument(metavar="SITE", help="Name of a site.")]
EndArgument = Annotated[str, typer.Argument(metavar="SITE", help="Site at one end.")]
OtherEndArgument = Annotated[str, typer.Argument(metavar="OTHER", help="Site at the other end.")]
ServerArgument = Annotated[
    str, typer.Argument(metavar="SERVER", help="Computer name of a queue manager.")
]
GateOption = Annotated[
    list[str] | None,
    typer.Option("--gate", metavar="SERVER", help="Gate of the link; may be repeated."),
]
CostOption = Annotated[
    int | None, typer.Option("--cost", metavar="COST", help="1 to 999999; a new link has 1.")
]
SiteOption = Annotated[
    list[str] | None,
    typer.Option("--site", metavar="SITE", help="Site of the server; may be repeated."),
]
NoneOption = Annotated[
    bool, typer.Option("--no-gates", help="Remove all gates.", show_default=False)
]


def register(app: typer.Typer) -> None:
    """Add the group to the program."""
    group = typer.Typer(
        help="Sites, routing links and servers of the directory in a file.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    group.command("show")(reporting("directory show", show, _EXPLANATION))
    for word, text, commands in (
        ("site", "Add, list and remove sites.", (list_sites, add_site, remove_site)),
        (
            "link",
            "Add, list, change and remove links.",
            (list_links, add_link, set_link, remove_link),
        ),
        (
            "server",
            "List and change servers; add foreign computers.",
            (list_servers, add_server, set_server, remove_server),
        ),
    ):
        inner = typer.Typer(help=text, no_args_is_help=True, rich_markup_mode=None)
        for function in commands:
            verb = function.__name__.partition("_")[0]
            inner.command(verb)(reporting(f"directory {word} {verb}", function, _EXPLANATION))
        group.add_typer(inner, name=word)
    app.add_typer(group, name="directory")


def editor(file: Path | None, *, dry_run: bool = False) -> "TopologyEditor":
    """The directory in a file.

    Raises:
        ConfigError: no file is named, or it is not a directory.
    """
    from openmsmq.directory.editing import TopologyEditor
    from openmsmq.directory.local_directory import LocalDirectory
    from openmsmq.service.directory_file import DirectoryFileOnDisk

    if file is None:
        raise ConfigError("directory: name its file with --file or OPENMSMQ_DIRECTORY")
    directory = LocalDirectory(DirectoryFileOnDisk(file.expanduser().absolute()))
    try:
        directory.check()
    except OSError as exc:
        raise ConfigError(f"directory: {file}: {exc.strerror}") from exc
    return TopologyEditor(directory, utc=time.time(), dry_run=dry_run)


def show(*, file: FileOption = None, as_json: JsonOption = False) -> None:
    """Show sites, links and servers, with obstacles to routing."""
    from openmsmq.directory.editing import find_warnings

    topology = editor(file)
    sites, links, servers = topology.sites(), topology.links(), topology.servers()
    names = Names(sites, servers)
    warnings = find_warnings(sites, links, servers)
    if as_json:
        print_json(
            {
                "sites": [site_json(site, names) for site in sites],
                "links": [link_json(link, names) for link in links],
                "servers": [server_json(server, names) for server in servers],
                "warnings": warnings,
            }
        )
        return
    for columns, rows in (
        (_SITES, [site_row(site, names) for site in sites]),
        (_LINKS, [link_row(link, names) for link in links]),
        (_SERVERS, [server_row(server, names) for server in servers]),
    ):
        if rows:
            print_table(columns, rows)
            typer.echo()
    if not sites:
        typer.echo("There are no sites: every server reaches every other one directly.")
    for warning in warnings:
        say(f"Warning: {warning}")


# Sites


def list_sites(*, file: FileOption = None, as_json: JsonOption = False) -> None:
    """List the sites."""
    topology = editor(file)
    names = Names(topology.sites(), topology.servers())
    if as_json:
        for site in topology.sites():
            print_json(site_json(site, names))
    else:
        print_table(_SITES, [site_row(site, names) for site in topology.sites()])


def add_site(
    site: SiteArgument,
    *,
    foreign: Annotated[
        bool, typer.Option("--foreign", help="Site of another messaging system.")
    ] = False,
    dry_run: DryRunOption = False,
    file: FileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add a site."""
    topology = editor(file, dry_run=dry_run)
    added = topology.add_site(site, identifier=uuid.uuid4(), foreign=foreign)
    _tell_site("add", added, topology, dry_run=dry_run, as_json=as_json)


def remove_site(
    site: SiteArgument,
    *,
    dry_run: DryRunOption = False,
    file: FileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove a site without servers and links."""
    topology = editor(file, dry_run=dry_run)
    _tell_site("remove", topology.remove_site(site), topology, dry_run=dry_run, as_json=as_json)


# Links


def list_links(*, file: FileOption = None, as_json: JsonOption = False) -> None:
    """List the links."""
    topology = editor(file)
    names = Names(topology.sites(), topology.servers())
    if as_json:
        for link in topology.links():
            print_json(link_json(link, names))
    else:
        print_table(_LINKS, [link_row(link, names) for link in topology.links()])


def add_link(
    site: EndArgument,
    other: OtherEndArgument,
    *,
    cost: CostOption = None,
    gate: GateOption = None,
    dry_run: DryRunOption = False,
    file: FileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Link two sites. The gates are routing servers in one of them or in both."""
    topology = editor(file, dry_run=dry_run)
    link = topology.add_link(
        site, other, identifier=uuid.uuid4(), cost=1 if cost is None else cost, gates=gate or ()
    )
    _tell_link("add", link, topology, dry_run=dry_run, as_json=as_json)


def set_link(
    site: EndArgument,
    other: OtherEndArgument,
    *,
    cost: CostOption = None,
    gate: GateOption = None,
    no_gates: NoneOption = False,
    dry_run: DryRunOption = False,
    file: FileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Change the cost or all gates of a link."""
    topology = editor(file, dry_run=dry_run)
    link = topology.set_link(site, other, cost=cost, gates=() if no_gates else gate)
    _tell_link("set", link, topology, dry_run=dry_run, as_json=as_json)


def remove_link(
    site: EndArgument,
    other: OtherEndArgument,
    *,
    dry_run: DryRunOption = False,
    file: FileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove a link."""
    topology = editor(file, dry_run=dry_run)
    link = topology.remove_link(site, other)
    _tell_link("remove", link, topology, dry_run=dry_run, as_json=as_json)


# Servers


def list_servers(*, file: FileOption = None, as_json: JsonOption = False) -> None:
    """List the servers."""
    topology = editor(file)
    names = Names(topology.sites(), topology.servers())
    if as_json:
        for server in topology.servers():
            print_json(server_json(server, names))
    else:
        print_table(_SERVERS, [server_row(server, names) for server in topology.servers()])


def add_server(
    server: ServerArgument,
    *,
    site: SiteOption = None,
    dry_run: DryRunOption = False,
    file: FileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add a foreign computer. Queue managers register themselves when they start."""
    topology = editor(file, dry_run=dry_run)
    added = topology.add_server(server, identifier=uuid.uuid4(), sites=site or ())
    _tell_server("add", added, topology, dry_run=dry_run, as_json=as_json)


def set_server(
    server: ServerArgument,
    *,
    site: SiteOption = None,
    routing: Annotated[
        bool | None,
        typer.Option("--routing/--no-routing", help="Whether it forwards messages for others."),
    ] = None,
    out_server: Annotated[
        list[str] | None,
        typer.Option("--out-server", metavar="SERVER", help="Out-routing server of its messages."),
    ] = None,
    in_server: Annotated[
        list[str] | None,
        typer.Option("--in-server", metavar="SERVER", help="In-routing server of its messages."),
    ] = None,
    direct: Annotated[
        bool, typer.Option("--direct", help="Remove its out- and in-routing servers.")
    ] = False,
    dry_run: DryRunOption = False,
    file: FileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Change the sites, the routing and the routing servers of a server."""
    if direct and (out_server or in_server):
        raise typer.BadParameter("--direct goes with neither --out-server nor --in-server")
    topology = editor(file, dry_run=dry_run)
    changed = topology.set_server(
        server,
        sites=site,
        routing=routing,
        out_servers=() if direct else out_server,
        in_servers=() if direct else in_server,
    )
    _tell_server("set", changed, topology, dry_run=dry_run, as_json=as_json)


def remove_server(
    server: ServerArgument,
    *,
    dry_run: DryRunOption = False,
    file: FileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove a server that no longer exists; nothing may refer to it."""
    topology = editor(file, dry_run=dry_run)
    removed = topology.remove_server(server)
    _tell_server("remove", removed, topology, dry_run=dry_run, as_json=as_json)


_DONE: Final = {"add": "Added", "set": "Changed", "remove": "Removed"}


def _verb(verb: str, *, dry_run: bool) -> str:
    return f"Would {'change' if verb == 'set' else verb}" if dry_run else _DONE[verb]


def _tell_site(
    verb: str, site: "Site", topology: "TopologyEditor", *, dry_run: bool, as_json: bool
) -> None:
    names = Names([*topology.sites(), site], topology.servers())
    if as_json:
        print_json({"change": verb, **site_json(site, names), "dry_run": dry_run})
    else:
        say(f"{_verb(verb, dry_run=dry_run)} site {site.name}")


def _tell_link(
    verb: str, link: "RoutingLink", topology: "TopologyEditor", *, dry_run: bool, as_json: bool
) -> None:
    names = Names(topology.sites(), topology.servers())
    if as_json:
        print_json({"change": verb, **link_json(link, names), "dry_run": dry_run})
        return
    title, cost, gates = link_row(link, names)
    say(f"{_verb(verb, dry_run=dry_run)} link {title}: cost {cost}, gates {gates}")
    _warn(topology, f"link {title}")


def _tell_server(
    verb: str,
    server: "QueueManagerObject",
    topology: "TopologyEditor",
    *,
    dry_run: bool,
    as_json: bool,
) -> None:
    names = Names(topology.sites(), [*topology.servers(), server])
    if as_json:
        print_json({"change": verb, **server_json(server, names), "dry_run": dry_run})
        return
    name, sites, roles, *_ = server_row(server, names)
    say(f"{_verb(verb, dry_run=dry_run)} server {name}: sites {sites}, {roles}")
    _warn(topology, f"server {name}")


def _warn(topology: "TopologyEditor", about: str) -> None:
    """Say what is unwise about what was changed."""
    from openmsmq.directory.editing import find_warnings

    for warning in find_warnings(topology.sites(), topology.links(), topology.servers()):
        if warning.startswith(f"{about}:"):
            say(f"Warning: {warning}")
