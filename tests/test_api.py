"""The names of the package."""

import subprocess
import sys

import pytest

import openmsmq
import openmsmq.aio


def test_every_name_of_the_api_is_there() -> None:
    for name in openmsmq.__all__:
        assert getattr(openmsmq, name) is not None
    assert set(dir(openmsmq)) == set(openmsmq.__all__)


def test_every_name_of_the_asynchronous_api_is_there() -> None:
    for name in openmsmq.aio.__all__:
        assert getattr(openmsmq.aio, name) is not None


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = openmsmq.nothing


def test_errors_have_one_root() -> None:
    for error in (openmsmq.QueueError, openmsmq.ReceiveTimeout, openmsmq.ConnectionLost):
        assert issubclass(error, openmsmq.MsmqError)
    assert issubclass(openmsmq.ReceiveTimeout, openmsmq.QueueError)


@pytest.mark.parametrize(
    ("program", "absent"),
    [
        ("import openmsmq", "openmsmq.client"),
        ("import openmsmq; openmsmq.connect", "openmsmq.service"),
        ("import openmsmq; openmsmq.connect", "openmsmq.server"),
        ("import openmsmq; openmsmq.connect", "pydantic"),
        ("import openmsmq; openmsmq.connect", "ssl"),
        ("import openmsmq.testing", "openmsmq.client"),
    ],
)
def test_programs_load_what_they_need(program: str, absent: str) -> None:
    check = f"{program}\nimport sys\nassert {absent!r} not in sys.modules"
    subprocess.run([sys.executable, "-c", check], check=True, timeout=60)
