"""What the attributes of a directory object must hold."""

from dataclasses import replace
from uuid import UUID

import pytest

from openmsmq.directory.objects import (
    NULL_GUID,
    ConnectedNetwork,
    DirectoryObject,
    DistributionList,
    Enterprise,
    QueueManagerObject,
    QueueObject,
    RoutingLink,
    Site,
    User,
)
from openmsmq.directory.rules import find_fault, unique_key
from openmsmq.wire.security.security_descriptor import Ace, AceType, Acl, RawAce, SecurityDescriptor
from openmsmq.wire.security.sid import EVERYONE, SID

ONE, TWO = UUID(int=1), UUID(int=2)
LINK = RoutingLink(identifier=ONE, site1_identifier=ONE, site2_identifier=TWO)
GOOD: list[DirectoryObject] = [
    QueueManagerObject(identifier=ONE, computer_name="QM1"),
    QueueObject(identifier=ONE, pathname="QM1\\orders"),
    Enterprise(identifier=ONE),
    Site(identifier=ONE, name="north"),
    LINK,
    ConnectedNetwork(identifier=ONE, name="lan"),
    User(identifier=ONE, security_identifier=EVERYONE),
    DistributionList(ONE, "partners", (r"DIRECT=OS:a\private$\q", f"DL={TWO}")),
]


def security(mask: int, *, audit: bool = False) -> bytes:
    if audit:
        acl = Acl((Ace(AceType.SYSTEM_AUDIT, mask, EVERYONE),))
        return SecurityDescriptor(sacl=acl).serialize()
    label = SID(16, (0x1000,)).serialize()
    raw = RawAce(b"\x11\x00\x14\x00\xff\xff\xff\xff" + label)
    return SecurityDescriptor(
        dacl=Acl((raw, Ace(AceType.ACCESS_ALLOWED, mask, EVERYONE)))
    ).serialize()


def test_the_unique_attribute_of_a_link_is_both_of_its_sites() -> None:
    assert unique_key(LINK) == ("site1_identifier", frozenset((ONE, TWO)))
    back = replace(LINK, site1_identifier=TWO, site2_identifier=ONE)
    assert unique_key(back) == unique_key(LINK)


@pytest.mark.parametrize("item", GOOD, ids=lambda item: type(item).__name__)
def test_well_formed_objects_have_no_fault(item: DirectoryObject) -> None:
    assert find_fault(item) == ("", "")


@pytest.mark.parametrize("item", GOOD, ids=lambda item: type(item).__name__)
def test_every_object_needs_an_identifier(item: DirectoryObject) -> None:
    assert find_fault(replace(item, identifier=NULL_GUID)) == ("identifier", "is null")


@pytest.mark.parametrize(
    ("item", "name"),
    [
        (QueueManagerObject(identifier=ONE), "computer_name"),
        (QueueObject(identifier=ONE), "pathname"),
        (Site(identifier=ONE), "name"),
        (ConnectedNetwork(identifier=ONE), "name"),
        (DistributionList(identifier=ONE), "name"),
    ],
)
def test_what_objects_are_known_by_is_not_empty(item: DirectoryObject, name: str) -> None:
    assert find_fault(item) == (name, "is empty")


@pytest.mark.spec("MQDMPR-3.1.1.8-01")
@pytest.mark.parametrize("cost", [0, -1, 1_000_000])
def test_a_cost_outside_of_its_range_is_a_fault(cost: int) -> None:
    fault = find_fault(replace(LINK, actual_cost=cost))
    assert fault == ("actual_cost", f"{cost} is not in 1..999999")


@pytest.mark.spec("MQDMPR-3.1.1.8-01")
@pytest.mark.parametrize("cost", [1, 999_999])
def test_the_ends_of_the_range_of_costs_are_allowed(cost: int) -> None:
    assert find_fault(replace(LINK, actual_cost=cost)) == ("", "")


