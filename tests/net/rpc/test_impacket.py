"""impacket as an independent client: bind, endpoint mapper, mgmt, NTLM at each level."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.net.rpc.serving import HOST, in_thread
from tests.protocol.rpc.harness import TEST
from tests.security.ntlm.peers import PASSWORD

from openmsmq.wire.codes.endpoints import ENDPOINT_MAPPER, MGMT, REMOTE_READ, RpcInterface
from openmsmq.wire.rpc.syntax import SyntaxId

epm: Any = pytest.importorskip("impacket.dcerpc.v5.epm", reason="impacket is not installed")
mgmt: Any = pytest.importorskip("impacket.dcerpc.v5.mgmt", reason="impacket is not installed")
rpcrt: Any = pytest.importorskip("impacket.dcerpc.v5.rpcrt", reason="impacket is not installed")
transport: Any = pytest.importorskip("impacket.dcerpc.v5.transport")
uuids: Any = pytest.importorskip("impacket.uuid")

LEVELS = (1, 2, 5, 6)


def syntax(interface: RpcInterface) -> bytes:
    return SyntaxId.of_interface(interface).serialize()


@pytest.fixture(scope="module", name="port")
def _port() -> Iterator[int]:
    with in_thread() as port:
        yield port


@contextmanager
def connected(
    port: int, *, level: int = 1, user: str = "", password: str = PASSWORD
) -> Iterator[Any]:
    channel = transport.DCERPCTransportFactory(f"ncacn_ip_tcp:{HOST}[{port}]")
    channel.set_connect_timeout(10)
    if user:
        channel.set_credentials(user, password)
    dce = channel.get_dce_rpc()
    if level > 1:
        dce.set_auth_level(level)
        dce.set_auth_type(rpcrt.RPC_C_AUTHN_WINNT)
    dce.connect()
    try:
        yield dce
    finally:
        dce.disconnect()


@pytest.mark.parametrize("level", LEVELS)
def test_mgmt_answers_at_every_level(port: int, level: int) -> None:
    with connected(port, level=level, user="alice") as dce:
        dce.bind(syntax(MGMT))
        for _ in range(3):
            assert mgmt.his_server_listening(dce)["status"] == 0
        response = mgmt.hinq_if_ids(dce)
    found = {
        uuids.bin_to_string(bytes(each["Data"]["Uuid"])).lower()
        for each in response["if_id_vector"]["if_id"]
    }
    assert {str(ENDPOINT_MAPPER.uuid), str(TEST.uuid)} <= found


def test_the_mapper_gives_the_port_of_an_interface(port: int) -> None:
    with connected(port) as dce:
        binding = epm.hept_map(HOST, syntax(REMOTE_READ), protocol="ncacn_ip_tcp", dce=dce)
    assert binding == f"ncacn_ip_tcp:{HOST}[2103]"
    with (
        connected(port) as dce,
        pytest.raises(rpcrt.DCERPCException, match=r"ept_s_not_registered|16c9a0d6"),
    ):
        epm.hept_map(HOST, syntax(MGMT), protocol="ncacn_ip_tcp", dce=dce)


def test_the_mapper_lists_what_is_registered(port: int) -> None:
    with connected(port) as dce:
        entries = epm.hept_lookup(None, dce=dce)
    bindings = {epm.PrintStringBinding(entry["tower"]["Floors"]) for entry in entries}
    assert bindings == {f"ncacn_ip_tcp:{HOST}[2103]", f"ncacn_ip_tcp:{HOST}[{port}]"}


@pytest.mark.parametrize("level", [2, 6])
def test_a_wrong_password_is_refused(port: int, level: int) -> None:
    with connected(port, level=level, user="alice", password="wrong") as dce:
        dce.bind(syntax(MGMT))
        with pytest.raises(rpcrt.DCERPCException, match="access_denied"):
            mgmt.his_server_listening(dce)


def test_an_opnum_out_of_the_table_is_the_fault_that_impacket_knows(port: int) -> None:
    with connected(port) as dce:
        dce.bind(syntax(MGMT))
        dce.call(99, b"")
        with pytest.raises(rpcrt.DCERPCException, match="nca_s_op_rng_error"):
            dce.recv()


def test_long_requests_are_fragmented_by_impacket(port: int) -> None:
    data = bytes(range(256)) * 20
    referent = b"\1\0\0\0"
    size = len(data).to_bytes(4, "little")
    with connected(port, level=6, user="alice") as dce:
        dce.set_max_fragment_size(100)
        dce.bind(syntax(TEST))
        dce.call(7, size + referent + size + data)
        assert data in dce.recv()
