"""The process around a queue manager, for sessions of the local protocol."""

from typing import Any
from uuid import UUID

from tests.security.accounts import FakeAccounts

from openmsmq.protocol.local.session import BackupDone
from openmsmq.security.caller import Caller
from openmsmq.wire.codes.queue_error import QueueError

TOKEN = "a long secret"


class FakeService:
    """The process around the queue manager, as far as requests see it."""

    def __init__(self, user: Caller) -> None:
        # Whom the token stands for.
        self._user = user
        self.accounts = FakeAccounts()
        self.identity = {"name": "QM", "guid": "{1}", "version": "1.2"}
        self.refusals: list[tuple[str, str, int, int]] = []
        self.transfers: dict[str, dict[str, Any]] = {}
        self.backups: list[tuple[str, BackupDone]] = []
        self._guids = 0

    def status(self) -> dict[str, Any]:
        return {"state": "Ready"}

    def backup(self, file: str, done: BackupDone) -> None:
        self.backups.append((file, done))

    def transfer_status(self, destination: str) -> dict[str, Any]:
        return self.transfers.get(destination, {})

    def authenticate(self, token: str) -> Caller | None:
        return self._user if token == TOKEN else None

    def new_guid(self) -> UUID:
        self._guids += 1
        return UUID(int=0xC0FFEE << 64 | self._guids)

    def refused(self, request: str, queue: str, messages: int, error: QueueError) -> None:
        self.refusals.append((request, queue, messages, error.code))
