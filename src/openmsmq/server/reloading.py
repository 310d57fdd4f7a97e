"""Reload: files and settings that a queue manager reads again without a restart."""

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
    """The keys that were read again, and the failed ones, with the reason."""

    reloaded: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)


def reload(
    config: Config,
    parts: Iterable[Part],
    manager: QueueManager,
    reread: Callable[[], Config] | None = None,
) -> Reloaded:
    """Read tokens and certificates again, quotas, thresholds and the log level; open the log anew.

    Failures are logged, and the previous state stays. All other keys of the
    configuration are read at the start only.

    Args:
        reread: reads the current configuration; None where there is no file.
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
    """The keys that are read again, and their actions; the log first.

    Args:
        new: the current configuration; None if it is invalid.
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
