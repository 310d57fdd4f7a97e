"""Peers that vouch for their own messages over a binary session."""

from typing import Any

import pytest
from tests.core.forgery import SRMP, UNSIGNED, forge
from tests.protocol.binary.pair import ORDERS
from tests.protocol.binary.raw_peer import tx_message
from tests.protocol.binary.test_receiving import NEGATIVE_ARRIVAL, plain, raw

from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.queue_enums import QueuePrivacyLevel
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.packets.order_ack import FinalAck, recognize_ack
from openmsmq.wire.security.security_header import SecurityHeader, SecurityHeaderFlags

ADMIN = direct_address(r"TCP:10.0.0.7\private$\admin")
ENCRYPTED = SecurityHeader(int(SecurityHeaderFlags.EB), encryption_key=b"key")


@pytest.mark.parametrize("mode", [0, 1])
def test_bits_do_not_make_a_signature(mode: int) -> None:
    _, b, peer = raw(queue={"authentication": True})
    peer.send(
        *(
            forge(plain(number, security_header=UNSIGNED, delivery_mode=mode))
            for number in (1, 2, 3)
        )
    )
    assert b.bodies() == []
    assert b.counts["NACK_BAD_SIGNATURE"] == 3


def test_what_arrives_does_not_say_that_it_was_checked() -> None:
    _, b, peer = raw()
    packets = [forge(plain(number, security_header=UNSIGNED)) for number in (1, 2)]
    peer.send(*packets, forge(plain(3, b"", security_header=UNSIGNED, srmp_headers=SRMP)))
    found = b.messages(b.qm.find_queue(rf".\{ORDERS}"))
    assert [each.security_flags for each in found] == [0, 0, 0]
    assert [each.body for each in found] == [b"1", b"2", b"3"]
    assert found[2].srmp_envelope_header is None
    b.restart()
    assert [each.authentication_level for each in b.take()] == [0, 0, 0]


def test_a_transactional_message_is_refused_to_its_sender() -> None:
    _, b, peer = raw(queue={"authentication": True, "transactional": True})
    peer.send(forge(tx_message(b"1", 1 << 32, 1, 0, security_header=UNSIGNED)))
    assert b.bodies() == []
    assert refusals(peer.received) == [MessageClass.NACK_BAD_SIGNATURE]


def refusals(messages: list[UserMessage]) -> list[int]:
    return [each.message_class for each in messages if isinstance(recognize_ack(each), FinalAck)]


@pytest.mark.parametrize("level", QueuePrivacyLevel)
def test_an_encrypted_message_is_refused_until_it_can_be_decrypted(
    level: QueuePrivacyLevel,
) -> None:
    _, b, peer = raw(queue={"privacy_level": level})
    b.core_settings.send_insecure_nacks = True
    asking: dict[str, Any] = {"admin_queue": ADMIN, "acknowledgments": NEGATIVE_ARRIVAL}
    peer.send(
        plain(1, security_header=ENCRYPTED, privacy_level=1, **asking),
        plain(2, security_header=ENCRYPTED, **asking),
    )
    assert b.bodies() == []
    assert b.counts["NACK_BAD_ENCRYPTION"] == 2
    assert [(each.message_class, each.body) for each in peer.received] == [
        (MessageClass.NACK_BAD_ENCRYPTION, b"")
    ] * 2


def test_a_privacy_level_does_not_encrypt_a_body() -> None:
    _, b, peer = raw(queue={"privacy_level": QueuePrivacyLevel.BODY})
    peer.send(plain(1, privacy_level=1), plain(2, privacy_level=5))
    assert b.bodies() == []
    assert b.counts["NACK_BAD_ENCRYPTION"] == 2
    _, b, peer = raw(queue={"privacy_level": QueuePrivacyLevel.NONE})
    peer.send(plain(1, privacy_level=1), plain(2, privacy_level=5))
    assert b.bodies() == [b"1", b"2"]
