"""Users in the directory: their certificates and their groups ([MS-MQDMPR] 3.1.1.15)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.directory.certificates import (
    add_certificate,
    certificate_digest,
    remove_certificate,
)
from openmsmq.directory.interface import AttributeFilter, DirectoryOperationResult, FilterOperator
from openmsmq.directory.objects import ElementType, User
from openmsmq.security.certificates.sender_certificate import (
    CertificateFault,
    is_self_issued,
    parse_certificate,
)
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

from .directory_events import create_directory_object, read_directory, write_directory
from .public_queues import directory_error

if TYPE_CHECKING:
    from openmsmq.core.state import State
    from openmsmq.security.caller import Caller
    from openmsmq.wire.security.sid import SID

_SUCCESS: Final = DirectoryOperationResult.SUCCESS
_NOT_FOUND: Final = DirectoryOperationResult.OBJECT_NOT_FOUND
_ATTRIBUTES: Final = ("certificates", "certificate_digest_list", "certificate_identifiers")
# Choice: a user has one for each key in use and some old ones.
MAX_USER_CERTIFICATES: Final = 16


def groups_of(state: State, sid: SID) -> frozenset[SID] | None:
    """The groups of a user; None if the directory cannot tell.

    A queue manager of a workgroup knows of no groups.
    """
    if not state.local.directory_integrated:
        return frozenset()
    user, status = _read(state, sid)
    return None if status is not _SUCCESS or user is None else frozenset(user.groups)


def certificates_of(state: State, caller: Caller) -> User:
    """The certificates of the caller.

    Raises:
        QueueError: there is no directory, or it cannot be read.
    """
    return _noted(state, _required(state, caller.sid))


def internal_certificate(state: State, sid: SID) -> bytes | None:
    """The internal certificate of a user, as of the last read or change of the user."""
    known = state.local.internal_certificate_collection.get(sid)
    return None if known is None else known.certificate


def register_certificate(state: State, certificate: bytes, caller: Caller) -> User:
    """Add a certificate of the caller to the directory; keep one that is there already.

    Raises:
        QueueError: the certificate cannot be used, or the directory refuses it.
    """
    try:
        parse_certificate(certificate, smallest_bits=state.settings.senders.smallest_bits)
    except CertificateFault as exc:
        raise QueueError(Hresult.MQ_ERROR_INVALID_CERTIFICATE, str(exc)) from exc
    user = _required(state, caller.sid)
    if certificate in user.certificates:
        return _noted(state, user)
    if len(user.certificates) >= MAX_USER_CERTIFICATES:
        raise QueueError(
            Hresult.MQ_ERROR_INVALID_CERTIFICATE,
            f"{caller.sid} has {MAX_USER_CERTIFICATES} certificates in the directory already",
            cause="Old certificates were never taken out.",
            remedy="`openmsmq key show` lists them, `openmsmq key unregister` takes one out.",
        )
    new = add_certificate(user, certificate, state.guids())
    if not user.certificates and _read(state, caller.sid)[0] is None:
        created = create_directory_object(state, new, caller=caller)
        if created.status is not _SUCCESS:
            raise directory_error(created.status, created.reason)
    else:
        _write(state, new, caller)
    return _noted(state, new)


def unregister_certificate(state: State, digest: bytes, caller: Caller) -> User:
    """Remove a certificate of the caller from the directory.

    Raises:
        QueueError: it is not there, or the directory refuses it.
    """
    user = _required(state, caller.sid)
    if digest not in map(certificate_digest, user.certificates):
        raise QueueError(
            Hresult.MQ_ERROR_INVALID_CERTIFICATE,
            f"the directory has no certificate {digest.hex()} of {caller.sid}",
        )
    new = remove_certificate(user, digest)
    _write(state, new, caller)
    return _noted(state, new)


def _noted(state: State, user: User) -> User:
    """Bring InternalCertificateCollection up to date ([MS-MQDMPR] 3.1.1.1).

    Choice: the internal certificate of a user is the last registered one that no authority has
    issued, as `openmsmq key create` makes them: a newer one takes its place.
    """
    newest = next(filter(is_self_issued, reversed(user.certificates)), None)
    state.local.set_internal_certificate(user.security_identifier, newest)
    return user


def _write(state: State, user: User, caller: Caller) -> None:
    written = write_directory(state, user, _ATTRIBUTES, caller=caller)
    if written.status is not _SUCCESS:
        raise directory_error(written.status, written.reason)


def _required(state: State, sid: SID) -> User:
    """The user of a SID; created if the directory has none."""
    user, status = _read(state, sid)
    if user is not None:
        return user
    if status is not _NOT_FOUND:
        raise QueueError(
            Hresult.MQ_ERROR_NO_DS,
            "the certificates of users are in a directory, which cannot be read",
            cause="The queue manager belongs to no directory, or the directory is offline.",
            remedy="Set `directory`; without one, receivers name `trusted_certificates`.",
        )
    return User(state.guids(), sid)


def _read(state: State, sid: SID) -> tuple[User | None, DirectoryOperationResult]:
    read = read_directory(
        state,
        ElementType.USER,
        [AttributeFilter("security_identifier", FilterOperator.EQUALS, sid)],
    )
    user = read.directory_object
    return (user if isinstance(user, User) else None), read.status
