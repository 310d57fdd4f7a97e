"""Requests about the keys of the queue manager: list, replace, export to other workgroups."""

import asyncio
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from openmsmq.protocol.local.deferred import Deferred
from openmsmq.service.host import Host
from openmsmq.service.logs import KEYS_NOT_PUBLISHED, KEYS_ROTATED, log_event
from openmsmq.service.machine_keys import MachineKeys
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import ConfigError


class KeyRequests:
    """Answers requests about keys; creating them is slow and runs in a thread."""

    def __init__(self, keys: MachineKeys, host: Host) -> None:
        self._keys = keys
        self._host = host
        self._tasks: set[asyncio.Task[None]] = set()

    def listed(self) -> list[dict[str, Any]]:
        """All keys that can decrypt."""
        return [asdict(key) for key in self._keys.listed()]

    def rotate(self, answer: Deferred) -> None:
        """Create new keys and publish them, and answer with all that can decrypt."""
        self._start(self._keys.rotate, lambda: self._rotated(answer), answer)

    def export(self, answer: Deferred) -> None:
        """Answer with the public keys, which are created if there are none."""

        def make() -> None:
            for provider in self._keys.providers:
                self._keys.exchange_key(provider)
                self._keys.signing_key(provider)

        self._start(make, lambda: self._exported(answer), answer)

    def cancel(self) -> None:
        """Cancel requests in progress; keys that were created stay."""
        for task in self._tasks:
            task.cancel()

    def _start(
        self, work: Callable[[], None], finish: Callable[[], None], answer: Deferred
    ) -> None:
        task = asyncio.get_running_loop().create_task(self._run(work, finish, answer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(
        self, work: Callable[[], None], finish: Callable[[], None], answer: Deferred
    ) -> None:
        try:
            await asyncio.to_thread(work)
        except ConfigError as exc:
            answer.fail(QueueError(Hresult.MQ_ERROR_CANNOT_CREATE_CERT_STORE, str(exc)))
        else:
            self._host.tick()
            finish()
        self._host.wake()

    def _publish(self) -> str:
        keys = self._keys
        fault = self._host.manager.publish_keys(keys, keys.providers)
        if not self._host.manager.directory_integrated:
            return ""
        if fault:
            log_event(KEYS_NOT_PUBLISHED, reason=fault)
        return fault

    def _rotated(self, answer: Deferred) -> None:
        log_event(KEYS_ROTATED, count=len(self._keys.providers))
        fault = self._publish()
        if fault:
            answer.fail(
                QueueError(
                    Hresult.MQ_ERROR_DS_ERROR,
                    f"new keys are in use, but the directory does not have them: {fault}",
                    remedy="Restart the queue manager when the directory is there again.",
                )
            )
        else:
            answer.done(self.listed())

    def _exported(self, answer: Deferred) -> None:
        self._publish()
        answer.done(self._host.manager.management.identities.own_public_keys())
