"""Reports about messages whose destination is no name."""

import pytest
from tests.core.harness import ORDERS, Harness, packet

from openmsmq.core.transfer.notices.reports import send_report
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.queue_address import direct_address


def without_destination(raw: bytes) -> bytes:
    size = UserMessage(raw).admin_offset - 64
    flags = int.from_bytes(raw[60:64], "little") & ~0x1C00
    return (
        raw[:8]
        + (len(raw) - size).to_bytes(4, "little")
        + raw[12:60]
        + flags.to_bytes(4, "little")
        + raw[64 + size :]
    )


@pytest.mark.parametrize(("change", "target"), [(bytes, "nonsense"), (without_destination, "")])
def test_a_report_names_the_destination_as_well_as_it_can(
    harness: Harness, change: type[bytes], target: str
) -> None:
    trace = harness.qm.find_queue(ORDERS).properties.identifier
    raw = packet(
        destination_queue=direct_address("nonsense"), tracing_requested=True, tracing_queue=trace
    )
    assert send_report(harness.qm.state, UserMessage(change(raw)))
    (body,) = harness.contents()
    assert f"<TARGET QUEUE>{target}</TARGET QUEUE>" in body.decode("utf-16-le")


def test_only_traced_messages_with_a_queue_are_reported(harness: Harness) -> None:
    assert not send_report(harness.qm.state, UserMessage(packet()))
    assert not send_report(harness.qm.state, UserMessage(packet(tracing_requested=True)))
