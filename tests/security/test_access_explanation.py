"""Why somebody has a right or has not: the same verdicts as the access check, with reasons."""

from hypothesis import given
from hypothesis import strategies as st
from tests.security.accounts import FakeAccounts

from openmsmq.security.access_check import QUEUE_MAPPING, access_check
from openmsmq.security.access_explanation import AccessInfo, explain_rights
from openmsmq.security.caller import Caller, unix_caller, unix_group_sid
from openmsmq.security.rights import QUEUE_RIGHTS
from openmsmq.wire.codes.access_rights import QueueRight
from openmsmq.wire.security.security_descriptor import Ace, AceType, Acl, SecurityDescriptor
from openmsmq.wire.security.sid import EVERYONE, OWNER_RIGHTS

ALICE = unix_caller(1000, [100], service_uid=990)
ROOT = unix_caller(0, [0], service_uid=990)
STAFF = unix_group_sid(100)
SIDS = (ALICE.sid, STAFF, EVERYONE, OWNER_RIGHTS)

entries = st.builds(
    lambda allows, mask, sid: Ace(
        AceType.ACCESS_ALLOWED if allows else AceType.ACCESS_DENIED, int(mask), sid
    ),
    st.booleans(),
    st.sampled_from(list(QUEUE_RIGHTS.values())),
    st.sampled_from(SIDS),
)


def explained(
    descriptor: SecurityDescriptor | None, caller: Caller = ALICE
) -> dict[str, AccessInfo]:
    answers = explain_rights(descriptor, caller, QUEUE_RIGHTS, QUEUE_MAPPING, FakeAccounts())
    return {answer.right: answer for answer in answers}


@given(
    st.lists(entries, max_size=6),
    st.sampled_from([None, ALICE.sid, STAFF]),
    st.sampled_from([ALICE, ROOT]),
)
def test_the_verdicts_are_those_of_the_access_check(
    aces: list[Ace], owner: object, caller: Caller
) -> None:
    descriptor = SecurityDescriptor(owner=owner, dacl=Acl(tuple(aces)))  # type: ignore[arg-type]
    for word, answer in explained(descriptor, caller).items():
        desired = int(QUEUE_RIGHTS[word])
        assert answer.allowed == access_check(descriptor, caller, desired, QUEUE_MAPPING)
        assert answer.reason


def test_the_entries_that_decide_are_named() -> None:
    descriptor = SecurityDescriptor(
        dacl=Acl(
            (
                Ace(AceType.ACCESS_DENIED, int(QueueRight.DELETE_MESSAGE), ALICE.sid),
                Ace(AceType.ACCESS_ALLOWED, int(QueueRight.RECEIVE_MESSAGE), STAFF),
                Ace(AceType.ACCESS_ALLOWED, int(QueueRight.WRITE_MESSAGE), EVERYONE),
            )
        )
    )
    answers = explained(descriptor)
    assert answers["send"] == AccessInfo("send", True, "It is granted to everyone.")
    assert answers["peek"] == AccessInfo("peek", True, "It is granted to group:staff.")
    assert answers["receive"] == AccessInfo("receive", False, "It is denied to user:alice.")
    assert answers["delete"] == AccessInfo("delete", False, "No entry grants it.")
    full = answers["full"]
    assert not full.allowed
    assert full.reason == "It is denied to user:alice. No entry grants the rest of it."


def test_owners_and_administrators_always_have_some_rights() -> None:
    bare = SecurityDescriptor(owner=ALICE.sid, dacl=Acl(()))
    owner = explained(bare)
    assert owner["change-permissions"].reason == "The owner always has it."
    assert owner["delete"] == AccessInfo("delete", False, "No entry grants it.")
    root = explained(bare, ROOT)
    assert root["delete"].reason == "Administrators of the queue manager always have it."
    assert not root["peek"].allowed


def test_without_a_list_nothing_is_protected() -> None:
    for descriptor in (None, SecurityDescriptor(dacl=None)):
        answers = explained(descriptor).values()
        assert all(answer.allowed for answer in answers)
        assert {answer.reason for answer in answers} == {"Nothing is protected here."}
