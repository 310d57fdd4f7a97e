"""The refusal of who has not been granted a right."""

from openmsmq.wire.codes.queue_error import AccessDenied
from openmsmq.wire.security.sid import SID


class RightMissing(AccessDenied):
    """The caller has not been granted what it needs.

    Args:
        sid: who asks.
        rights: what is needed, in words.
        queue: path of the queue that does not grant it; empty for the queue manager.
        holder: path of the queue whose permissions count, that of a journal or subqueue.
    """

    def __init__(self, sid: SID, rights: list[str], queue: str = "", holder: str = "") -> None:
        self.sid = sid
        self.rights = rights
        self.queue = queue
        self.holder = holder
        super().__init__(self._text(str(sid)))
        # Pickle rebuilds an exception from `args`.
        self.args = (sid, rights, queue, holder)

    def named(self, principal: str) -> AccessDenied:
        """The same with words for who asks, and the command that grants the right."""
        if self.queue:
            remedy = (
                "The owner of the queue or an administrator grants it with "
                f"`openmsmq queue grant '.\\{self.holder}' {principal} {' '.join(self.rights)}`."
            )
        else:
            remedy = (
                "An administrator of the queue manager grants it with "
                f"`openmsmq machine grant {principal} {' '.join(self.rights)}`."
            )
        return AccessDenied(
            self._text(principal), cause="The right has not been granted.", remedy=remedy
        )

    def _text(self, who: str) -> str:
        what = f"the right{'s' * (len(self.rights) > 1)} {' and '.join(self.rights)}"
        return f"{who} needs {what} on {self.queue or 'the queue manager'}"
