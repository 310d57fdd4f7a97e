"""Changes of a local-file directory, and what the directory itself fills in."""

from dataclasses import replace
from typing import Final

from .distinguished_names import distinguished_name
from .document import Document
from .interface import ChangeResult, DirectoryOperationResult
from .objects import (
    ConnectedNetwork,
    DirectoryObject,
    DistributionList,
    ElementType,
    Enterprise,
    QueueManagerObject,
    QueueObject,
    User,
    copy_attributes,
)
from .rules import find_fault

SUCCESS: Final = ChangeResult(DirectoryOperationResult.SUCCESS)
# Only the directory sets these; a write that lists them leaves them as they are.
SET_BY_DIRECTORY: Final = frozenset(("full_path", "directory_path", "create_time", "modify_time"))


def insert(document: Document, new: DirectoryObject, utc: float) -> ChangeResult:
    """Add an object that has an identifier."""
    if any(new.identifier in known for known in document.objects.values()):
        reason = f"identifier {new.identifier} is taken"
        return ChangeResult(DirectoryOperationResult.OBJECT_ALREADY_EXISTS, reason)
    result = _check(document, new)
    if result is SUCCESS:
        if isinstance(new, (QueueManagerObject, QueueObject)):
            new.create_time = new.modify_time = int(utc)
        _name(document, new)
        document.of(new)[new.identifier] = new
    return result


def update(
    document: Document, item: DirectoryObject, names: frozenset[str], utc: float
) -> ChangeResult:
    """Replace the named attributes of the object with the same identifier."""
    known = document.of(item).get(item.identifier)
    if known is None:
        return ChangeResult(DirectoryOperationResult.OBJECT_NOT_FOUND, str(item.identifier))
    changed = replace(known)
    copy_attributes(item, changed, names - SET_BY_DIRECTORY)
    result = _check(document, changed)
    if result is SUCCESS:
        if isinstance(changed, (QueueManagerObject, QueueObject)):
            changed.modify_time = int(utc)
        _name(document, changed)
        document.of(item)[item.identifier] = changed
    return result


def remove(document: Document, item: DirectoryObject) -> ChangeResult:
    if document.of(item).pop(item.identifier, None) is None:
        return ChangeResult(DirectoryOperationResult.OBJECT_NOT_FOUND, str(item.identifier))
    return SUCCESS


def _check(document: Document, item: DirectoryObject) -> ChangeResult:
    name, reason = find_fault(item)
    if reason:
        return ChangeResult(DirectoryOperationResult.GENERIC_ERROR, f"{name} {reason}")
    conflict = document.conflict(item)
    if conflict:
        reason = f"another object has this {conflict}"
        return ChangeResult(DirectoryOperationResult.OBJECT_ALREADY_EXISTS, reason)
    return SUCCESS


def _name(document: Document, item: DirectoryObject) -> None:
    """Set the distinguished name, as a directory server does."""
    if isinstance(item, (Enterprise, ConnectedNetwork, User, DistributionList)):
        return
    enterprises = document.objects[ElementType.ENTERPRISE].values()
    names = [enterprise.name for enterprise in enterprises if isinstance(enterprise, Enterprise)]
    item.full_path = distinguished_name(item, names[0] if names else "")
    if isinstance(item, QueueObject):
        item.directory_path = f"LOCAL://{item.full_path}"
