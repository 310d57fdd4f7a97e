"""bind and alter_context: contexts, features, sizes, groups."""

from typing import Any

import pytest
from tests.protocol.rpc.harness import (
    ADD,
    HOST,
    NDR64_ID,
    NDR_ID,
    OTHER_HOST,
    PORT,
    TEST,
    TEST_ID,
    Case,
    Link,
    Number,
    bind_pdu,
    element,
    fault,
    response,
)

from openmsmq.protocol.rpc import CloseReason, RpcSettings
from openmsmq.protocol.rpc.associations import Associations
from openmsmq.wire.codes.endpoints import MGMT
from openmsmq.wire.rpc.bind import Bind, BindAck, BindNak, ContextElement
from openmsmq.wire.rpc.header import WHOLE, CommonHeader, PduType, PfcFlags, pack_pdu
from openmsmq.wire.rpc.status import (
    NCA_S_PROTO_ERROR,
    NCA_S_UNK_IF,
    ContextResult,
    RejectReason,
)
from openmsmq.wire.rpc.syntax import NULL_SYNTAX, SyntaxId, features_syntax

MGMT_ID = SyntaxId.of_interface(MGMT)
ACCEPTED = (ContextResult.ACCEPTANCE, 0)
UNKNOWN_INTERFACE = (ContextResult.PROVIDER_REJECTION, 1)
UNKNOWN_SYNTAX = (ContextResult.PROVIDER_REJECTION, 2)
MULTIPLEXED = int(PfcFlags.PFC_CONC_MPX)
HEADER_SIGN = int(PfcFlags.PFC_SUPPORT_HEADER_SIGN)


def ack_of(pdus: list[bytes]) -> BindAck:
    (pdu,) = pdus
    assert pdu[2] in (PduType.BIND_ACK, PduType.ALTER_CONTEXT_RESP)
    return BindAck.parse(pdu[16:])[0]


def results(pdus: list[bytes]) -> list[tuple[int, int]]:
    return [(each.result, each.reason) for each in ack_of(pdus).p_result_list]


def nak_of(pdus: list[bytes]) -> int:
    (pdu,) = pdus
    assert pdu[2] == PduType.BIND_NAK
    return BindNak.parse(pdu[16:])[0].provider_reject_reason


def alter(link: Link, *elements: ContextElement, **fields: Any) -> list[bytes]:
    return link.send(bind_pdu(*elements, ptype=PduType.ALTER_CONTEXT, **fields))


def test_a_bind_is_acknowledged_with_port_group_and_syntax() -> None:
    ack = ack_of(Case().link().bind())
    assert ack.sec_addr == str(PORT)
    assert ack.assoc_group_id != 0
    assert ack.p_result_list[0].transfer_syntax == NDR_ID


@pytest.mark.parametrize(
    ("xmit", "recv", "size"),
    [
        (5840, 5840, 5840),
        (0xFFFF, 0xFFFF, 5840),
        (0, 0xFFFF, 2048),
        (0xFFFF, 0, 2048),
        (3199, 0xFFFF, 3192),
        (0xFFFF, 3199, 3192),
    ],
)
def test_both_fragment_sizes_are_the_smallest_in_steps_of_eight(
    xmit: int, recv: int, size: int
) -> None:
    ack = ack_of(Case().link().bind(xmit=xmit, recv=recv))
    assert (ack.max_xmit_frag, ack.max_recv_frag) == (size, size)


def test_flags_that_both_sides_know_come_back() -> None:
    for flags in (0, WHOLE, MULTIPLEXED, HEADER_SIGN, 0xFF):
        (pdu,) = Case().link().bind(flags=flags)
        expected = WHOLE | flags & (MULTIPLEXED | HEADER_SIGN)
        assert CommonHeader.parse(pdu)[0].pfc_flags == expected


