"""Joining a directory: the additional steps of the first start with one."""

import uuid
from pathlib import Path
from typing import Final

from openmsmq.core.settings import KeySource, Provisioning
from openmsmq.directory.local_directory import LocalDirectory
from openmsmq.engine.engine import Engine
from openmsmq.service.directory_file import DirectoryFileOnDisk, create_directory_file
from openmsmq.wire.codes.algorithms import Provider
from openmsmq.wire.errors import ConfigError

ENTERPRISE_NAME: Final = "openmsmq"


def open_directory(path: Path | None) -> LocalDirectory | None:
    """The directory in a file; None for a queue manager without one."""
    return None if path is None else LocalDirectory(DirectoryFileOnDisk(path))


def prepare_directory(
    engine: Engine,
    directory: LocalDirectory | None,
    path: Path | None,
    *,
    keys: KeySource,
    providers: tuple[Provider, ...],
) -> Provisioning | None:
    """Check that the directory fits, and join it if this is the first start with one.

    A missing file is created when a queue manager joins; later it means that the directory is
    offline.

    Raises:
        ConfigError: the file is damaged or cannot be created, or is missing from the configuration.
    """
    manager = engine.manager
    if directory is None or path is None:
        if manager.directory_integrated:
            raise ConfigError(
                "directory: this queue manager belongs to a directory; name the file of it"
            )
        return None
    joins = not manager.directory_integrated
    if joins:
        _make_identity_durable(engine)
        try:
            create_directory_file(path, enterprise=ENTERPRISE_NAME, identifier=uuid.uuid4())
        except OSError as exc:
            raise ConfigError(f"directory: {path}: {exc.strerror}") from exc
        manager.join_directory()
    try:
        directory.check()
    except OSError as exc:
        if joins:
            raise ConfigError(f"directory: {path}: {exc.strerror}") from exc
    return Provisioning(keys, providers=providers) if joins else None


def _make_identity_durable(engine: Engine) -> None:
    """Store the identity of this queue manager before writing to the directory.

    After a crash in between it joins again with the same identity, not as a second one.
    """
    engine.manager.store_identity()
    engine.flush()
