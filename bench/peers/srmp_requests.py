"""POSTs of durable messages in the form of Windows, with bodies of 1 KiB; needs no package."""

from typing import Final

BODY: Final = b"x" * 1024
GUID: Final = "caf195ea-615c-4264-ae08-11a4e60194c0"
URL: Final = "http://127.0.0.1/msmq/private$/orders"
TARGET: Final = "/msmq/private$/orders"

_ENVELOPE: Final = (
    '<se:Envelope xmlns:se="http://schemas.xmlsoap.org/soap/envelope/" '
    'xmlns="http://schemas.xmlsoap.org/srmp/"><se:Header>'
    '<path xmlns="http://schemas.xmlsoap.org/rp/" se:mustUnderstand="1">'
    "<action>MSMQ:order</action><to>{url}</to><id>uuid:{number}@{guid}</id></path>"
    '<properties se:mustUnderstand="1"><expiresAt>20380119T031407</expiresAt>'
    "<sentAt>20260101T000000</sentAt></properties>"
    '<services se:mustUnderstand="1"><durable/></services>'
    '<Msmq xmlns="msmq.namespace.xml"><Class>0</Class><Priority>3</Priority>'
    "<Correlation>AAAAAAAAAAAAAAAAAAAAAAAAAAA=</Correlation><App>0</App><BodyType>0</BodyType>"
    "<HashAlgorithm>32772</HashAlgorithm><SourceQmGuid>{guid}</SourceQmGuid>"
    "<TTrq>20380119T031407</TTrq></Msmq></se:Header><se:Body></se:Body></se:Envelope>"
)


def content(number: int) -> tuple[str, bytes]:
    """The value of Content-Type, and the content."""
    envelope = _ENVELOPE.format(url=URL, number=number, guid=GUID).encode()
    delimiter = f"--MSMQ - SOAP boundary, {number}"
    data = (
        f"{delimiter}\r\nContent-Type: text/xml; charset=UTF-8\r\n"
        f"Content-Length: {len(envelope)}\r\n\r\n".encode()
        + envelope
        + f"{delimiter}\r\nContent-Type: application/octet-stream\r\n"
        f"Content-Length: {len(BODY)}\r\nContent-Id: body@{GUID}\r\n\r\n".encode()
        + BODY
        + f"{delimiter}--\r\n".encode()
    )
    return f'multipart/related; boundary="{delimiter[2:]}"; type=text/xml', data


def request(number: int) -> bytes:
    """The whole request."""
    content_type, data = content(number)
    head = (
        f"POST {TARGET} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {content_type}\r\n"
        f'Content-Length: {len(data)}\r\nSOAPAction: "MSMQMessage"\r\n'
        "Proxy-Accept: NonInteractiveClient\r\n\r\n"
    )
    return head.encode() + data
