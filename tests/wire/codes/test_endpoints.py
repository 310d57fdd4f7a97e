"""Ports and interfaces."""

from uuid import UUID

from openmsmq.wire.codes import endpoints


def test_ports_have_their_published_numbers() -> None:
    assert [int(port) for port in endpoints.Port] == [
        80,
        135,
        389,
        443,
        1801,
        2101,
        2103,
        2105,
        3527,
    ]
    assert endpoints.Port.REMOTE_READ + endpoints.RPC_PORT_STEP == 2114


def test_interfaces_are_all_of_version_one_but_the_endpoint_mapper() -> None:
    interfaces = [v for v in vars(endpoints).values() if isinstance(v, endpoints.RpcInterface)]
    assert len({interface.uuid for interface in interfaces}) == 10
    others = [each for each in interfaces if each != endpoints.ENDPOINT_MAPPER]
    assert {(interface.major, interface.minor) for interface in others} == {(1, 0)}
    assert (endpoints.ENDPOINT_MAPPER.major, endpoints.ENDPOINT_MAPPER.minor) == (3, 0)
    assert endpoints.QM2QM.uuid == UUID("1088a980-eae5-11d0-8d9b-00a02453c337")
    assert endpoints.REMOTE_READ.uuid == UUID("1a9134dd-7b39-45ba-ad88-44d01ca47f28")
