"""Endpoints of messages."""

from typing import Any, Final

from openmsmq.admin.api import message_records, messages, queues
from openmsmq.admin.api.endpoint import Endpoint, get, post

MESSAGE: Final = "/queues/{queue}/messages/{lookup_id}"
MESSAGES: Final[dict[str, Any]] = {"group": "Messages", "page": "/queues/{queue}"}
ENDPOINTS: Final[tuple[Endpoint, ...]] = (
    get(
        "/queues/{queue}/messages",
        "list_messages",
        messages.list_messages,
        message_records.MessageList,
        query=messages.BrowseQuery,
        command="peek",
        **MESSAGES,
    ),
    post(
        "/queues/{queue}/messages",
        "send_message",
        messages.send_message,
        messages.Sent,
        body=messages.MessageToSend,
        command="send",
        **MESSAGES,
    ),
    get(
        MESSAGE,
        "show_message",
        messages.show_message,
        message_records.WholeMessage,
        command="peek --lookup-id",
        **MESSAGES,
    ),
    get(
        MESSAGE + "/body",
        "message_body",
        messages.message_body,
        bytes,
        file="body-{lookup_id}.bin",
        bodies=True,
        command="peek --raw",
        **MESSAGES,
    ),
    get(
        MESSAGE + "/packet",
        "message_packet",
        messages.message_packet,
        bytes,
        file="message-{lookup_id}.bin",
        bodies=True,
        command="save",
        **MESSAGES,
    ),
    get(
        MESSAGE + "/fields",
        "dissect_message",
        messages.dissect_message,
        messages.PacketRecord,
        bodies=True,
        command="decode",
        **MESSAGES,
    ),
    post(
        MESSAGE + "/copy",
        "send_copy",
        messages.send_copy,
        messages.Sent,
        body=messages.CopyToSend,
        command="copy",
        **MESSAGES,
    ),
    post(
        "/queues/{queue}/receive",
        "receive_message",
        messages.receive_message,
        message_records.WholeMessage,
        command="receive",
        group="Messages",
        page="none: programs receive, people look",
    ),
    post(
        "/queues/{queue}/move",
        "move_messages",
        messages.move_messages,
        queues.Counted,
        body=messages.MessagesToMove,
        command="move",
        **MESSAGES,
    ),
    post(
        "/queues/{queue}/remove",
        "remove_messages",
        messages.remove_messages,
        queues.Counted,
        body=messages.MessagesToRemove,
        command="receive --lookup-id",
        **MESSAGES,
    ),
)
