"""The wire form of a message: the content of its POST ([MC-MQSRM] 3.1.7.2.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.wire.message.user_header import UserHeaderFlags
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.direct_format_name import DirectFormatName, DirectProtocol
from openmsmq.wire.names.queue_address_names import format_name_of
from openmsmq.wire.srmp.request_templates import RequestTemplates
from openmsmq.wire.srmp.sending import forwarded_request

from .receipts import receipts_url

if TYPE_CHECKING:
    from openmsmq.core.queue_manager import QueueManager
    from openmsmq.wire.names.queue_address import QueueAddress
    from openmsmq.wire.srmp import Content

    from .settings import SrmpSettings
    from .transfer import Transfer

_AH: Final = int(UserHeaderFlags.AH)
_SPELLINGS: Final = {False: "stream", True: "Stream"}


class OutgoingRequests:
    """Writes messages of outgoing queues.

    Attributes:
        http_host, https_host: this machine in URLs, as others reach it; empty for its name.
    """

    __slots__ = ("_manager", "_settings", "_templates", "http_host", "https_host")

    def __init__(self, manager: QueueManager, settings: SrmpSettings) -> None:
        self._manager = manager
        self._settings = settings
        self._templates = RequestTemplates()
        self.http_host = settings.http_host
        self.https_host = settings.https_host

    def write(self, transfer: Transfer, packet: bytes) -> Content:
        """The content of the request for a message.

        Raises:
            ValueError: the message cannot be sent by SRMP.
        """
        again = self._templates.write_again(packet)
        if again is not None:
            return again
        message = UserMessage(packet)
        source = message.source_queue_manager
        # [MC-MQSRM] 3.1.5.1.3: a forwarded message keeps the envelope of its source.
        if message.flags & _AH and source != self._manager.identifier:
            return forwarded_request(message)
        first = message.transactional and message.tx_sequence_number == 1
        return self._templates.write(
            message,
            number=message.message_id,
            admin_url=self._url_of(message.admin_queue, transfer),
            send_receipts_to=self._receipts_to(transfer) if first else "",
            stream_element=_SPELLINGS[self._settings.capital_stream],
        )

    def _receipts_to(self, transfer: Transfer) -> str:
        """The destination of receipts of a stream."""
        # [MC-MQSRM] 3.1.7.2.4: an administrator may configure another URL.
        replaced = self._manager.redirections.receipts(transfer.url)
        if replaced:
            return replaced
        token = self._manager.outgoing.receipt_token(transfer.queue)
        return receipts_url(transfer.name.protocol.lower(), self._host(transfer), token)

    def _host(self, transfer: Transfer) -> str:
        """The host of this machine for the peer."""
        secure = transfer.name.protocol is DirectProtocol.HTTPS
        host = self.https_host if secure else self.http_host
        return host or self._manager.name

    def _url_of(self, address: QueueAddress | None, transfer: Transfer) -> str:
        """The URL of an administration queue on this machine; empty if it has one already."""
        if address is None:
            return ""
        name = format_name_of(address)
        if isinstance(name, DirectFormatName) and name.is_web:
            return ""
        path = self._manager.outgoing.local_path(name)
        if not path:
            return ""
        scheme = transfer.name.protocol.lower()
        queue = path.replace("\\", "/")
        return f"{scheme}://{self._host(transfer)}/msmq/{queue}"
