"""Certificates of users in the directory."""

from uuid import UUID

import pytest

from openmsmq.directory.certificates import (
    add_certificate,
    certificate_digest,
    remove_certificate,
)
from openmsmq.directory.objects import User
from openmsmq.directory.rules import find_fault
from openmsmq.wire.security.sid import SID

USER = User(UUID(int=1), SID(22, (1, 1000)))


@pytest.mark.spec("MQDMPR-3.1.1.15-01")
def test_a_certificate_is_known_by_its_md5() -> None:
    # RFC 1321 A.5.
    assert certificate_digest(b"abc").hex() == "900150983cd24fb0d6963f7d28e17f72"
    user = add_certificate(add_certificate(USER, b"abc"), b"def")
    assert user.security_identifier == USER.security_identifier
    assert user.certificates == (b"abc", b"def")
    assert user.certificate_digest_list == (certificate_digest(b"abc"), certificate_digest(b"def"))
    assert find_fault(user) == ("", "")


def test_a_certificate_is_there_once_and_can_be_removed() -> None:
    user = add_certificate(add_certificate(USER, b"abc"), b"def")
    assert add_certificate(user, b"abc") == user
    assert remove_certificate(user, certificate_digest(b"abc")) == add_certificate(USER, b"def")
    assert remove_certificate(user, bytes(16)) == user
