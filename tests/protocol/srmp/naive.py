"""A peer straight from [MC-MQSRM], without the code of the product: it posts, and it answers."""

from __future__ import annotations

import re
from base64 import b64encode
from datetime import UTC, datetime
from uuid import UUID

SOAP = "http://schemas.xmlsoap.org/soap/envelope/"
PEER = UUID("32221eda-9376-46df-b6ed-783091123831")
STREAM = 0x432B164300000006
# In the script of a host: it takes the request and never answers.
SILENT = -1


def date(utc: float) -> str:
    return datetime.fromtimestamp(utc, UTC).strftime("%Y%m%dT%H%M%S")


def envelope(
    to: str,
    *,
    utc: float,
    number: int = 1,
    guid: UUID = PEER,
    label: str = "naive",
    entries: str = "",
    msmq: str | None = "",
    message_class: int = 0,
    priority: int = 3,
    life: float = 86400.0,
) -> str:
    """An envelope; `entries` stand before <Msmq>, `msmq` inside of it, None leaves it out."""
    source = f"<SourceQmGuid>{guid}</SourceQmGuid>"
    ending = (
        ""
        if msmq is None
        else f'<Msmq xmlns="msmq.namespace.xml"><Class>{message_class}</Class>'
        f"<Priority>{priority}</Priority>{msmq}<BodyType>0</BodyType>"
        f"{source}<TTrq>{date(utc + life)}</TTrq></Msmq>"
    )
    expires = "20380119T031407" if msmq is not None else date(utc + life)
    return (
        f'<se:Envelope xmlns:se="{SOAP}" xmlns="http://schemas.xmlsoap.org/srmp/"><se:Header>'
        '<path xmlns="http://schemas.xmlsoap.org/rp/" se:mustUnderstand="1">'
        f"<action>MSMQ:{label}</action><to>{to}</to><id>uuid:{number}@{guid}</id></path>"
        f'<properties se:mustUnderstand="1"><expiresAt>{expires}</expiresAt>'
        f"<sentAt>{date(utc)}</sentAt></properties>"
        f"{entries}{ending}</se:Header><se:Body></se:Body></se:Envelope>"
    )


def services(*, durable: bool = False, delivery: str = "", commitment: str = "") -> str:
    inside = "<durable/>" * durable
    if delivery:
        sent_to = f"<sendTo>{delivery}</sendTo>"
        inside += f"<deliveryReceiptRequest>{sent_to}</deliveryReceiptRequest>"
    if commitment:
        inside += (
            f"<commitmentReceiptRequest><sendTo>{commitment}</sendTo>"
            "<positiveOnly/><negativeOnly/></commitmentReceiptRequest>"
        )
    return f'<services se:mustUnderstand="1">{inside}</services>'


def as_windows_writes(text: str) -> str:
    """An envelope with the elements of Windows: several such messages may be taken at once."""
    text = text.replace("<BodyType>", "<App>0</App><BodyType>")
    return text.replace("</BodyType>", "</BodyType><HashAlgorithm>0</HashAlgorithm>")


def stream(
    current: int,
    *,
    previous: int = 0,
    number: int = STREAM,
    receipts: str = "",
    guid: UUID = PEER,
) -> str:
    inside = f"<streamId>uid:{guid}\\{number}</streamId><current>{current}</current>"
    inside += f"<previous>{previous}</previous>" if previous else ""
    if receipts:
        inside += f"<start><sendReceiptsTo>{receipts}</sendReceiptsTo></start>"
    return f'{services(durable=True)}<stream se:mustUnderstand="1">{inside}</stream>'


def stream_receipt(last: int, *, number: int, guid: UUID) -> str:
    return (
        f"<streamReceipt><streamId>uid:{guid}\\{number}</streamId>"
        f"<lastOrdinal>{last}</lastOrdinal></streamReceipt>"
    )