def test_ndr_is_preferred_in_whatever_order_it_is_offered() -> None:
    link = Case().link()
    pdus = link.bind(
        element(0, TEST_ID, NDR64_ID), element(1, TEST_ID, NULL_SYNTAX, NDR_ID), element(2)
    )
    assert results(pdus) == [UNKNOWN_SYNTAX, ACCEPTED, UNKNOWN_SYNTAX]
    assert results(Case().link().bind(element(0, TEST_ID, NDR64_ID, NDR_ID))) == [ACCEPTED]
    only = ack_of(Case().link().bind(element(0, TEST_ID, NDR64_ID)))
    assert only.p_result_list[0].transfer_syntax == NDR64_ID


def test_unknown_interfaces_versions_and_syntaxes_are_rejected() -> None:
    test = TEST.uuid
    assert results(
        Case()
        .link()
        .bind(
            element(0, NDR_ID),
            element(1, SyntaxId.of(test, 2)),
            element(2, SyntaxId.of(test, 1 | 3 << 16)),
            element(3, TEST_ID, NULL_SYNTAX),
            element(4, SyntaxId.of(test, 1)),
        )
    ) == [UNKNOWN_INTERFACE] * 3 + [UNKNOWN_SYNTAX, ACCEPTED]


@pytest.mark.parametrize("offered", [0, 1, 2, 3, 0xFF])
def test_features_are_agreed_on_once_in_a_bind(offered: int) -> None:
    feature = element(1, TEST_ID, features_syntax(offered))
    assert results(Case().link().bind(element(), feature)) == [
        ACCEPTED,
        (ContextResult.NEGOTIATE_ACK, offered & 3),
    ]
    assert nak_of(Case().link().bind(feature, feature)) == RejectReason.REASON_NOT_SPECIFIED
    # Only the first syntax of an element counts, and only in a bind.
    second = element(1, TEST_ID, NULL_SYNTAX, features_syntax(offered))
    assert results(Case().link().bind(second)) == [UNKNOWN_SYNTAX]
    assert results(alter(Case().link().bound(), feature)) == [UNKNOWN_SYNTAX]


def test_a_bind_without_contexts_or_syntaxes_is_refused() -> None:
    for elements in ((), (ContextElement(0, TEST_ID, ()),)):
        link = Case().link()
        pdu = pack_pdu(PduType.BIND, 1, Bind(0, 0, 0, elements).serialize())
        assert nak_of(link.send(pdu)) == RejectReason.REASON_NOT_SPECIFIED
        assert link.closed is not None
        assert link.closed.reason is CloseReason.BIND_REFUSED


def test_a_second_bind_is_refused() -> None:
    link = Case().link().bound()
    assert nak_of(link.bind()) == RejectReason.REASON_NOT_SPECIFIED
    assert link.closed is not None


def test_a_malformed_bind_is_refused_as_another_version() -> None:
    link = Case().link()
    reason = nak_of(link.send(bind_pdu()[:-4].replace(b"\x48\x00", b"\x44\x00", 1)))
    assert reason == RejectReason.PROTOCOL_VERSION_NOT_SPECIFIED


@pytest.mark.parametrize(("offset", "value"), [(0, 4), (1, 2), (4, 0x00), (4, 0x11)])
def test_other_versions_and_representations_are_refused(offset: int, value: int) -> None:
    pdu = bytearray(bind_pdu())
    pdu[offset] = value
    if value == 0 and offset == 4:
        pdu[8:10] = pdu[9], pdu[8]
    assert nak_of(Case().link().send(bytes(pdu))) == RejectReason.PROTOCOL_VERSION_NOT_SPECIFIED
    request = bytearray(bind_pdu(ptype=PduType.ALTER_CONTEXT))
    request[1] = 9
    link = Case().link().bound()
    assert fault(link.send(bytes(request))).status == NCA_S_PROTO_ERROR


