from uuid import UUID

import pytest
from tests.spark.packets import block_of

from openmsmq.spark.columns import message_schema
from openmsmq.spark.decoding.block_decoder import BlockDecoder
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import (
    NO_QUEUE,
    QueueAddress,
    direct_address,
    private_address,
    public_address,
)

SOURCE, DESTINATION, OTHER = (UUID(int=number) for number in (1, 2, 3))
DIRECT = direct_address(r"TCP:127.0.0.2\private$\orders")
PRIVATE = [private_address(owner, 10) for owner in (SOURCE, DESTINATION, OTHER)]


def text_of(address: QueueAddress) -> str | None:
    if address.direct:
        return f"DIRECT={address.direct}"
    if address.guid is None:
        return None
    number = f"\\{address.number:X}" if address.type == 6 else ""
    return f"{'PRIVATE' if number else 'PUBLIC'}={str(address.guid).upper()}{number}"


@pytest.mark.parametrize("admin", [NO_QUEUE, DIRECT, public_address(OTHER), *PRIVATE])
def test_addresses_of_every_type_are_format_names(admin: QueueAddress) -> None:
    """Of every two: where the response queue is says something about the administration queue."""
    responses = [NO_QUEUE, DIRECT, public_address(OTHER), *PRIVATE, private_address(OTHER, 11)]
    packets = [
        build_user_message(
            destination_queue=private_address(DESTINATION, 1),
            admin_queue=admin,
            response_queue=response,
            source_queue_manager=SOURCE,
        )
        for response in responses
    ]
    decoder = BlockDecoder(message_schema(), queue=None, queue_kind=None)
    rows = decoder.decode(block_of(packets)).to_pylist()
    assert {row["destination_queue"] for row in rows} == {
        r"PRIVATE=00000000-0000-0000-0000-000000000002\1"
    }
    assert {row["admin_queue"] for row in rows} == {text_of(admin)}
    assert [row["response_queue"] for row in rows] == [text_of(address) for address in responses]
