"""The pytest plugin, as other projects use it."""

import pytest

TESTS = r"""
import openmsmq

def test_orders_are_counted(msmq):
    orders = msmq.create_queue(r".\private$\orders")
    orders.send(openmsmq.Message("12 apples"))
    assert orders.receive(timeout=1).body == "12 apples"

def test_each_test_has_its_own(msmq):
    assert msmq.queues() == []
"""


def test_the_fixture_is_there_by_itself_and_fresh_for_each_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TESTS)
    # In a process of its own: in this one, modules that it loads would be there twice afterwards.
    result = pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=2)
