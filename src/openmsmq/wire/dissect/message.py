"""UserMessage as a tree: the codecs say where each header is and what it holds."""

from openmsmq.wire.checks import padded_end, require
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.message_properties_header import (
    MESSAGE_PROPERTIES,
    MessagePropertiesHeader,
    properties_layout,
)
from openmsmq.wire.message.transaction_header import TransactionHeader
from openmsmq.wire.message.user_header import USER_HEADER, UserHeaderFlags, check_address_types
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.queue_address import QueueAddress, address_end
from openmsmq.wire.packets.base_header import BASE_HEADER_SIZE, BaseHeader
from openmsmq.wire.scalars import GUID_SIZE
from openmsmq.wire.wide_text import lenient_text

from .body import read_body, recognize
from .names import show_name
from .node import Node
from .security import read_security_header
from .summary import body_text, joined, known_ack, message_text, sequence_text
from .trailing import read_extension_headers, read_trailing_headers
from .user_tables import ADDRESSES, PROPERTIES, TRANSACTION, USER
from .values import guid_text, show_guid


def read_user_message(root: Node, buf: memoryview, base: BaseHeader) -> bool:
    """Fill the tree of a UserMessage from its UserHeader on; `buf` ends with the packet.

    Return whether the SessionHeader was inside the packet, as only in a remote read.
    """
    message: UserMessage | None = None
    fault: MalformedPacket | None = None
    try:
        message = UserMessage(bytes(buf))
    except MalformedPacket as exc:
        fault = exc
    try:
        offset = _read_headers(root, buf, base.flags, message)
        # What reading header by header does not notice, like a wrong PacketSize.
        if fault is not None:
            raise fault
        return read_extension_headers(root, buf, offset, base.flags)
    finally:
        if message is None:
            root.meaning = _partial_text(root)
        else:
            root.meaning = message_text(message, known_ack(message))


def _read_headers(root: Node, buf: memoryview, base_flags: int, message: UserMessage | None) -> int:
    """Append all headers that the flags announce; return where the last one ends."""
    flags, offset = _read_user_header(root, buf)
    if flags & UserHeaderFlags.TH:
        offset = _read_transaction_header(root, buf, offset)
    if flags & UserHeaderFlags.SH:
        offset = read_security_header(root, buf, offset)
    if not flags & UserHeaderFlags.MP:
        return offset
    offset = _read_properties(root, buf, offset, message)
    return read_trailing_headers(root, buf, offset, base_flags, flags)


def _partial_text(root: Node) -> str:
    """The line of a malformed message, as far as its parts are known."""
    user = root.find("UserHeader") or root
    transaction = root.find("TransactionHeader") or root
    properties = root.find("MessagePropertiesHeader") or root
    number = _number(transaction, "TxSequenceNumber")
    previous = _number(transaction, "PreviousTxSequenceNumber")
    size, source = _number(properties, "MessageSize"), _text(user, "SourceQueueManager")
    return joined(
        destination=_text(user, "DestinationQueue"),
        label=_text(properties, "Label"),
        class_name=_meaning(properties, "MessageClass").partition(":")[0],
        body="" if size is None else body_text(size, _meaning(properties, "BodyType")),
        delivery=_meaning(user, "Flags", "DM")
        if number is None or previous is None
        else sequence_text(number, previous),
        acknowledged="",
        identifier=source and f"{source}\\{_text(user, 'MessageID')}",
    )


def _number(node: Node, name: str) -> int | None:
    field = node.find(name)
    return field.value if field is not None and isinstance(field.value, int) else None


def _text(node: Node, *names: str) -> str:
    field = node.find(*names)
    return "" if field is None or field.value is None else str(field.value)


def _meaning(node: Node, *names: str) -> str:
    field = node.find(*names)
    return "" if field is None else field.meaning


