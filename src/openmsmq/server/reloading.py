"""What a queue manager reads again while it runs, without a restart."""

from collections.abc import Callable, Iterable, Iterator

from openmsmq.service.logs import NOT_RELOADED, RELOADED, configure_logs, log_event
from openmsmq.wire.errors import ConfigError

from .config import Config
from .parts.part import Part


def reload(config: Config, parts: Iterable[Part]) -> None:
    """Read tokens and certificates again and open the log file anew.

    What cannot be used is logged, and what was in force before stays. The configuration itself is
    read at the start only.
    """
    reloaded = []
    for key, action in _actions(config, parts):
        try:
            action()
        except ConfigError as exc:
            log_event(NOT_RELOADED, what=key, reason=exc.detail)
        else:
            reloaded.append(key)
    log_event(RELOADED, what=", ".join(reloaded) or "nothing")


def _actions(config: Config, parts: Iterable[Part]) -> Iterator[tuple[str, Callable[[], None]]]:
    """The keys that name files, and what reads each again; the log first."""
    if config.log_file is not None:
        yield "log_file", lambda: configure_logs(config)
    for part in parts:
        yield from part.reloads.items()
