# Written by `python -m tools.facade` from asynchronous/other_machines.py; change that, not this.
"""Queues of other machines beside those of a queue manager, read over RPC."""

from openmsmq.client.logic.manager import ManagerLogic
from openmsmq.client.logic.queue import QueueLogic
from openmsmq.client.properties import Access, Share
from openmsmq.client.remote.address import Logon, server_address

from .driver import Driver, new_lock


class OtherMachines:
    """Connections to servers of remote read; each is made when a queue there is first opened.

    Args:
        logon: who reads.
        timeout: seconds to wait for an answer of a server.
        reconnect: whether a lost connection is made again.
    """

    def __init__(self, logon: Logon, *, timeout: float | None, reconnect: bool) -> None:
        self._logon = logon
        self._timeout = timeout
        self._reconnect = reconnect
        self._drivers: dict[str, Driver] = {}
        self._opening = new_lock()

    def open_queue(
        self, host: str, name: str, access: Access, share: Share
    ) -> tuple[Driver, QueueLogic]:
        """Open a queue of a machine.

        Raises:
            ConnectionLost: no server of remote read answers there.
            ConfigError: the user has no password.
        """
        driver = self._driver(host.lower())
        logic = ManagerLogic(driver.backend)
        return driver, driver.call(logic.open_queue, name, access, share)

    def _driver(self, host: str) -> Driver:
        with self._opening:
            driver = self._drivers.get(host)
            if driver is not None and not driver.usable and not self._reconnect:
                del self._drivers[host]
                driver.close()
                driver = None
            if driver is None:
                address = self._logon.address(server_address(host))
                driver = Driver(address, timeout=self._timeout, reconnect=self._reconnect)
                driver.open_first(0.0)
                self._drivers[host] = driver
            return driver

    def flush(self) -> None:
        """Wait until every receive is final.

        Raises:
            QueueError: a message may come again.
        """
        for driver in list(self._drivers.values()):
            if driver.usable:
                driver.call(driver.backend.flush)

    def close(self) -> None:
        """Wait until every receive is final, and hang up.

        Raises:
            QueueError: a message may come again.
        """
        try:
            self.flush()
        finally:
            drivers, self._drivers = self._drivers, {}
            for driver in drivers.values():
                driver.close()
