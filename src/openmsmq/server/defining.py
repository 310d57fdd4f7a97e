"""Definitions applied at the start, before the queue manager is Ready."""

from pathlib import Path

from openmsmq.core.definitions.plan import PlanOptions
from openmsmq.core.queue_manager import QueueManager
from openmsmq.security.caller import Caller
from openmsmq.security.principals import Accounts
from openmsmq.service.logs import DEFINED, log_event
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.definitions.reading import fault, read_definitions
from openmsmq.wire.errors import ConfigError


def apply_definitions_file(
    path: Path | None, manager: QueueManager, *, caller: Caller, accounts: Accounts
) -> None:
    """Apply a file of definitions; objects missing from the file stay.

    Args:
        caller: the user of the process, who owns the created queues.

    Raises:
        ConfigError: the file cannot be read or applied; nothing was changed.
    """
    if path is None:
        return
    try:
        text = path.read_text("utf-8")
    except OSError as exc:
        raise ConfigError(f"definitions: {path}: {exc.strerror}") from exc
    except UnicodeDecodeError as exc:
        raise ConfigError(f"definitions: {path}: is not UTF-8: {exc}") from exc
    definitions = read_definitions(text, str(path))
    try:
        applied = manager.definer.apply(
            definitions,
            PlanOptions(),
            caller=caller,
            accounts=accounts,
            # A queue manager that does not start cannot free space.
            use_reserve=True,
        )
    except QueueError as exc:
        if not exc.detail.startswith("$"):
            raise ConfigError(
                f"definitions: {path}: {exc.detail}", cause=exc.cause, remedy=exc.remedy
            ) from exc
        place, _, reason = exc.detail.partition(": ")
        raise fault(text, str(path), place, reason) from exc
    changes = [change for change in applied.value if change.action not in ("unlisted", "missing")]
    log_event(DEFINED, file=path, changes=len(changes))