def test_alter_context_adds_contexts_and_keeps_sizes_and_group() -> None:
    link = Case().link()
    ack = ack_of(link.bind())
    pdus = alter(link, element(7, MGMT_ID), xmit=2048, recv=2048, group=12345, flags=0xFF)
    added = ack_of(pdus)
    assert added.sec_addr == ""
    assert added.max_xmit_frag == 5840
    assert added.assoc_group_id == ack.assoc_group_id
    assert CommonHeader.parse(pdus[0])[0].pfc_flags == WHOLE | HEADER_SIGN
    assert response(ADD, link.call(ADD, Number(1))) == Number(2)
    assert fault(link.call(ADD, Number(1), call_id=2, p_cont_id=6)).status == NCA_S_UNK_IF


def test_a_context_id_keeps_its_meaning() -> None:
    link = Case().link().bound()
    assert results(alter(link, element())) == [ACCEPTED]
    assert results(alter(link, element(0, TEST_ID, NULL_SYNTAX))) == [UNKNOWN_SYNTAX]
    for changed in (
        element(0, MGMT_ID),
        element(0, TEST_ID, NDR64_ID),
        element(0, TEST_ID, NDR_ID, NDR64_ID),
    ):
        link = Case().link().bound()
        error = fault(alter(link, changed))
        assert (error.status, error.p_cont_id) == (NCA_S_PROTO_ERROR, 0)
        assert error.pfc_flags & PfcFlags.PFC_DID_NOT_EXECUTE
        assert link.closed is not None


def test_a_thousand_contexts_are_kept_and_more_are_refused() -> None:
    case = Case(RpcSettings(max_contexts=500))
    link = case.link().bound()
    for start in range(1, 1000, 1):
        assert results(alter(link, element(start))) == [ACCEPTED]
    assert response(ADD, link.call(ADD, Number(1), p_cont_id=999)) == Number(2)
    assert fault(alter(link, element(1000))).status == NCA_S_PROTO_ERROR


def test_a_malformed_alter_context_is_a_protocol_error() -> None:
    link = Case().link().bound()
    pdu = bind_pdu(ptype=PduType.ALTER_CONTEXT)[:-4].replace(b"\x48\x00", b"\x44\x00", 1)
    error = fault(link.send(pdu))
    assert error.status == NCA_S_PROTO_ERROR
    assert error.pfc_flags & PfcFlags.PFC_DID_NOT_EXECUTE


def test_a_group_is_joined_from_the_same_address_only() -> None:
    case = Case()
    first = case.link()
    group = ack_of(first.bind()).assoc_group_id
    assert ack_of(case.link().bind(group=group)).assoc_group_id == group
    assert ack_of(case.link().bind()).assoc_group_id != group
    assert nak_of(case.link(OTHER_HOST).bind(group=group)) == RejectReason.REASON_NOT_SPECIFIED
    assert nak_of(case.link().bind(group=group + 1000)) == RejectReason.REASON_NOT_SPECIFIED


def test_a_group_ends_with_its_last_connection() -> None:
    case = Case()
    first, second = case.link(), case.link()
    group = ack_of(first.bind()).assoc_group_id
    second.bind(group=group)
    first.lose()
    assert ack_of(case.link().bind(group=group)).assoc_group_id == group
    assert len(case.server.associations) == 1
    for link in case.links[1:]:
        link.lose()
    assert len(case.server.associations) == 0
    assert nak_of(case.link().bind(group=group)) == RejectReason.REASON_NOT_SPECIFIED


def test_groups_are_limited_and_their_numbers_are_not_taken_twice() -> None:
    numbers = iter((0, 1, 1, 2))
    settings = RpcSettings(max_associations=2)
    groups = Associations(settings, lambda size: next(numbers).to_bytes(size, "little"))
    joined = [groups.join(0, HOST) for _ in range(3)]
    assert [group and group.assoc_group_id for group in joined] == [1, 2, None]
    link = Case(RpcSettings(max_associations=0)).link()
    assert nak_of(link.bind()) == RejectReason.REASON_NOT_SPECIFIED
