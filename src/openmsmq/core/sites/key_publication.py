"""The public keys of this queue manager in the directory ([MS-MQDMPR] 3.1.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from openmsmq.core.model.local_queue_manager import store_local
from openmsmq.directory.interface import DirectoryOperationResult
from openmsmq.directory.objects import ElementType, QueueManagerObject
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.security.key_blobs import MQDSPublicKey, MQDSPublicKeys

from .directory_access import by_identifier
from .directory_events import create_directory_object, read_directory, write_directory

if TYPE_CHECKING:
    from uuid import UUID

    from openmsmq.core.settings import KeySource
    from openmsmq.core.state import State
    from openmsmq.wire.codes.algorithms import Provider

_KEY_LISTS: Final = ("public_encryption_key_list", "public_signing_key_list")


def set_keys(manager: QueueManagerObject, keys: KeySource, providers: Sequence[Provider]) -> bool:
    """Note the public keys of these providers; return whether they have changed."""
    before = manager.public_encryption_key_list, manager.public_signing_key_list
    manager.public_encryption_key_list = _key_list(
        [(provider, keys.exchange_key(provider)) for provider in providers]
    )
    manager.public_signing_key_list = _key_list(
        [(provider, keys.signing_key(provider)) for provider in providers]
    )
    return before != (manager.public_encryption_key_list, manager.public_signing_key_list)


def publish_keys(state: State, keys: KeySource, providers: Sequence[Provider]) -> str:
    """Publish the public keys of this queue manager in the directory, unless they are there.

    Returns:
        The reason of a failure; empty after success.
    """
    if not set_keys(state.manager, keys, providers):
        return ""
    store_local(state)
    written = write_directory(state, state.manager, _KEY_LISTS)
    if written.status is DirectoryOperationResult.SUCCESS:
        return ""
    return written.reason or str(written.status)


def import_keys(state: State, identifier: UUID, name: str, keys: bytes) -> None:
    """Publish the public keys of another queue manager in the directory.

    Raises:
        QueueError: there is no directory, or it refuses them.
    """
    other = QueueManagerObject(
        identifier=identifier,
        computer_name=name,
        qualified_computer_name=name,
        public_encryption_key_list=keys,
    )
    known = read_directory(state, ElementType.QUEUE_MANAGER, by_identifier(identifier))
    if known.status is DirectoryOperationResult.SUCCESS:
        written = write_directory(state, other, _KEY_LISTS[:1])
        status, reason = written.status, written.reason
    else:
        created = create_directory_object(state, other)
        status, reason = created.status, created.reason
    if status is not DirectoryOperationResult.SUCCESS:
        raise QueueError(
            Hresult.MQ_ERROR_NO_DS
            if status is DirectoryOperationResult.DIRECTORY_NOT_CONNECTED
            else Hresult.MQ_ERROR_DS_ERROR,
            reason or str(status),
        )


def _key_list(keys: list[tuple[Provider, bytes]]) -> bytes:
    return MQDSPublicKeys(
        tuple(MQDSPublicKey(provider.type, provider.name, key) for provider, key in keys)
    ).serialize()
