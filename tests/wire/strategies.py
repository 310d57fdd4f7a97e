"""Structures of packets, for property tests."""

from typing import Any
from uuid import UUID

from hypothesis import strategies as st

from openmsmq.wire.message.debug_header import DebugHeader
from openmsmq.wire.message.message_properties_header import MessagePropertiesHeader
from openmsmq.wire.message.multi_queue_format_header import (
    MQFFormatNameElement,
    MQFFormatType,
    MultiQueueFormatHeader,
)
from openmsmq.wire.message.soap_header import SoapHeader
from openmsmq.wire.message.srmp_headers import CompoundMessageHeader, SRMPEnvelopeHeader
from openmsmq.wire.message.transaction_header import TransactionHeader
from openmsmq.wire.message.user_header import DERIVED_FLAGS, UserHeader
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import (
    NO_QUEUE,
    QueueAddress,
    direct_address,
    private_address,
    public_address,
)
from openmsmq.wire.packets.session_header import SessionHeader
from openmsmq.wire.scalars import MessageIdentifier, TxSequenceID, XactUow
from openmsmq.wire.security.security_header import ProviderInfo, SecurityHeader

u8 = st.integers(0, 0xFF)
u16 = st.integers(0, 0xFFFF)
u32 = st.integers(0, 0xFFFFFFFF)
guids = st.uuids()
characters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
texts = st.text(characters, max_size=40)
labels = texts
bodies = st.binary(max_size=200)
direct_names = st.text(characters, min_size=1, max_size=60)
correlation_ids = st.binary(min_size=20, max_size=20)

message_identifiers = st.builds(MessageIdentifier, guids, u32)
tx_sequence_ids = st.builds(TxSequenceID, u32, u32)
xact_uows = st.builds(XactUow, st.binary(min_size=16, max_size=16))

public_addresses = st.builds(public_address, guids)
private_addresses = st.builds(private_address, guids, u32)
direct_addresses = st.builds(direct_address, direct_names)
# As a UserMessage gives them.
resolved_addresses = st.one_of(public_addresses, private_addresses, direct_addresses)


def encoded_addresses(*types: int) -> st.SearchStrategy[QueueAddress]:
    """Addresses of these types as they stand in a UserHeader."""
    forms: dict[int, st.SearchStrategy[QueueAddress]] = {
        0: st.just(NO_QUEUE),
        1: st.just(QueueAddress(1)),
        5: public_addresses,
        6: private_addresses,
        7: direct_addresses,
    }
    for relative in (2, 3, 4):
        forms[relative] = st.tuples(st.just(relative), st.none(), u32, st.none()).map(
            QueueAddress._make
        )
    return st.one_of([forms[kind] for kind in types])


user_headers = st.builds(
    UserHeader,
    flags=u32.map(lambda flags: flags & ~DERIVED_FLAGS),
    source_queue_manager=guids,
    message_id=u32,
    sent_time=u32,
    destination_queue=encoded_addresses(0, 3, 5, 7),
    admin_queue=encoded_addresses(0, 2, 3, 5, 6, 7),
    response_queue=encoded_addresses(0, 1, 2, 3, 4, 5, 6, 7),
    queue_manager_address=guids,
    time_to_be_received=u32,
    connector_type=st.none() | guids,
)

transaction_headers = st.builds(
    TransactionHeader,
    flags=u32.map(lambda flags: flags & ~1),
    tx_sequence_id=tx_sequence_ids,
    tx_sequence_number=u32,
    previous_tx_sequence_number=u32,
    connector_qm_guid=st.none() | guids,
)

provider_infos = st.builds(ProviderInfo, u32, texts)
security_headers = st.builds(
    SecurityHeader,
    flags=u16,
    security_id=st.binary(max_size=40),
    encryption_key=st.binary(max_size=40),
    signature=st.binary(max_size=40),
    sender_cert=st.binary(max_size=40),
    provider_info=st.none() | provider_infos,
)


@st.composite
def message_properties_headers(draw: st.DrawFn) -> MessagePropertiesHeader:
    """Clear and encrypted bodies: one of the two sizes is that of the body."""
    body = draw(bodies)
    sizes = draw(
        st.sampled_from([(len(body), len(body)), (len(body) // 2, len(body)), (len(body), 0)])
    )
    return MessagePropertiesHeader(
        flags=draw(u8),
        label=draw(labels),
        message_class=draw(u16),
        correlation_id=draw(correlation_ids),
        body_type=draw(u32),
        application_tag=draw(u32),
        message_size=sizes[0],
        allocation_body_size=sizes[1],
        privacy_level=draw(u32),
        hash_algorithm=draw(u32),
        encryption_algorithm=draw(u32),
        extension=draw(st.binary(max_size=20)),
        body=body,
    )


debug_headers = st.builds(DebugHeader, st.none() | guids)
session_headers = st.builds(SessionHeader, u16, u16, u32, u16, u16, u16, u16)
soap_headers = st.builds(SoapHeader, texts, texts)


@st.composite
def srmp_headers(draw: st.DrawFn) -> tuple[SRMPEnvelopeHeader, CompoundMessageHeader]:
    data = draw(st.binary(max_size=60))
    offset = draw(st.integers(0, len(data)))
    size = draw(st.integers(0, len(data) - offset))
    return SRMPEnvelopeHeader(draw(texts)), CompoundMessageHeader(data, size, offset)


def _element(address: QueueAddress) -> MQFFormatNameElement:
    kind = {5: MQFFormatType.PUBLIC, 6: MQFFormatType.PRIVATE, 7: MQFFormatType.DIRECT}
    return MQFFormatNameElement(
        kind[address.type], address.guid or UUID(int=0), address.number, address.direct or ""
    )


_elements = st.lists(resolved_addresses.map(_element), max_size=3).map(tuple)
multi_queue_format_headers = st.builds(
    MultiQueueFormatHeader, _elements, _elements, _elements, st.binary(max_size=20)
)

# All properties of `build_user_message`. Any: the values are of every type that a property has.
user_message_properties: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"destination_queue": resolved_addresses},
    optional={
        "body": bodies,
        "label": labels,
        "admin_queue": resolved_addresses,
        "response_queue": resolved_addresses,
        "source_queue_manager": guids,
        "queue_manager_address": guids,
        "priority": st.integers(0, 7),
        "time_to_reach_queue": u32,
        "time_to_be_received": u32,
        "sent_time": u32,
        "message_id": u32,
        "routing_count": st.integers(0, 0x1F),
        "delivery_mode": st.integers(0, 1),
        "negative_journaling": st.booleans(),
        "positive_journaling": st.booleans(),
        "connector_type": guids,
        "transaction_header": transaction_headers,
        "security_header": security_headers,
        "acknowledgments": st.integers(0, 15),
        "message_class": u16,
        "correlation_id": correlation_ids,
        "body_type": u32,
        "application_tag": u32,
        "privacy_level": u32,
        "hash_algorithm": u32,
        "encryption_algorithm": u32,
        "extension": st.binary(max_size=20),
        "tracing_requested": st.booleans(),
        "tracing_queue": guids,
        "srmp_headers": srmp_headers(),
        "soap_header": soap_headers,
        "multi_queue_format_header": multi_queue_format_headers,
    },
)

# Packets with every mixture of headers.
user_messages = user_message_properties.map(lambda properties: build_user_message(**properties))
