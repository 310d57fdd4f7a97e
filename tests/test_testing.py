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


def test_the_fixture_is_a_fresh_queue_manager_for_each_test(pytester: pytest.Pytester) -> None:
    pytester.makeconftest('pytest_plugins = ["openmsmq.testing"]')
    pytester.makepyfile(TESTS)
    result = pytester.runpytest_inprocess("-q")
    result.assert_outcomes(passed=2)
