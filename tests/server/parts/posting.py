"""Messages that a program without MSMQ posts."""

import http.client
import ssl
from datetime import UTC, datetime
from uuid import uuid4

ENVELOPE = (
    '<se:Envelope xmlns:se="http://schemas.xmlsoap.org/soap/envelope/" '
    'xmlns="http://schemas.xmlsoap.org/srmp/"><se:Header>'
    '<path xmlns="http://schemas.xmlsoap.org/rp/" se:mustUnderstand="1">'
    "<action>MSMQ:{label}</action><to>{url}</to><id>uuid:1@{guid}</id></path>"
    '<properties se:mustUnderstand="1"><expiresAt>20380119T031407</expiresAt>'
    "<sentAt>{sent}</sentAt></properties>{services}</se:Header><se:Body></se:Body></se:Envelope>"
)


def content(url: str, body: bytes, *, label: str = "posted", services: str = "") -> bytes:
    """The content of a request, with the boundary `part`."""
    sent = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    envelope = ENVELOPE.format(
        url=url, guid=uuid4(), sent=sent, label=label, services=services
    ).encode()
    return b"".join(
        (
            b"--part\r\nContent-Type: text/xml; charset=UTF-8\r\n",
            b"Content-Length: %d\r\n\r\n%b" % (len(envelope), envelope),
            b"--part\r\nContent-Type: application/octet-stream\r\n",
            b"Content-Length: %d\r\nContent-Id: body@1\r\n\r\n%b" % (len(body), body),
            b"--part--\r\n",
        )
    )


def post_message(
    endpoint: str,
    queue: str,
    body: bytes,
    *,
    tls: ssl.SSLContext | None = None,
    services: str = "",
) -> int:
    """Post a message to a private queue of a queue manager; returns the status."""
    scheme = "http" if tls is None else "https"
    url = f"{scheme}://{endpoint}/msmq/private$/{queue}"
    connection: http.client.HTTPConnection
    if tls is None:
        connection = http.client.HTTPConnection(endpoint, timeout=20)
    else:
        connection = http.client.HTTPSConnection(endpoint, timeout=20, context=tls)
    try:
        connection.request(
            "POST",
            f"/msmq/private$/{queue}",
            content(url, body, services=services),
            {"Content-Type": "multipart/related; boundary=part; type=text/xml"},
        )
        return connection.getresponse().status
    finally:
        connection.close()
