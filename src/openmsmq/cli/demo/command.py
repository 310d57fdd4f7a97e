"""`openmsmq demo`: demonstrates the main features."""

import logging
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from openmsmq import __version__
from openmsmq.cli.decode.packet_text import fault_text
from openmsmq.terminal.printable import printable
from openmsmq.wire.dissect import dissect, dissect_ping, is_ping

from .packets import RoundTrip, example_frames, round_trips

if TYPE_CHECKING:
    from .transfer import Pair

_DAMAGED: Final = "message over HTTP"


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("demo")(demo)


def demo(
    *,
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave the web console running until Ctrl-C.")
    ] = False,
    spark: Annotated[
        bool, typer.Option(help="Archive and audit with Spark, which takes longest.")
    ] = True,
    output: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for archive and report; else a temporary one."),
    ] = None,
) -> None:
    """Demonstrate the main features; needs no setup.

    Dissects the example session of the specification, builds and reads a packet of every kind,
    detects a damaged one, transfers messages between two queue managers, reads a queue remotely
    over RPC, archives and audits messages with Spark, and opens the pages of a web console.
    """
    # Messages are refused on purpose below; the log of it is not for people who only watch.
    logging.getLogger("openmsmq").addHandler(logging.NullHandler())
    typer.echo(f"openmsmq {__version__}")
    trips = list(round_trips())
    failures = _show_example() + _show_round_trips(trips) + _show_damage(trips)
    failures += _show_transfers(_report_folder(output) if spark else None)
    failures += _show_routing()
    failures += _show_console(keep=keep)
    if failures:
        typer.echo(f"openmsmq: {failures} steps of the demonstration failed", err=True)
        raise typer.Exit(1)
    typer.echo("\nEverything above went as it should.")
    if not keep:
        typer.echo("`make demo KEEP=1` leaves the console open, with messages to look at.")


def _show_example() -> int:
    """Dissect the example session; return how many packets of it have faults."""
    typer.echo("\n1. The example session of [MS-MQQB] 4.1, dissected")
    failures = 0
    for section, direction, data in example_frames():
        root = dissect_ping(data) if is_ping(data) else dissect(data)
        fault = root.first_fault()
        failures += fault is not None
        says = printable(root.meaning) if fault is None else f"FAULT {fault_text(fault)}"
        typer.echo(f"   {section}  {direction}  {root.name:<20}  {len(data):>4} bytes  {says}")
    return failures


def _show_round_trips(trips: list[RoundTrip]) -> int:
    """Print each packet that was read back; return how many came back different."""
    typer.echo("\n2. A packet of every kind, written, read and written again")
    failures = 0
    for trip in trips:
        root = dissect_ping(trip.data) if is_ping(trip.data) else dissect(trip.data)
        good = trip.equal and root.first_fault() is None
        failures += not good
        fields = sum(1 for _ in root.walk()) - 1
        result = "same bytes" if good else "DIFFERENT"
        typer.echo(f"   {trip.kind:<26}  {root.size:>4} bytes  {fields:>3} fields  {result}")
    return failures


def _show_damage(trips: list[RoundTrip]) -> int:
    """Break a length that must be checked; return whether the damage went unnoticed."""
    typer.echo("\n3. A message over HTTP with a length that reaches beyond the packet")
    data = bytearray(next(trip.data for trip in trips if trip.kind == _DAMAGED))
    length = dissect(bytes(data)).find("SRMPEnvelopeHeader", "DataLength")
    if length is not None:
        data[length.offset : length.offset + length.size] = b"\xff" * length.size
    fault = dissect(bytes(data)).first_fault()
    typer.echo(f"   refused: {fault_text(fault)}" if fault else "   NOT NOTICED")
    return int(fault is None)


def _report_folder(output: Path | None) -> Path:
    return output or Path(tempfile.mkdtemp(prefix="openmsmq-demo-report-"))


def _show_transfers(folder: Path | None) -> int:
    """Let two queue managers talk; return how many kinds of messages did not all arrive."""
    # Loads the queue manager, which only this part needs.
    from .transfer import transfers, two_queue_managers

    typer.echo("\n4. Two queue managers, messages from one to the other (MS-MQQB, MC-MQSRM)")
    failures = 0
    with two_queue_managers() as pair:
        typer.echo(f"   alpha at {pair.sender_address}, beta at {pair.receiver_address}")
        for transfer in transfers(pair):
            failures += not transfer.good
            order = "in order" if transfer.in_order else "OUT OF ORDER"
            acknowledged = "no" if transfer.acknowledged is None else transfer.acknowledged
            typer.echo(
                f"   {transfer.kind:<24}  {transfer.sent:>4} sent  "
                f"{transfer.arrived:>4} arrived {order}  {acknowledged:>4} acknowledged  "
                f"{transfer.seconds:5.2f} s"
            )
        failures += _show_encrypted(pair)
        failures += _show_remote_read(pair)
        if folder is not None:
            failures += _show_audit(pair, folder)
    return failures


