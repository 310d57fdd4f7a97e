"""Connections of the data source, opened from options in each process."""

import time
from pathlib import Path
from typing import Final

from openmsmq.client.address import read_token
from openmsmq.client.blocking.queue_manager import QueueManager, connect
from openmsmq.client.errors import ConnectionLost
from openmsmq.client.remote.address import read_password
from openmsmq.spark.options.records import ConnectionOptions

RETRY_SECONDS: Final = 0.2


def open_connection(options: ConnectionOptions) -> QueueManager:
    """Connect, and wait for a queue manager that restarts.

    Raises:
        ConnectionLost: no queue manager answered within `connectTimeout`.
        ConfigError: an option is invalid; the text names it without credentials.
    """
    end = time.monotonic() + options.timeout
    token, password = _token(options), _password(options)
    while True:
        remaining = end - time.monotonic()
        try:
            return connect(
                options.endpoint,
                token=token,
                ca_file=options.ca_file,
                user=options.user,
                password=password,
                auth=_auth(options),
                level=options.level,
                timeout=max(remaining, 1.0),
            )
        except ConnectionLost:
            if remaining < RETRY_SECONDS:
                raise
            time.sleep(RETRY_SECONDS)


def _auth(options: ConnectionOptions) -> str | None:
    """Choice: without `auth.kerberos` no ticket is taken: executors seldom have the driver's."""
    if not options.is_remote_read:
        return None
    if options.kerberos:
        return "kerberos"
    return "none" if options.user is None else "ntlm"


def _token(options: ConnectionOptions) -> str | None:
    if options.token_file is None:
        return options.token
    return read_token(Path(options.token_file), "option auth.tokenFile")


def _password(options: ConnectionOptions) -> str | None:
    if options.password_file is None:
        return None
    return read_password(options.password_file, "option auth.passwordFile")
