"""tshark as an independent dissector: it finds nothing wrong in the PDUs of either role.

With the password of an account it also computes NTLM by itself: whether the response of the client
proves the password, and what sealed PDUs hold.
"""

import asyncio
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from tests.interop.recorded import HOST, Recorder

import openmsmq
from openmsmq.net.rpc.client import RpcChannel
from openmsmq.protocol.rpc import ClientSecurity, RpcFault
from openmsmq.security.mechanism import RPC_C_AUTHN_GSS_NEGOTIATE
from openmsmq.security.ntlm import NtlmCredentials, nt_hash
from openmsmq.security.packages import initiators
from openmsmq.service.account_file import AccountFile
from openmsmq.wire.codes.endpoints import ENDPOINT_MAPPER, MGMT, QM2QM, REMOTE_READ, RpcInterface
from openmsmq.wire.ndr import CONTEXT_HANDLE_NULL, Call
from openmsmq.wire.ndr.syntax import NDR
from openmsmq.wire.rpc.status import AuthnLevel
from openmsmq.wire.rpc.syntax import SyntaxId
from openmsmq.wire.rpc.tower import TcpTower
from openmsmq.wire.rpc_interfaces import epm, mgmt, qm2qm
from openmsmq.wire.rpc_interfaces.common import NoParameters

SECONDS: Final = 30.0
QUEUE: Final = r".\private$\orders"
USER, PASSWORD = "ada", "correct horse"
LEVELS: Final = ("connect", "packet", "integrity", "privacy")
BODIES: Final = ("short", "x" * 20_000)
# What tshark marks as a warning or an error; it has no other word for a field that does not fit.
WRONG: Final = "_ws.malformed || _ws.expert.severity >= 6291456"
REQUEST, RESPONSE, FAULT = 0, 2, 3

needs_tshark = pytest.mark.skipif(
    shutil.which("tshark") is None, reason="needs tshark (Debian: tshark)"
)
pytestmark = needs_tshark


class Served(NamedTuple):
    """The ports of a queue manager whose queue everybody may read."""

    rpc: int
    qm2qm: int
    epm: int


@pytest.fixture(scope="module", name="served")
def _served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("tshark")
    account = AccountFile(folder).add(USER, PASSWORD, None)
    ports = {"rpc_port": 0, "qm2qm_port": 0, "epm_port": 0}
    with openmsmq.embedded(folder, bind=HOST, rpc_minimum_level="none", **ports) as manager:
        manager.create_queue(QUEUE)
        for who in ("Anonymous Logon", str(account.sid)):
            manager.grant(QUEUE, who, ["full"])
        for body in BODIES:
            manager.send(QUEUE, openmsmq.Message(body=body))
        endpoints = manager.status()["endpoints"]
        yield Served(*(int(endpoints[name].rpartition(":")[2]) for name in Served._fields))


