"""Certificates of users and public keys of queue managers, as the directory has them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from openmsmq.core.sites.key_publication import import_keys
from openmsmq.core.sites.users import (
    certificates_of,
    internal_certificate,
    register_certificate,
    unregister_certificate,
)
from openmsmq.directory.certificates import certificate_digest
from openmsmq.security.encryption.published_keys import CannotEncrypt, PublishedKeys
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.scalars import GUID_NULL

from .queue_infos import guid_text
from .records import PublicKeysInfo, RegisteredCertificate

if TYPE_CHECKING:
    from openmsmq.core.state import State
    from openmsmq.directory.objects import User
    from openmsmq.security.caller import Caller


class Identities:
    """Certificates and public keys, for callers of management."""

    __slots__ = ("_state",)

    def __init__(self, state: State) -> None:
        self._state = state

    # Certificates of users

    def certificates(self, *, caller: Caller) -> list[RegisteredCertificate]:
        """The certificates that the directory has for the caller.

        Raises:
            QueueError: there is no directory, or it cannot be read.
        """
        return _registered(self._state, certificates_of(self._state, caller))

    def register_certificate(
        self, certificate: bytes, *, caller: Caller
    ) -> list[RegisteredCertificate]:
        """Add a certificate of the caller to the directory; return all of them.

        Raises:
            QueueError: the certificate cannot be used, or the directory refuses it.
        """
        user = register_certificate(self._state, certificate, caller)
        return _registered(self._state, user)

    def unregister_certificate(
        self, digest: bytes, *, caller: Caller
    ) -> list[RegisteredCertificate]:
        """Remove a certificate of the caller from the directory; return the remaining ones.

        Raises:
            QueueError: it is not there, or the directory refuses it.
        """
        return _registered(self._state, unregister_certificate(self._state, digest, caller))

    # Keys of queue managers

    def own_public_keys(self) -> PublicKeysInfo:
        """The public keys of this queue manager."""
        manager = self._state.manager
        return PublicKeysInfo(
            guid=guid_text(manager.identifier),
            name=manager.computer_name,
            keys=manager.public_encryption_key_list,
        )

    def import_public_keys(self, guid: str, name: str, keys: bytes) -> PublicKeysInfo:
        """Put the public keys of another queue manager into the directory.

        Raises:
            QueueError: there is no directory, or the keys are invalid.
        """
        try:
            identifier = UUID(guid)
            PublishedKeys.parse(keys)
        except (ValueError, CannotEncrypt) as exc:
            raise QueueError(Hresult.MQ_ERROR_INVALID_PARAMETER, str(exc)) from exc
        import_keys(self._state, identifier, name, keys)
        return PublicKeysInfo(guid=guid_text(identifier), name=name, keys=keys)


def _registered(state: State, user: User) -> list[RegisteredCertificate]:
    identifiers = [*user.certificate_identifiers, *[GUID_NULL] * len(user.certificates)]
    internal = internal_certificate(state, user.security_identifier)
    return [
        RegisteredCertificate(
            certificate_digest(certificate).hex(),
            str(identifier),
            certificate,
            certificate == internal,
        )
        for certificate, identifier in zip(user.certificates, identifiers, strict=False)
    ]
