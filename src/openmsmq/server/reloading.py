"""What a queue manager reads again while it runs, without a restart."""

from collections.abc import Callable, Iterator

from openmsmq.service.logs import NOT_RELOADED, RELOADED, configure_logs, log_event
from openmsmq.service.tokens import Tokens
from openmsmq.wire.errors import ConfigError

from .config import Config
from .parts.binary import BinaryService
from .parts.local import LocalServer


def reload(config: Config, tokens: Tokens, server: LocalServer, binary: BinaryService) -> None:
    """Read tokens and certificates again and open the log file anew.

    What cannot be used is logged, and what was in force before stays. The configuration itself is
    read at the start only.
    """
    reloaded = []
    for key, action in _parts(config, tokens, server, binary):
        try:
            action()
        except ConfigError as exc:
            log_event(NOT_RELOADED, what=key, reason=exc.detail)
        else:
            reloaded.append(key)
    log_event(RELOADED, what=", ".join(reloaded) or "nothing")


def _parts(
    config: Config, tokens: Tokens, server: LocalServer, binary: BinaryService
) -> Iterator[tuple[str, Callable[[], None]]]:
    """The keys that name files, and what reads each again; the log first."""
    if config.log_file is not None:
        yield "log_file", lambda: configure_logs(config)
    if config.local_tokens is not None:
        yield "local_tokens", tokens.reload
    if config.local_port != "off":
        yield "local_certificate", server.reload_certificate
    if config.binary_certificate is not None:
        yield "binary_certificate", binary.reload_certificates
