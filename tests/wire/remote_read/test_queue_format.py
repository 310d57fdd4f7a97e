"""[MS-MQMQ] 2.2.7: QUEUE_FORMAT."""

from uuid import UUID

import pytest
from hypothesis import given
from tests.wire.name_strategies import single_names

from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.names.format_name import SingleFormatName, parse_format_name
from openmsmq.wire.remote_read.queue_format import QueueFormat

GUID = UUID("1a2b3c4d-0000-1111-2222-1234567890ab")


@given(single_names)
def test_a_format_name_survives(name: SingleFormatName) -> None:
    assert QueueFormat.from_format_name(name).to_format_name() == name


@pytest.mark.parametrize(
    ("text", "queue_format"),
    [
        (f"PUBLIC={GUID}", QueueFormat(1, 0x00, GUID)),
        (f"PUBLIC={GUID};JOURNAL", QueueFormat(1, 0x81, GUID)),
        (f"PRIVATE={GUID}\\1f", QueueFormat(2, 0x00, GUID, 0x1F)),
        (r"DIRECT=OS:host\q", QueueFormat(3, 0x00, text=r"OS:host\q")),
        (r"DIRECT=OS:host\q;JOURNAL", QueueFormat(3, 0x81, text=r"OS:host\q;JOURNAL")),
        (f"MACHINE={GUID};DEADLETTER", QueueFormat(4, 0x82, GUID)),
        (f"MACHINE={GUID};DEADXACT", QueueFormat(4, 0x83, GUID)),
        (f"CONNECTOR={GUID};XACTONLY", QueueFormat(5, 0x84, GUID)),
        (f"DL={GUID}@example.com", QueueFormat(6, 0x00, GUID, text="example.com")),
        ("MULTICAST=234.1.2.3:8001", QueueFormat(7, address=0x030201EA, port=8001)),
        (r"DIRECT=OS:host\q;sub", QueueFormat(8, 0x05, text=r"OS:host\q;sub")),
    ],
)
def test_types_suffixes_and_flags(text: str, queue_format: QueueFormat) -> None:
    name = parse_format_name(text)
    assert QueueFormat.from_format_name(name) == queue_format
    assert queue_format.to_format_name() == name


@pytest.mark.parametrize(
    ("queue_format", "text"),
    [
        (QueueFormat(3, 0x81, text=r"OS:host\q"), r"DIRECT=OS:host\q;JOURNAL"),
        (QueueFormat(3, 0x82, text=r"OS:host\system$"), r"DIRECT=OS:host\system$;DEADLETTER"),
        (QueueFormat(5, 0x04, GUID), f"CONNECTOR={GUID};XACTONLY"),
    ],
)
def test_what_is_not_settled_is_taken_both_ways(queue_format: QueueFormat, text: str) -> None:
    assert queue_format.to_format_name() == parse_format_name(text)


@pytest.mark.parametrize(
    ("queue_format", "reason"),
    [
        (QueueFormat(0), "type 0 is not in 1..8"),
        (QueueFormat(9), "type 9 is not in 1..8"),
        (QueueFormat(1, 0x82, GUID), "suffix 2 does not go with type 1"),
        (QueueFormat(4, 0x00, GUID), "suffix 0 does not go with type 4"),
        (QueueFormat(8, 0x00, text=r"OS:host\q"), "suffix 0 does not go with type 8"),
        (QueueFormat(8, 0x05, text=r"OS:host\q"), "suffix SUBQUEUE does not go with"),
        (QueueFormat(3, 0x00, text=r"OS:host\q;JOURNAL"), "suffix NONE does not go with"),
        (QueueFormat(3, 0x00, text=r"OS:a\q,DIRECT=OS:b\q"), "holds several names"),
        (QueueFormat(6, 0x00, GUID, text=rf"a,DL={GUID}@b"), "holds several names"),
        (QueueFormat(3, 0x00, text="host"), "no OS:, TCP:"),
        (QueueFormat(7, address=1, port=80), "is not in 224.0.0.0"),
        (QueueFormat(7, address=0x030201EA, port=70000), "port 70000"),
    ],
)
def test_a_structure_that_names_no_queue_is_refused(queue_format: QueueFormat, reason: str) -> None:
    with pytest.raises(QueueError, match=reason) as caught:
        queue_format.to_format_name()
    assert caught.value.code == Hresult.MQ_ERROR_ILLEGAL_FORMATNAME


def test_a_multiple_element_name_has_no_structure() -> None:
    name = parse_format_name(r"DIRECT=OS:a\q,DIRECT=OS:b\q")
    with pytest.raises(QueueError) as caught:
        QueueFormat.from_format_name(name)
    assert caught.value.code == Hresult.MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION
