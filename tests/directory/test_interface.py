"""Filters and results of the directory."""

from uuid import UUID

import pytest

from openmsmq.directory.interface import (
    AttributeFilter,
    DirectoryOperationResult,
    FilterOperator,
)
from openmsmq.directory.objects import QueueManagerObject, RoutingLink, Site


@pytest.mark.spec("MQDMPR-3.1.1.17-01")
def test_the_results_are_those_of_the_specification() -> None:
    assert [str(result) for result in DirectoryOperationResult] == [
        "Success",
        "GenericError",
        "DirectoryNotConnected",
        "ObjectNotFound",
        "AttributeNotFound",
        "EndOfData",
        "ObjectAlreadyExists",
    ]


@pytest.mark.spec("MQDMPR-3.1.7.1.20-02")
@pytest.mark.parametrize(
    ("comparison", "matching"),
    [
        ("EQUALS", {5}),
        ("NOT-EQUALS", {4, 6}),
        ("LESS-THAN", {4}),
        ("GREATER-THAN", {6}),
        ("LESS-THAN-OR-EQUAL", {4, 5}),
        ("GREATER-THAN-OR-EQUAL", {5, 6}),
    ],
)
def test_every_comparison(comparison: str, matching: set[int]) -> None:
    expression = AttributeFilter("actual_cost", FilterOperator(comparison), 5)
    found = {cost for cost in (4, 5, 6) if expression.matches(RoutingLink(actual_cost=cost))}
    assert found == matching


def test_names_are_compared_without_regard_to_case() -> None:
    expression = AttributeFilter("name", FilterOperator.EQUALS, "NORTH")
    assert expression.matches(Site(name="north"))
    path = AttributeFilter("full_path", FilterOperator.EQUALS, "CN=A")
    assert not path.matches(Site(full_path="cn=a"))


def test_values_without_an_order_do_not_match() -> None:
    expression = AttributeFilter("directory_server_type", FilterOperator.LESS_THAN, "a")
    assert not expression.matches(QueueManagerObject())
    mixed = AttributeFilter("identifier", FilterOperator.GREATER_THAN, 5)
    assert not mixed.matches(Site(identifier=UUID(int=9)))
