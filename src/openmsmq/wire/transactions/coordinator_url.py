"""The URL of a coordinator in a propagation token: `openmsmq://host:port/`.

A token of a Microsoft Distributed Transaction Coordinator has a TIP URL there, or none.
"""

import re
from typing import Final, NamedTuple, Self

from openmsmq.wire.errors import MalformedPacket

SCHEME: Final = "openmsmq://"
_MAX_HOST: Final = 255
_URL: Final = re.compile(
    rf"openmsmq://(?:\[([0-9A-Fa-f:.]{{2,45}})\]|([A-Za-z0-9._-]{{1,{_MAX_HOST}}})):([0-9]{{1,5}})/",
    re.ASCII,
)


class CoordinatorUrl(NamedTuple):
    """Where a coordinator listens."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Read a URL; None for one of a coordinator of another kind.

        Raises:
            MalformedPacket: it is of this kind, but names no host and port.
        """
        if not text.startswith(SCHEME):
            return None
        match = _URL.fullmatch(text)
        if match is None or not 0 < int(match[3]) <= 0xFFFF:
            raise MalformedPacket("Associate_Msg_Version3.szTipTmUrl", 0, f"not {SCHEME}host:port/")
        return cls(match[1] or match[2], int(match[3]))

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{SCHEME}{host}:{self.port}/"
