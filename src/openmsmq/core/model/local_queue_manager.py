"""LocalQueueManager: the attributes of this queue manager ([MS-MQDMPR] 3.1.1.1).

Queues, transactions and SequentialID are in `State`; all protocols see the one object here.
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from openmsmq.core.rows.tables import Table
from openmsmq.core.sites.site_collection import SiteReference
from openmsmq.directory.document import decode_object, encode_object
from openmsmq.directory.objects import (
    ConnectedNetwork,
    Enterprise,
    InternalCertificate,
    QueueManagerObject,
)
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import StoreError
from openmsmq.wire.security.sid import SID

if TYPE_CHECKING:
    from openmsmq.core.state import State

INITIALIZATION_RETRY_SECONDS: Final = 120
ROW_KEY: Final = b"local"
ROW_VERSION: Final = 1


class QueueManagerState(StrEnum):
    """QueueManagerState: full service only when Ready."""

    STOPPED = "Stopped"
    INITIALIZING = "Initializing"
    READY = "Ready"
    STOPPING = "Stopping"


class LocalQueueManager:
    """The attributes of the queue manager.

    `published` holds those that the directory may hold, too; it is always the same object. These
    and the persistent ones survive a restart; all others are reset.
    """

    __slots__ = (
        "connected_network_collection",
        "connection_active",
        "directory_integrated",
        "directory_offline",
        "directory_server_list",
        "enterprise_reference",
        "hardened_security",
        "in_routing_server_collection",
        "initialization_retry_timer_duration",
        "internal_certificate_collection",
        "last_domain",
        "machine_domain_id",
        "out_routing_server_collection",
        "published",
        "queue_manager_state",
        "site_collection",
        "srmp_http_support",
        "srmp_pgm_support",
        "throttled",
    )

    def __init__(self, published: QueueManagerObject, *, directory_integrated: bool) -> None:
        self.published = published
        # Persistent.
        self.last_domain: UUID | None = None
        self.directory_server_list: tuple[str, ...] = ()
        self.directory_integrated = directory_integrated
        self.srmp_http_support = False
        self.srmp_pgm_support = False
        self.hardened_security = False
        self.initialization_retry_timer_duration = INITIALIZATION_RETRY_SECONDS
        # Volatile.
        self.machine_domain_id: UUID | None = None
        self.directory_offline = False
        self.throttled = False
        self.connection_active = True
        self.queue_manager_state = QueueManagerState.STOPPED
        self.enterprise_reference: Enterprise | None = None
        self.site_collection: dict[UUID, SiteReference] = {}
        self.connected_network_collection: dict[UUID, ConnectedNetwork] = {}
        self.out_routing_server_collection: dict[UUID, QueueManagerObject] = {}
        self.in_routing_server_collection: dict[UUID, QueueManagerObject] = {}
        self.internal_certificate_collection: dict[SID, InternalCertificate] = {}

    @property
    def identifier(self) -> UUID:
        return self.published.identifier

    @property
    def serves(self) -> bool:
        """Whether the queue manager serves requests."""
        return self.queue_manager_state is QueueManagerState.READY

    def require_service(self) -> None:
        """Refuse everything while the queue manager starts or stops.

        Raises:
            QueueError: MQ_ERROR_SERVICE_NOT_AVAILABLE.
        """
        if not self.serves:
            reason = f"the queue manager is {self.queue_manager_state}"
            raise QueueError(Hresult.MQ_ERROR_SERVICE_NOT_AVAILABLE, reason)

    def set_internal_certificate(self, user: SID, certificate: bytes | None) -> None:
        """Note the internal certificate of a user, in place of an older one; None for none."""
        if certificate is None:
            self.internal_certificate_collection.pop(user, None)
        else:
            self.internal_certificate_collection[user] = InternalCertificate(user, certificate)

    def serialize(self) -> bytes:
        """The directory and the persistent attributes, for the store."""
        return json.dumps(
            {
                "version": ROW_VERSION,
                "published": encode_object(self.published),
                "last_domain": None if self.last_domain is None else str(self.last_domain),
                "directory_server_list": list(self.directory_server_list),
                "directory_integrated": self.directory_integrated,
                "srmp_http_support": self.srmp_http_support,
                "srmp_pgm_support": self.srmp_pgm_support,
                "hardened_security": self.hardened_security,
                "initialization_retry_timer_duration": self.initialization_retry_timer_duration,
            }
        ).encode()

    @classmethod
    def restore(cls, row: bytes) -> LocalQueueManager:
        """The queue manager from the store.

        Raises:
            StoreError: the row is of a later version.
        """
        raw = json.loads(row)
        if raw["version"] != ROW_VERSION:
            raise StoreError(f"queue manager row of version {raw['version']}, not {ROW_VERSION}")
        published = decode_object(QueueManagerObject, raw["published"], "queue manager row")
        local = cls(published, directory_integrated=raw["directory_integrated"])
        local.last_domain = UUID(raw["last_domain"]) if raw["last_domain"] else None
        local.directory_server_list = tuple(raw["directory_server_list"])
        local.srmp_http_support = raw["srmp_http_support"]
        local.srmp_pgm_support = raw["srmp_pgm_support"]
        local.hardened_security = raw["hardened_security"]
        local.initialization_retry_timer_duration = raw["initialization_retry_timer_duration"]
        return local


def store_local(state: State) -> None:
    """Store the attributes that survive a restart."""
    state.outbox.batch.set_row(Table.MANAGER, ROW_KEY, state.local.serialize())
