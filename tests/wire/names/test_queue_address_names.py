"""[MS-MQMQ] 2.2.18.1.4, 2.2.18.1.5, 2.2.19.2: names in packets."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.name_strategies import plain_names

from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.multi_queue_format_header import MQFFormatNameElement, MQFFormatType
from openmsmq.wire.message.user_header import UserHeader
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.format_name import (
    MultipleElementFormatName,
    PrivateFormatName,
    SingleFormatName,
    parse_format_name,
)
from openmsmq.wire.names.queue_address import (
    NO_QUEUE,
    QueueAddress,
    QueueAddressType,
    direct_address,
)
from openmsmq.wire.names.queue_address_names import (
    address_of,
    element_of,
    format_name_of,
    format_name_of_element,
)

SOURCE = UUID("11111111-2222-3333-4444-555555555555")
DESTINATION = UUID("66666666-7777-8888-9999-aaaaaaaaaaaa")
OTHER = UUID("bbbbbbbb-cccc-dddd-eeee-ffffffffffff")
DIRECT = r"DIRECT=TCP:127.0.0.3\private$\orders"
# Only GUIDs that the encodings tell apart make the relative ones appear.
OWNERS = st.sampled_from((SOURCE, DESTINATION, OTHER))
NAMES = plain_names | st.builds(PrivateFormatName, OWNERS, st.integers(0, 0xFFFFFFFF))


def single(text: str) -> SingleFormatName:
    name = parse_format_name(text)
    assert not isinstance(name, MultipleElementFormatName)
    return name


@given(plain_names)
def test_a_name_survives_as_an_address(name: SingleFormatName) -> None:
    assert format_name_of(address_of(name)) == name
    assert format_name_of_element(element_of(name)) == name


@pytest.mark.spec("MQDMPR-3.1.1.12-39")
@given(NAMES, st.none() | NAMES, st.none() | NAMES)
def test_names_survive_a_packet(
    destination: SingleFormatName, admin: SingleFormatName | None, response: SingleFormatName | None
) -> None:
    message = UserMessage(packet(destination, admin, response))
    found = (message.destination_queue, message.admin_queue, message.response_queue)
    assert [address and format_name_of(address) for address in found] == [
        destination,
        admin,
        response,
    ]


def packet(
    destination: SingleFormatName, admin: SingleFormatName | None, response: SingleFormatName | None
) -> bytes:
    return build_user_message(
        destination_queue=address_of(destination),
        admin_queue=address_of(admin) if admin else NO_QUEUE,
        response_queue=address_of(response) if response else NO_QUEUE,
        source_queue_manager=SOURCE,
        queue_manager_address=DESTINATION,
    )


@pytest.mark.spec("MQDMPR-3.1.7.1.31-17", "MQDMPR-3.1.7.1.31-18", "MQDMPR-3.1.7.1.31-19")
@pytest.mark.parametrize(
    ("destination", "admin", "response", "types"),
    [
        (DIRECT, None, None, (7, 0, 0)),
        (f"PUBLIC={OTHER}", None, None, (5, 0, 0)),
        (f"PRIVATE={DESTINATION}\\7", None, None, (3, 0, 0)),
        (DIRECT, f"PRIVATE={OTHER}\\1", f"PRIVATE={OTHER}\\1", (7, 6, 1)),
        (DIRECT, f"PUBLIC={SOURCE}", f"PUBLIC={OTHER}", (7, 5, 5)),
        (DIRECT, f"PRIVATE={SOURCE}\\1", f"PRIVATE={DESTINATION}\\1", (7, 2, 3)),
        (DIRECT, f"PRIVATE={DESTINATION}\\1", f"PRIVATE={SOURCE}\\2", (7, 3, 2)),
        (DIRECT, f"PRIVATE={OTHER}\\1", f"PRIVATE={OTHER}\\2", (7, 6, 4)),
        (DIRECT, f"PUBLIC={OTHER}", f"PRIVATE={OTHER}\\2", (7, 5, 6)),
        (DIRECT, r"DIRECT=OS:host\admin", r"DIRECT=OS:host\reply", (7, 7, 7)),
    ],
)
def test_names_get_the_types_that_fit_them(
    destination: str, admin: str | None, response: str | None, types: tuple[int, int, int]
) -> None:
    built = packet(
        single(destination),
        single(admin) if admin else None,
        single(response) if response else None,
    )
    header, _ = UserHeader.parse(built, 16)
    found = (header.destination_queue, header.admin_queue, header.response_queue)
    assert tuple(address.type for address in found) == types


@pytest.mark.parametrize(
    "text",
    [
        f"PUBLIC={OTHER};JOURNAL",
        f"PRIVATE={OTHER}\\1;JOURNAL",
        f"MACHINE={OTHER};DEADLETTER",
        f"CONNECTOR={OTHER}",
    ],
)
def test_a_name_that_no_packet_can_carry_is_refused(text: str) -> None:
    name = single(text)
    with pytest.raises(QueueError, match="no packet can be addressed to") as caught:
        address_of(name)
    assert caught.value.code == Hresult.MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION
    with pytest.raises(QueueError, match="no packet can be addressed to"):
        element_of(name)


def test_a_multicast_address_stands_where_a_direct_name_does() -> None:
    name = single("MULTICAST=234.1.1.1:8001")
    assert address_of(name) == direct_address("MULTICAST=234.1.1.1:8001")
    assert format_name_of(address_of(name)) == name
    with pytest.raises(QueueError, match="no packet can be addressed to"):
        element_of(name)
    for text in ("MULTICAST=234.1.1.1:8001,DIRECT=OS:a\\q", "MULTICAST=nowhere"):
        with pytest.raises(QueueError) as caught:
            format_name_of(direct_address(text))
        assert caught.value.code == Hresult.MQ_ERROR_ILLEGAL_FORMATNAME


def test_several_names_have_no_single_address() -> None:
    with pytest.raises(QueueError, match="no packet can be addressed to"):
        address_of(parse_format_name(r"DIRECT=OS:a\q,DIRECT=OS:b\q"))


@pytest.mark.parametrize(
    "address",
    [
        QueueAddress(QueueAddressType.NONE),
        QueueAddress(QueueAddressType.PRIVATE_ON_SOURCE, SOURCE, 1),
        QueueAddress(QueueAddressType.PRIVATE_ON_OTHER, None, 1),
        QueueAddress(QueueAddressType.DIRECT),
        QueueAddress(QueueAddressType.DIRECT, None, 0, "garbage"),
        QueueAddress(QueueAddressType.DIRECT, None, 0, r"OS:a\q,DIRECT=OS:b\q"),
    ],
)
def test_an_address_that_names_no_queue_is_refused(address: QueueAddress) -> None:
    with pytest.raises(QueueError) as caught:
        format_name_of(address)
    assert caught.value.code == Hresult.MQ_ERROR_ILLEGAL_FORMATNAME


def test_a_distribution_list_is_an_element_without_its_domain() -> None:
    element = element_of(single(f"DL={OTHER}@example.com"))
    assert element == MQFFormatNameElement(MQFFormatType.DISTRIBUTION_LIST, OTHER)
    assert str(format_name_of_element(element)) == f"DL={str(OTHER).upper()}"
