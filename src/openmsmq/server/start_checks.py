"""Checks before a start, while nothing is created on disk."""

import os

from openmsmq.store.file_store import LOCK_NAME
from openmsmq.store.files import require_unlocked
from openmsmq.store.options import STORE_DIRECTORY
from openmsmq.wire.errors import ConfigError

from .config import Config
from .parts import PARTS


def check_start(config: Config) -> None:
    """Refuse an invalid configuration.

    Raises:
        StoreError: another process uses the data directory.
        ConfigError: a certificate, a port, the socket or the ready file cannot be used.
    """
    require_unlocked(config.data / STORE_DIRECTORY / LOCK_NAME)
    for part in PARTS:
        part.check(config)
    check_ready_file(config)


def check_ready_file(config: Config) -> None:
    """Refuse a ready file in a directory that is not writable, or in place of a device."""
    if config.ready_file is None:
        return
    if config.ready_file.exists() and not config.ready_file.is_file():
        raise ConfigError(f"ready_file: {config.ready_file}: it is not a regular file")
    folder = config.ready_file.parent
    if folder == config.data and not folder.exists():
        return
    if not folder.is_dir():
        raise ConfigError(f"ready_file: {config.ready_file}: there is no directory {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ConfigError(f"ready_file: {config.ready_file}: {folder} may not be written")
