"""Envelopes as text, with parts that tests replace."""

from typing import Final

from openmsmq.wire.srmp import Envelope
from openmsmq.wire.srmp.reader import read_any_envelope

SOAP: Final = "http://schemas.xmlsoap.org/soap/envelope/"
GUID: Final = "caf195ea-615c-4264-ae08-11a4e60194c0"
PATH: Final = (
    '<path xmlns="http://schemas.xmlsoap.org/rp/" se:mustUnderstand="1"><action>MSMQ:a</action>'
    f"<to>http://host/msmq/q</to><id>uuid:7@{GUID}</id></path>"
)
PROPERTIES: Final = (
    "<properties><expiresAt>20380119T031407</expiresAt>"
    "<sentAt>20070719T031140</sentAt></properties>"
)
MSMQ: Final = (
    '<Msmq xmlns="msmq.namespace.xml"><Class>0</Class><Priority>3</Priority>'
    f"<BodyType>0</BodyType><SourceQmGuid>{GUID}</SourceQmGuid>"
    "<TTrq>20070723T031140</TTrq></Msmq>"
)
STREAM: Final = (
    f"<stream><streamId>uid:{GUID}\\4839986701558349830</streamId><current>2</current></stream>"
)
BODY: Final = "<se:Body></se:Body>"


def envelope_text(*entries: str, body: str = BODY) -> str:
    """An envelope with these header entries."""
    return (
        f'<se:Envelope xmlns:se="{SOAP}" xmlns="http://schemas.xmlsoap.org/srmp/">'
        f"<se:Header>{''.join(entries)}</se:Header>{body}</se:Envelope>"
    )


def read(*entries: str, body: str = BODY) -> Envelope:
    """What an envelope with these header entries says."""
    return read_any_envelope(envelope_text(*entries, body=body).encode())
