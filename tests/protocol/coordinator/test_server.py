"""The coordinator's side over RPC: failures are returned, not thrown."""

from uuid import UUID

import pytest
from tests.core.harness import QM_GUID, Harness
from tests.protocol.rpc.harness import PORT, Case, Client

from openmsmq.protocol.coordinator import CoordinatorServer
from openmsmq.protocol.rpc import endpoint
from openmsmq.protocol.rpc.client import Answered
from openmsmq.wire.codes.endpoints import COORDINATOR
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.ndr import Call
from openmsmq.wire.rpc.status import AuthnLevel
from openmsmq.wire.rpc_interfaces import coordinator as calls
from openmsmq.wire.rpc_interfaces.common import ResultResponse
from openmsmq.wire.transactions.coordination import Standing

TRANSACTION = UUID(int=1)
PARTICIPANT = UUID(int=2)
ELSEWHERE = UUID(int=99)


@pytest.fixture
def client() -> Client:
    """A participant that is bound to a coordinator with one transaction."""
    manager = Harness().qm
    manager.traffic.begin(TRANSACTION)
    case = Case()
    server = CoordinatorServer(manager, minimum_level=AuthnLevel.PKT_PRIVACY)
    case.endpoint = endpoint(PORT, (server.interface,))
    return case.client(name="alice", interfaces=(COORDINATOR,))


def answer(client: Client, call: Call, request: object) -> object:
    event = client.call(call, request, COORDINATOR)
    assert isinstance(event, Answered), event
    return event.response


def test_a_participant_enlists_unless_it_takes_this_for_another_coordinator(
    client: Client,
) -> None:
    request = calls.EnlistRequest(QM_GUID, TRANSACTION, PARTICIPANT)
    assert answer(client, calls.C_ENLIST, request) == ResultResponse(Hresult.MQ_OK)
    refused = answer(client, calls.C_ENLIST, request._replace(coordinator=ELSEWHERE))
    assert refused == ResultResponse(Hresult.MQ_ERROR_TRANSACTION_ENLIST)


def test_a_report_that_is_refused_is_answered_without_an_order(client: Client) -> None:
    request = calls.ReportRequest(ELSEWHERE, TRANSACTION, PARTICIPANT, Standing.PREPARED)
    assert answer(client, calls.C_REPORT, request) == calls.ReportResponse(
        0, Hresult.MQ_ERROR_TRANSACTION_ENLIST
    )
    request = calls.ReportRequest(QM_GUID, TRANSACTION, PARTICIPANT, 77)
    assert answer(client, calls.C_REPORT, request) == calls.ReportResponse(
        0, Hresult.MQ_ERROR_INVALID_PARAMETER
    )
