"""Which packets are read together with others, and which one at a time."""

from itertools import accumulate, pairwise
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from tests.spark.packets import ORDERS

from openmsmq.spark.decoding.blob import Blob
from openmsmq.spark.decoding.packet_layout import PacketLayout
from openmsmq.wire.message.multi_queue_format_header import (
    MQFFormatNameElement,
    MultiQueueFormatHeader,
)
from openmsmq.wire.message.soap_header import SoapHeader
from openmsmq.wire.message.srmp_headers import CompoundMessageHeader, SRMPEnvelopeHeader
from openmsmq.wire.message.transaction_header import TransactionHeader
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import private_address, public_address
from openmsmq.wire.scalars import TxSequenceID
from openmsmq.wire.security.security_header import ProviderInfo, SecurityHeader, SecurityHeaderFlags

QUEUE = UUID(int=1)
ENCRYPTED = SecurityHeader(int(SecurityHeaderFlags.EB), encryption_key=b"key")
SIGNED = SecurityHeader(1, b"sid", b"", b"signature", b"certificate", ProviderInfo(1, "provider"))
SEVERAL = MultiQueueFormatHeader((MQFFormatNameElement(1, QUEUE), MQFFormatNameElement(3)))
FROM_HTTP = (SRMPEnvelopeHeader("<envelope/>"), CompoundMessageHeader(b"request", 3, 2))


def layout_of(*packets: bytes) -> PacketLayout:
    bounds = list(accumulate(map(len, packets), initial=0))
    pairs = np.array(list(pairwise(bounds)), np.int64).reshape(-1, 2)
    return PacketLayout(Blob(b"".join(packets)), pairs[:, 0], pairs[:, 1])


def message(**properties: Any) -> bytes:
    return build_user_message(**{"destination_queue": ORDERS, "body": b"body", **properties})


@pytest.mark.parametrize(
    "properties",
    [
        {},
        {"destination_queue": public_address(QUEUE)},
        {"destination_queue": private_address(QUEUE, 1)},
        {"admin_queue": ORDERS, "response_queue": ORDERS},
        {"transaction_header": TransactionHeader(0, TxSequenceID(1, 1), 1, 0, QUEUE)},
        {"connector_type": QUEUE},
        {"security_header": SIGNED},
        {"security_header": ENCRYPTED, "message_size": 2},
        {"tracing_requested": True, "tracing_queue": QUEUE},
        {"multi_queue_format_header": SEVERAL},
        {"soap_header": SoapHeader("<header/>", "<body/>")},
        {"extension": b"odd", "label": "x" * 249},
    ],
)
def test_whatever_programs_send_is_read_together(properties: dict[str, Any]) -> None:
    assert layout_of(message(), message(**properties)).plain.tolist() == [True, True]


def test_a_message_that_came_over_http_is_left_to_the_other_decoder() -> None:
    assert layout_of(message(srmp_headers=FROM_HTTP), message()).plain.tolist() == [False, True]


def test_trailing_headers_that_are_broken_are_found() -> None:
    packet = bytearray(message(multi_queue_format_header=SEVERAL))
    packet[-8] ^= 0xFF
    good = message(multi_queue_format_header=SEVERAL)
    assert layout_of(bytes(packet), good).plain.tolist() == [False, True]


def test_an_encrypted_body_takes_the_greater_of_its_sizes() -> None:
    layout = layout_of(message(security_header=ENCRYPTED, message_size=2), message(message_size=2))
    assert (layout.body_end - layout.body).tolist() == [4, 2]


def test_the_last_packet_may_be_cut_anywhere() -> None:
    packet = message(admin_queue=ORDERS, security_header=SIGNED)
    for size in range(len(packet)):
        cut = bytearray(packet[:size])
        # Else the size alone would tell.
        cut[8:12] = size.to_bytes(4, "little")
        assert not layout_of(packet, bytes(cut[:size])).plain[1]


def test_no_packets_have_no_layout() -> None:
    assert len(layout_of()) == 0
