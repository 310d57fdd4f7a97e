"""The paths by which a queue manager and its clients on the same machine find each other."""

import os
from pathlib import Path
from typing import Final

SOCKET_NAME: Final = "openmsmq.sock"
SOCKET_VARIABLE: Final = "OPENMSMQ_SOCKET"


def default_data_directory() -> Path:
    """The default data directory of a queue manager."""
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(base).expanduser() / "openmsmq"


def default_socket() -> Path:
    """The socket of this machine's queue manager: $OPENMSMQ_SOCKET or the default directory."""
    return Path(os.environ.get(SOCKET_VARIABLE) or default_data_directory() / SOCKET_NAME)