def commitment_receipt(about: int, guid: UUID, decision: str, *, utc: float) -> str:
    return (
        f"<commitmentReceipt><decidedAt>{date(utc)}</decidedAt><decision>{decision}</decision>"
        f"<id>uuid:{about}@{guid}</id></commitmentReceipt>"
    )


def delivery_receipt(about: int, guid: UUID, *, utc: float) -> str:
    return (
        f"<deliveryReceipt><receivedAt>{date(utc)}</receivedAt>"
        f"<id>uuid:{about}@{guid}</id></deliveryReceipt>"
    )


def correlation(about: int, guid: UUID) -> str:
    raw = guid.bytes_le + about.to_bytes(4, "little")
    return f"<Correlation>{b64encode(raw).decode()}</Correlation>"


def post(
    text: str, body: bytes | None = b"body", *, target: str = "/msmq/private$/orders"
) -> bytes:
    """A request; without a body it is the bare envelope of a receipt."""
    raw = text.encode()
    if body is None:
        content, kind = raw, "text/xml"
    else:
        mark = b"--MSMQ - SOAP boundary, 7\r\n"
        content = (
            mark
            + b"Content-Type: text/xml; charset=UTF-8\r\nContent-Length: %d\r\n\r\n" % len(raw)
            + raw
            + mark
            + b"Content-Type: application/octet-stream\r\nContent-Length: %d\r\n" % len(body)
            + b"Content-Id: body@%s\r\n\r\n" % str(PEER).encode()
            + body
            + b"--MSMQ - SOAP boundary, 7--\r\n"
        )
        kind = 'multipart/related; boundary="MSMQ - SOAP boundary, 7"; type=text/xml'
    head = (
        f"POST {target} HTTP/1.1\r\nHost: beta\r\nContent-Type: {kind}\r\n"
        f'Content-Length: {len(content)}\r\nSOAPAction: "MSMQMessage"\r\n\r\n'
    )
    return head.encode() + content


def statuses(data: bytes) -> list[int]:
    """The statuses of responses."""
    return [int(text) for text in re.findall(rb"HTTP/1.1 (\d+) ", data)]


def value(text: str, element: str) -> str:
    """The text of the only element of this name; empty if there is none."""
    found = re.findall(rf"<{element}(?: [^>]*)?>([^<]*)</{element}>", text)
    assert len(found) < 2, (element, text)
    return found[0] if found else ""


class NaiveHost:
    """A host that takes requests, remembers them, and answers as it is told."""

    def __init__(self) -> None:
        self.envelopes: list[str] = []
        self.contents: list[bytes] = []
        self.targets: list[str] = []
        # Statuses of the next answers; then 200. None is no answer at all.
        self.script: list[int | None] = []
        self._data: dict[int, bytes] = {}

    def receive(self, connection: int, data: bytes) -> bytes | None:
        """The answers to what came; None closes the connection."""
        data = self._data.pop(connection, b"") + data
        answers = b""
        while b"\r\n\r\n" in data:
            head, _, rest = data.partition(b"\r\n\r\n")
            found = re.search(rb"Content-Length: (\d+)", head)
            assert found
            size = int(found[1])
            if len(rest) < size:
                break
            content, data = rest[:size], rest[size:]
            status = self.script.pop(0) if self.script else 200
            if status is None:
                return None
            if status == SILENT:
                continue
            self._keep(head, content)
            answers += b"HTTP/1.1 %d Status\r\nContent-Length: 0\r\n\r\n" % status
        self._data[connection] = data
        return answers

    def _keep(self, head: bytes, content: bytes) -> None:
        start = content.index(b"<se:Envelope")
        end = content.index(b"</se:Envelope>") + len(b"</se:Envelope>")
        self.envelopes.append(content[start:end].decode())
        self.contents.append(content)
        self.targets.append(head.split(b" ")[1].decode())

    def values(self, element: str) -> list[str]:
        """The value of an element in every request."""
        return [value(text, element) for text in self.envelopes]
