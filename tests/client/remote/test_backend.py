"""The backend of remote read with a server in memory: what no API shows, and what takes long."""

from uuid import UUID

import pytest
from tests.client.remote.in_memory import MemoryClient
from tests.core.harness import ORDERS, USER
from tests.protocol.remote_read.harness import DIRECT, RemoteCase
from tests.protocol.rpc.harness import PORT

from openmsmq.client.backend import LookUp, Read
from openmsmq.client.errors import ConnectionLost
from openmsmq.client.remote.channel import RemoteChannel
from openmsmq.protocol.remote_read.client import BindingSettings, find_server
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

SUBQUEUE = DIRECT + ";aside"


@pytest.fixture
def case() -> RemoteCase:
    return RemoteCase()


@pytest.fixture
def client(case: RemoteCase) -> MemoryClient:
    return MemoryClient(case)


@pytest.mark.spec("MQRR-3.1.2.1-01", "MQQP-3.2.4.1-04")
@pytest.mark.parametrize(("access", "name"), [("receive", DIRECT), ("move", SUBQUEUE)])
def test_open_has_five_minutes_and_then_the_connection_is_dropped(
    client: MemoryClient, access: str, name: str
) -> None:
    opening = client.backend.open(name, access, "deny_none")
    wait = opening.send(None)
    assert wait.seconds == 300.0
    with pytest.raises(ConnectionLost, match="five minutes"):
        opening.send(None)
    assert all(link.closing for link in client.channel.links())
    assert not client.made


@pytest.mark.spec("MQRR-2.2-01", "MQQP-2.2-01")
def test_link_offers_both_transfer_syntaxes() -> None:
    channel = RemoteChannel("the server", None)
    channel.run(find_server(BindingSettings(port=PORT)))
    (bind,) = channel.new_links.popleft().connection.data_to_send()
    for uuid, version in (
        ("8a885d04-1ceb-11c9-9fe8-08002b104860", 2),
        ("71710533-beba-4937-8319-b5dbef9ccc36", 1),
    ):
        assert UUID(uuid).bytes_le + version.to_bytes(4, "little") in bind


@pytest.mark.parametrize("name", [ORDERS, r"qm\private$\orders", DIRECT])
def test_path_names_are_those_of_the_server_that_is_named(
    case: RemoteCase, client: MemoryClient, name: str
) -> None:
    assert client.open(name).format_name == DIRECT
    assert len(case.queue.descriptors) == 1


@pytest.mark.spec("MQRR-3.2.1-01", "MQQP-3.2.1.4-01")
def test_each_open_queue_keeps_its_handle_and_its_cursors(
    case: RemoteCase, client: MemoryClient
) -> None:
    case.send(b"first")
    first, second = client.open(), client.open()
    assert first.queue.context != second.queue.context
    cursors = [client.run(client.backend.open_cursor(first)) for _ in range(2)]
    assert first.queue.cursors == set(cursors)
    assert not second.queue.cursors
    client.run(client.backend.close([first]))
    assert client.made[-3:] == ["R_CloseCursor", "R_CloseCursor", "R_CloseQueue"]
    found = client.run(client.backend.answer(client.backend.ask(second, Read("peek")), 1.0))
    assert found is not None
    assert found[0].body_bytes == b"first"


@pytest.mark.spec("MQRR-3.2.4.12-01")
def test_reads_at_a_cursor_are_cancelled_before_it_is_closed(client: MemoryClient) -> None:
    handle = client.open()
    backend = client.backend
    cursors = [client.run(backend.open_cursor(handle)) for _ in range(2)]
    reads = [backend.ask(handle, Read("peek", timeout=None, cursor=each)) for each in cursors]
    client.move()
    backend.close_cursor(handle, cursors[0])
    client.move()
    assert client.made[-2:] == ["R_CancelReceive", "R_CloseCursor"]
    with pytest.raises(QueueError) as cancelled:
        client.run(backend.answer(reads[0]))
    assert cancelled.value.code == Hresult.MQ_ERROR_OPERATION_CANCELLED
    assert client.channel.take(reads[1]) is None


@pytest.mark.spec("MQRR-3.2.4.4.1-02", "MQRR-3.2.4.10.1-02")
@pytest.mark.parametrize("by_cursor", [False, True])
def test_message_whose_end_fails_is_given_out_and_the_failure_is_told_next(
    case: RemoteCase, client: MemoryClient, *, by_cursor: bool
) -> None:
    case.send(b"first")
    handle, backend = client.open(), client.backend
    cursor = client.run(backend.open_cursor(handle)) if by_cursor else 0
    read = Read("receive", cursor=cursor, two_phase=True)
    found = client.run(backend.answer(backend.ask(handle, read), 1.0))
    assert found is not None
    assert found[0].body_bytes == b"first"
    case.qm.delete_queue(case.queue, caller=USER)
    backend.end(handle, [found[0].lookup_id], delete=True)
    client.move()
    assert client.made[-1] == "R_EndReceive"
    # Choice: the client of Windows says nothing.
    with pytest.raises(QueueError, match="was not confirmed") as told:
        backend.check()
    assert told.value.code == Hresult.MQ_ERROR_TRANSACTION_SEQUENCE
    assert "come again" in told.value.remedy


@pytest.mark.parametrize("relation", ["current", "previous"])
def test_lookup_id_0_names_no_message(client: MemoryClient, relation: str) -> None:
    handle = client.open()
    read = LookUp(0, relation, receive=False, transaction=0, two_phase=False)
    with pytest.raises(QueueError) as refused:
        client.backend.ask(handle, read)
    assert refused.value.code == Hresult.MQ_ERROR_MESSAGE_NOT_FOUND


def test_message_that_is_held_for_too_long_goes_back_before_the_server_takes_it(
    case: RemoteCase, client: MemoryClient
) -> None:
    case.send(b"first")
    handle, backend = client.open(), client.backend
    found = client.run(backend.answer(backend.ask(handle, Read("receive", two_phase=True)), 1.0))
    assert found is not None
    lookup_id = found[0].lookup_id
    case.advance(269)
    client.channel.on_timer(case.now)
    client.move()
    assert handle.holds(lookup_id)
    assert case.bodies() == []
    case.advance(1)
    client.channel.on_timer(case.now)
    client.move()
    assert client.made[-1] == "R_EndReceive"
    assert not handle.holds(lookup_id)
    assert case.bodies() == [b"first"]
    backend.check()
    backend.end(handle, [lookup_id], delete=True)
    with pytest.raises(QueueError, match="held for too long"):
        backend.check()


@pytest.mark.parametrize("answered", [False, True])
def test_message_of_a_read_that_is_withdrawn_goes_back(
    case: RemoteCase, client: MemoryClient, *, answered: bool
) -> None:
    case.send(b"first")
    handle, backend = client.open(), client.backend
    request = backend.ask(handle, Read("receive", two_phase=True))
    if answered:
        client.move()
        assert case.bodies() == []
    backend.withdraw(request, handle)
    client.move()
    assert client.made[-2:] == ["R_StartReceive", "R_EndReceive"]
    assert not handle.locked
    assert case.bodies() == [b"first"]
    assert client.channel.take(request) is None
