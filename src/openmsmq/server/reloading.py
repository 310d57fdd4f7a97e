"""What a queue manager reads again while it runs, without a restart."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from openmsmq.core.queue_manager import QueueManager
from openmsmq.service.logs import NOT_RELOADED, RELOADED, configure_logs, log_event
from openmsmq.wire.errors import ConfigError

from .config import Config
from .parts.console import ConsolePart
from .parts.part import Part


@dataclass(slots=True)
class Reloaded:
    """What was read again, by key, and what could not be used, with the reason."""

    reloaded: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)


def reload(
    config: Config,
    parts: Iterable[Part],
    manager: QueueManager,
    reread: Callable[[], Config] | None = None,
) -> Reloaded:
    """Read tokens and certificates again, quotas, thresholds and the log level; open the log anew.

    What cannot be used is logged, and what was in force before stays. All other keys of the
    configuration are read at the start only.

    Args:
        reread: the configuration as it is now; None where there is no file.
    """
    outcome = Reloaded()
    new: Config | None = None
    if reread is not None:
        try:
            new = reread()
        except ConfigError as exc:
            _note_failure(outcome, "config", exc)
    for key, action in _actions(config, parts, manager, new):
        try:
            action()
        except ConfigError as exc:
            _note_failure(outcome, key, exc)
        else:
            outcome.reloaded.append(key)
    log_event(RELOADED, what=", ".join(outcome.reloaded) or "nothing")
    return outcome


def _note_failure(outcome: Reloaded, key: str, error: ConfigError) -> None:
    reason = error.detail.removeprefix(f"{key}: ")
    outcome.failed[key] = reason
    log_event(NOT_RELOADED, what=key, reason=reason)


def _actions(
    config: Config, parts: Iterable[Part], manager: QueueManager, new: Config | None
) -> Iterator[tuple[str, Callable[[], None]]]:
    """The keys that are read again, and what does it; the log first.

    Args:
        new: the configuration as it is now; None if there is none that can be used.
    """
    if config.log_file is not None or new is not None:
        key = "log_level" if config.log_file is None else "log_file"
        yield key, lambda: configure_logs(new or config)
    if new is not None:
        yield "quota_kilobytes", lambda: _set_quotas(manager, new)
    for part in parts:
        if new is not None and isinstance(part, ConsolePart):
            part.thresholds = new
        yield from part.reloads.items()


def _set_quotas(manager: QueueManager, config: Config) -> None:
    manager.set_quotas(messages=config.quota_kilobytes, journals=config.journal_quota_kilobytes)