class Capture:
    """A recorded conversation that tshark reads."""

    def __init__(self, folder: Path, data: bytes) -> None:
        self._home = folder
        self.data = data
        self._path = folder / "conversation.pcap"
        self._path.write_bytes(data)

    def fields(self, shown: str, *names: str, password: str = PASSWORD) -> list[list[str]]:
        """Fields of the frames that a display filter selects."""
        command = [
            *("tshark", "-n", "-r", str(self._path), "-d", "tcp.port==2103,dcerpc"),
            *("-o", f"ntlmssp.nt_password:{password}", "-Y", shown, "-T", "fields"),
        ]
        for name in names:
            command += ["-e", name]
        done = subprocess.run(
            command,
            env={**os.environ, "HOME": str(self._home)},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return [line.split("\t") for line in done.stdout.splitlines()]

    def wrong(self, **options: str) -> list[list[str]]:
        """What tshark finds wrong."""
        return self.fields(WRONG, "frame.number", "_ws.expert.message", **options)

    def count(self, pdu_type: int) -> int:
        found = self.fields(f"dcerpc.pkt_type == {pdu_type}", "dcerpc.pkt_type")
        # A frame may hold several PDUs.
        return sum(cell.split(",").count(str(pdu_type)) for (cell,) in found)


@contextmanager
def recording(folder: Path, port: int) -> Iterator[tuple[Recorder, list[Capture]]]:
    """A relay to a port; the capture of what passed is in the list at the end."""
    captures: list[Capture] = []
    with Recorder(port) as recorder:
        yield recorder, captures
    captures.append(Capture(folder, recorder.capture()))


def read_queue(port: int, **options: Any) -> None:
    """Use the calls of RemoteRead, some of them with failures."""
    with (
        openmsmq.connect(f"msmq://{HOST}:{port}", timeout=SECONDS, **options) as remote,
        remote.open_queue(QUEUE, "receive") as queue,
    ):
        with pytest.raises(openmsmq.QueueError):
            remote.open_queue(r".\private$\nothing", "peek").peek(timeout=0)
        found = list(queue.cursor())
        assert [message.body for message in found] == list(BODIES)
        assert queue.peek_by_lookup_id(found[0].lookup_id, relation="next").body == BODIES[1]
        with suppress(KeyError), queue.hold_by_lookup_id(found[0].lookup_id):
            # It goes back in place.
            raise KeyError
        with pytest.raises(openmsmq.QueueError):
            queue.peek_by_lookup_id(12345)


def test_pdus_without_authentication_are_well_formed(tmp_path: Path, served: Served) -> None:
    with recording(tmp_path, served.rpc) as (recorder, captures):
        read_queue(recorder.port)
    (capture,) = captures
    assert capture.wrong() == []
    requests = capture.count(REQUEST)
    assert requests > 8
    assert capture.count(FAULT) == 1
    # A response of 20,000 bytes has several fragments.
    assert capture.count(RESPONSE) > requests


@pytest.mark.parametrize("level", LEVELS)
def test_ntlm_proves_the_password_and_pdus_are_well_formed(
    tmp_path: Path, served: Served, level: str
) -> None:
    with recording(tmp_path, served.rpc) as (recorder, captures):
        read_queue(recorder.port, user=USER, password=PASSWORD, level=level)
    (capture,) = captures
    assert capture.wrong() == []
    ((user, told),) = capture.fields(
        "ntlmssp.messagetype == 3", "ntlmssp.auth.username", "_ws.expert.message"
    )
    assert user == USER
    assert "NTLMv2 authenticated" in told
    ((told,),) = capture.fields("ntlmssp.messagetype == 3", "_ws.expert.message", password="no")
    assert "NTLMv2 authenticated" not in told


def test_sealed_pdus_are_opened_with_the_password_alone(tmp_path: Path, served: Served) -> None:
    with recording(tmp_path, served.rpc) as (recorder, captures):
        read_queue(recorder.port, user=USER, password=PASSWORD, level="privacy")
    (capture,) = captures
    opened = capture.fields("dcerpc.encrypted_stub_data", "dcerpc.decrypted_stub_data")
    assert len(opened) > 10
    assert all(plain for (plain,) in opened)
    sealed = "private$\\orders".encode("utf-16-le")
    assert sealed not in capture.data
    assert sealed.hex() in opened[0][0]
    # The first request repeats what it was bound to.
    trailers = capture.fields("dcerpc.rpc_sec_vt.command.cmd", "dcerpc.opnum")
    assert trailers == [["2"]]
    assert capture.fields("dcerpc.decrypted_stub_data", "frame.number", password="no") == []


async def _call(
    port: int,
    interface: RpcInterface,
    calls: list[tuple[Call, Any]],
    security: ClientSecurity | None = None,
) -> list[Any]:
    channel = await RpcChannel.open(HOST, port, [interface], security=security)
    answers: list[Any] = []
    for call, request in calls:
        try:
            answers.append(await channel.call(interface, call, request))
        except RpcFault as fault:
            answers.append(fault.status)
    await channel.close()
    return answers


def call_all(port: int, *arguments: Any) -> list[Any]:
    return asyncio.run(asyncio.wait_for(_call(port, *arguments), SECONDS))


def mapping(interface: RpcInterface) -> epm.EptMapRequest:
    tower = TcpTower(SyntaxId.of_interface(interface), SyntaxId.of_transfer(NDR))
    return epm.EptMapRequest(None, epm.Twr(tower.serialize()), CONTEXT_HANDLE_NULL, 4)


def test_the_endpoint_mapper_is_dissected(tmp_path: Path, served: Served) -> None:
    look_up = epm.EptLookupRequest(0, None, None, 1, CONTEXT_HANDLE_NULL, 1)
    with recording(tmp_path, served.epm) as (recorder, captures):
        found, missing, first = call_all(
            recorder.port,
            ENDPOINT_MAPPER,
            [
                (epm.EPT_MAP, mapping(REMOTE_READ)),
                (epm.EPT_MAP, mapping(MGMT)),
                (epm.EPT_LOOKUP, look_up),
            ],
        )
        free = epm.EptLookupHandleFreeRequest(CONTEXT_HANDLE_NULL)
        call_all(recorder.port, ENDPOINT_MAPPER, [(epm.EPT_LOOKUP_HANDLE_FREE, free)])
    assert (found.status, missing.status, first.status) == (0, epm.EPT_S_NOT_REGISTERED, 0)
    (capture,) = captures
    assert capture.wrong() == []
    answers = capture.fields("epm && dcerpc.pkt_type == 2", "epm.rc", "epm.proto.tcp_port")
    assert [code for code, _ in answers] == [
        f"{code:#010x}" for code in (0, epm.EPT_S_NOT_REGISTERED, 0, 0)
    ]
    assert answers[0][1] == str(served.rpc)


def test_mgmt_and_faults_are_dissected(tmp_path: Path, served: Served) -> None:
    missing = Call(99, "missing", mgmt.IS_SERVER_LISTENING.request, mgmt.INQ_IF_IDS.response)
    with recording(tmp_path, served.rpc) as (recorder, captures):
        answers = call_all(
            recorder.port,
            MGMT,
            [
                (mgmt.INQ_IF_IDS, NoParameters()),
                (mgmt.INQ_STATS, mgmt.InqStatsRequest(4)),
                (mgmt.IS_SERVER_LISTENING, NoParameters()),
                (mgmt.INQ_PRINC_NAME, mgmt.InqPrincNameRequest(10, 100)),
                (missing, NoParameters()),
            ],
        )
        call_all(recorder.port, QM2QM, [(qm2qm.REMOTE_QM_GET_VERSION, NoParameters())])
    assert answers[-1] == 0x1C010002
    (capture,) = captures
    assert capture.wrong() == []
    assert capture.fields("dcerpc.pkt_type == 3", "dcerpc.cn_status") == [["0x1c010002"]]
    assert len(capture.fields("mgmt && dcerpc.pkt_type == 2", "frame.number")) == 4


def test_spnego_is_dissected(tmp_path: Path, served: Served) -> None:
    packages = initiators(
        NtlmCredentials(USER, "", nt_hash(PASSWORD)), random=os.urandom, utc=time.time, seal=True
    )
    kind = RPC_C_AUTHN_GSS_NEGOTIATE
    security = ClientSecurity(kind, AuthnLevel.PKT_PRIVACY, packages[kind])
    with recording(tmp_path, served.rpc) as (recorder, captures):
        calls = [(qm2qm.REMOTE_QM_GET_VERSION, NoParameters())] * 3
        assert call_all(recorder.port, QM2QM, calls, security) == [(6, 1, 6531)] * 3
    (capture,) = captures
    assert capture.wrong() == []
    ((told,),) = capture.fields("ntlmssp.messagetype == 3", "_ws.expert.message")
    assert "NTLMv2 authenticated" in told
    # Two negTokens of either side.
    tokens = capture.fields("spnego", "frame.number")
    assert len(tokens) >= 4


def test_tshark_notices_what_is_wrong(tmp_path: Path, served: Served) -> None:
    with recording(tmp_path, served.epm) as (recorder, captures):
        call_all(recorder.port, ENDPOINT_MAPPER, [(epm.EPT_MAP, mapping(REMOTE_READ))])
    (capture,) = captures
    # The pointer in the answer gets the number of the one in the question, so that nothing follows.
    tower = b"\x4b\x00\x00\x00\x4b\x00\x00\x00"
    head, _, tail = capture.data.rpartition(b"\x00\x00\x04\x00" + tower)
    broken = Capture(tmp_path, head + b"\x00\x00\x02\x00" + tower + tail)
    assert [told for _, told in broken.wrong()] == ["Long frame"]
