"""One realm for all tests of a process."""

from collections.abc import Iterator

import pytest
from tests.interop.kerberos.kdc import Realm, running_realm


@pytest.fixture(scope="session")
def session_realm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Realm]:
    with running_realm(tmp_path_factory.mktemp("realm")) as realm:
        yield realm


@pytest.fixture
def realm(session_realm: Realm, monkeypatch: pytest.MonkeyPatch) -> Realm:
    """The realm that this process belongs to; nobody has a ticket yet."""
    for name, value in session_realm.environment.items():
        monkeypatch.setenv(name, value)
    return session_realm
