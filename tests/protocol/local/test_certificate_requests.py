"""Requests about the certificates that the directory has of users."""

import pytest
from tests.core.directory_harness import ENTERPRISE
from tests.core.harness import Harness
from tests.directory.memory_file import directory_of
from tests.protocol.local.harness import STRANGER, Client, World
from tests.security.signatures.signer import signing_key

from openmsmq.directory.certificates import certificate_digest
from openmsmq.protocol.local import messages as local

FIRST = signing_key("alice").certificate
SECOND = signing_key("mallory").certificate


@pytest.fixture
def client() -> Client:
    """A client of a queue manager with a directory."""
    directory, _ = directory_of(ENTERPRISE)
    return World(Harness(directory=directory)).client()


def certificates(client: Client, **change: bytes) -> list[bytes]:
    return [each["certificate"] for each in client.value(local.UserCertificates, **change)]


def test_certificates_are_added_shown_and_taken_out(client: Client) -> None:
    assert certificates(client) == []
    assert certificates(client, add=FIRST) == [FIRST]
    assert certificates(client, add=SECOND) == [FIRST, SECOND]
    assert certificates(client) == [FIRST, SECOND]
    assert certificates(client, remove=certificate_digest(FIRST)) == [SECOND]
    assert certificates(client) == [SECOND]


def test_everybody_has_certificates_of_their_own(client: Client) -> None:
    stranger = client.world.client(STRANGER)
    certificates(client, add=FIRST)
    assert certificates(stranger) == []
    refused = stranger.refusal(local.UserCertificates, remove=certificate_digest(FIRST))
    assert refused == "MQ_ERROR_INVALID_CERTIFICATE"
    assert certificates(client) == [FIRST]


def test_what_is_no_certificate_is_refused(client: Client) -> None:
    refused = client.refusal(local.UserCertificates, add=b"nonsense")
    assert refused == "MQ_ERROR_INVALID_CERTIFICATE"
    assert certificates(client) == []


def test_without_a_directory_there_are_no_certificates() -> None:
    client = World().client()
    for change in ({}, {"add": FIRST}, {"remove": certificate_digest(FIRST)}):
        assert client.refusal(local.UserCertificates, **change) == "MQ_ERROR_NO_DS"