def _show_routing() -> int:
    """Send a message through a router; return whether something went wrong."""
    from .routing import send_through_router

    typer.echo("\n7. Routing: a message from site Berlin to site Paris over a gate (MS-MQBR)")
    routed = send_through_router()
    for line in routed.lines:
        typer.echo(f"   {line}")
    arrived = "arrived" if routed.arrived else "DID NOT ARRIVE"
    acknowledged = "acknowledged" if routed.acknowledged else "NOT ACKNOWLEDGED"
    typer.echo(
        f"   {routed.forwarded} messages and acknowledgments forwarded by gate; "
        f"{arrived}, {acknowledged}  {routed.seconds:5.2f} s"
    )
    return int(not routed.good)


def _show_console(*, keep: bool) -> int:
    """Open the pages of a console; return how many did not show what they have to.

    Args:
        keep: leave it open until Ctrl-C, if all is well.
    """
    from .console import console_of, wait_for_interrupt
    from .transfer import two_queue_managers

    typer.echo("\n8. The web console of beta, with messages from alpha")
    with two_queue_managers() as pair, console_of(pair) as console:
        typer.echo(f"   {console.address}")
        pages = console.look()
        for page, good in pages.items():
            typer.echo(f"   {page:<26}  {'shown' if good else 'NOT AS IT SHOULD BE'}")
        failures = list(pages.values()).count(False)
        if keep and not failures:
            typer.echo(f"   open {console.link()}")
            typer.echo("   The link works once, within 60 seconds. Ctrl-C ends the demonstration.")
            wait_for_interrupt()
    return failures


def _show_encrypted(pair: "Pair") -> int:
    """Send a signed and encrypted message; return whether something went wrong."""
    from .encrypted import SIGNER, send_encrypted

    sent = send_encrypted(pair)
    words = "encrypted on its way" if sent.encrypted else "NOT ENCRYPTED"
    typer.echo(f"   to {sent.name} with AES:")
    typer.echo(f"   {sent.body!r} {words}")
    typer.echo(f"   signed by {SIGNER}, verified on arrival: {sent.level}")
    typer.echo(f"   the same to a direct name: {sent.refusal or 'NOT REFUSED'}")
    return int(not sent.good)


def _show_remote_read(pair: "Pair") -> int:
    """Read a queue over RPC; return whether something went wrong."""
    from .remote_reading import USER, read_remotely

    typer.echo("\n5. Remote read: a client without a queue manager reads beta over RPC (MS-MQRR)")
    result = read_remotely(pair)
    typer.echo(f"   {USER} at {result.address}, with NTLM, every call signed and encrypted")
    order = "in order" if result.in_order else "OUT OF ORDER"
    typer.echo(
        f"   {result.seen:>4} seen by a cursor  {result.received:>4} received {order}  "
        f"{result.left:>4} left  {result.seconds:5.2f} s"
    )
    typer.echo(f"   with a wrong password: {result.refusal or 'NOT REFUSED'}")
    return int(not result.good)


def _show_audit(pair: "Pair", folder: Path) -> int:
    """Archive and audit with Spark; return whether a message is not where it should be."""
    from openmsmq.spark.errors import SparkUnavailable

    from .audit import audit_messages, send_messages

    typer.echo("\n6. Spark: what was sent is archived, and the fate of each message is found")
    send_messages(pair)
    try:
        result = audit_messages(pair, folder)
    except SparkUnavailable as exc:
        typer.echo(f"   left out: {exc}")
        return 0
    proof = "the manifest proves that none is missing" if result.complete else "INCOMPLETE"
    typer.echo(f"   {result.archived:>4} messages archived from the journal of alpha; {proof}")
    for state, count in result.counts.items():
        typer.echo(f"   {count:>4} {state}")
    sum_ok = sum(result.counts.values()) == result.sends
    typer.echo(f"   {result.sends:>4} in all" + ("" if sum_ok else "  DOES NOT ADD UP"))
    typer.echo(f"   report: {result.report}")
    return int(not (result.good and sum_ok))