def test_numbers_must_fit_their_fields() -> None:
    queue = QueueObject(identifier=ONE, pathname="QM1\\orders")
    assert find_fault(replace(queue, quota=1 << 32))[0] == "quota"
    assert find_fault(replace(queue, quota=-1))[0] == "quota"
    assert find_fault(replace(queue, base_priority=0x8000))[0] == "base_priority"
    assert find_fault(replace(queue, base_priority=-0x8000)) == ("", "")


def test_a_routing_link_joins_two_different_sites() -> None:
    assert find_fault(replace(LINK, site1_identifier=NULL_GUID))[0] == "site1_identifier"
    assert find_fault(replace(LINK, site2_identifier=NULL_GUID))[0] == "site2_identifier"
    same = find_fault(replace(LINK, site2_identifier=ONE))
    assert same == ("site2_identifier", "is the same site")


def test_members_of_a_distribution_list_are_format_names() -> None:
    fault = find_fault(DistributionList(ONE, "partners", (f"PUBLIC={TWO}", r"host\q")))
    assert fault == ("members", r"'host\\q' is no format name")


@pytest.mark.spec("MQDMPR-3.1.1.15-01")
@pytest.mark.parametrize("digests", [(), (bytes(16),), (b"short",)])
def test_digests_that_are_not_those_of_the_certificates_are_a_fault(
    digests: tuple[bytes, ...],
) -> None:
    user = User(ONE, EVERYONE, digests, certificates=(b"certificate",))
    assert find_fault(user)[0] == "certificate_digest_list"


@pytest.mark.parametrize(
    ("item", "allowed", "foreign"),
    [
        pytest.param(GOOD[0], 0xF00F7, 0x8, marks=pytest.mark.spec("MQDMPR-3.1.1.1-12")),
        pytest.param(GOOD[1], 0xF003F, 0x40, marks=pytest.mark.spec("MQDMPR-3.1.1.2-13")),
        pytest.param(GOOD[2], 0x7, 0x8, marks=pytest.mark.spec("MQDMPR-3.1.1.6-04")),
        pytest.param(GOOD[3], 0x7, 0x20000, marks=pytest.mark.spec("MQDMPR-3.1.1.6-04")),
        pytest.param(GOOD[5], 0x1, 0x2, marks=pytest.mark.spec("MQDMPR-3.1.1.6-04")),
    ],
)
@pytest.mark.parametrize("audit", [False, True])
def test_descriptors_name_only_the_rights_of_their_kind_of_object(
    item: DirectoryObject, allowed: int, foreign: int, *, audit: bool
) -> None:
    assert not isinstance(item, (RoutingLink, User, DistributionList))
    assert find_fault(replace(item, security=security(allowed, audit=audit))) == ("", "")
    fault = find_fault(replace(item, security=security(allowed | foreign, audit=audit)))
    assert fault == ("security", f"names unknown rights 0x{foreign:08X}")


def test_a_damaged_descriptor_is_a_fault() -> None:
    name, reason = find_fault(Site(identifier=ONE, name="north", security=b"\x01"))
    assert name == "security"
    assert "is no security descriptor" in reason


def test_names_are_unique_without_regard_to_case() -> None:
    assert unique_key(Site(name="North")) == unique_key(Site(name="NORTH"))
    assert unique_key(QueueObject(pathname="QM\\Q")) == unique_key(QueueObject(pathname="qm\\q"))
    assert unique_key(QueueManagerObject(computer_name="A")) == ("computer_name", "a")
    assert unique_key(ConnectedNetwork(name="A")) == ("name", "a")
    swapped = RoutingLink(site1_identifier=TWO, site2_identifier=ONE)
    assert unique_key(swapped) == unique_key(LINK)
    assert unique_key(Enterprise(name="a")) == unique_key(Enterprise(name="b"))
    other = User(security_identifier=SID(5, (18,)))
    assert unique_key(other) != unique_key(User(security_identifier=EVERYONE))