def _read_user_header(root: Node, buf: memoryview) -> tuple[int, int]:
    """Append the UserHeader; return its flags and where it ends."""
    start = BASE_HEADER_SIZE
    node = root.add("UserHeader", start, len(buf) - start)
    offset = USER.read(node, buf, start)
    flags: int = USER_HEADER.unpack_from(buf, start)[-1]
    check_address_types(flags, offset - 4)
    known = 0
    for index, (name, shift) in enumerate(ADDRESSES):
        child = node.add(name, offset, len(buf) - offset)
        end = _address_end(buf, offset, flags >> shift & 7, name)
        child.size = end - offset
        offset, known = end, known | 7 << shift
        _show_address(child, _resolved(buf, flags & known, offset)[index])
    if flags & UserHeaderFlags.CQ:
        end = require(buf, offset, GUID_SIZE, "UserHeader.ConnectorType")
        node.add("ConnectorType", offset, GUID_SIZE, *show_guid(bytes(buf[offset:end])))
        offset = end
    node.size = offset - start
    return flags, offset


def _address_end(buf: memoryview, offset: int, address_type: int, name: str) -> int:
    """Where an address ends; a fault in it is told with the name of the address."""
    try:
        return address_end(buf, offset, address_type, BASE_HEADER_SIZE)
    except MalformedPacket as exc:
        part = exc.field.partition(".")[2]
        field = f"UserHeader.{name}.{part}" if part else f"UserHeader.{name}"
        raise MalformedPacket(field, exc.offset, exc.reason) from exc


def _resolved(buf: memoryview, flags: int, end: int) -> tuple[QueueAddress | None, ...]:
    """The three addresses with the GUIDs that they take from elsewhere.

    Read from a message with the addresses in `flags` and nothing else: the rest may be damaged.
    """
    fixed = USER_HEADER.unpack_from(buf, BASE_HEADER_SIZE)[:-1]
    # A plain number: an enum keeps every combination of flags that it has ever made.
    header = USER_HEADER.pack(*fixed, flags | int(UserHeaderFlags.MP))
    addresses = bytes(buf[BASE_HEADER_SIZE + len(header) : end])
    rest = header + addresses + MessagePropertiesHeader().serialize()
    message = UserMessage(BaseHeader(0, BASE_HEADER_SIZE + len(rest)).serialize() + rest)
    return message.destination_queue, message.admin_queue, message.response_queue


def _show_address(node: Node, address: QueueAddress | None) -> None:
    """An address as a format name; an invalid one is a fault, and the rest is still read."""
    if address is None:
        node.meaning = "none"
        return
    node.value, fault = show_name(address)
    if fault:
        node.fault = MalformedPacket(f"UserHeader.{node.name}", node.offset, fault)


def _read_transaction_header(root: Node, buf: memoryview, offset: int) -> int:
    node = root.add("TransactionHeader", offset, len(buf) - offset)
    fixed_end = TRANSACTION.read(node, buf, offset)
    header, end = TransactionHeader.parse(buf, offset)
    if header.connector_qm_guid is not None:
        value = guid_text(header.connector_qm_guid)
        node.add("ConnectorQMGuid", fixed_end, end - fixed_end, value)
    node.size = end - offset
    return end


def _read_properties(root: Node, buf: memoryview, offset: int, message: UserMessage | None) -> int:
    """Append the MessagePropertiesHeader with the body; return where the next header starts."""
    start = offset
    node = root.add("MessagePropertiesHeader", start, len(buf) - start)
    offset = PROPERTIES.read(node, buf, start)
    fields = MESSAGE_PROPERTIES.unpack_from(buf, start)
    label_size, extension_size, body_size = 2 * fields[1], fields[-1], fields[6]
    if message is not None:
        body_size = message.body_end - message.body_offset
    # Of parts that do not fit, what is there is shown before the fault.
    raw = bytes(buf[offset : offset + label_size])
    if raw:
        node.add("Label", offset, len(raw), lenient_text(raw))
    offset += label_size
    raw = bytes(buf[offset : offset + extension_size])
    if raw:
        node.add("ExtensionData", offset, len(raw), raw)
    offset += extension_size
    raw = bytes(buf[offset : offset + body_size])
    if raw:
        body = node.add("MessageBody", offset, len(raw))
        root.name = read_body(body, raw, fields[4], message)
    elif message is not None:
        recognize(offset, message)
    body_end = properties_layout(buf, start)[2]
    if message is None:
        end = padded_end(buf, 0, body_end)
    else:
        end = min((at for at in (message.trailing or ()) if at), default=message.end)
    if end > offset + body_size:
        node.add("Padding", offset + body_size, end - offset - body_size)
    node.size = end - start
    return end
