"""`Message`: what a program sends."""

from datetime import timedelta
from typing import Any, Final, Self
from uuid import UUID

import msgspec

from openmsmq.wire.bodies import EncodableValue, XmlValue, encode_body, encode_xml
from openmsmq.wire.codes.message_enums import Acknowledgment, Delivery, PrivacyLevel
from openmsmq.wire.limits import DEFAULT_TIME_TO_REACH_QUEUE
from openmsmq.wire.scalars import MESSAGE_IDENTIFIER_SIZE, MessageIdentifier

from .certificates import SigningKey

ACKNOWLEDGE_WORDS: Final[dict[str, int]] = {
    "none": Acknowledgment.NONE,
    "arrival": Acknowledgment.FULL_REACH_QUEUE,
    "receive": Acknowledgment.FULL_RECEIVE,
    "full": Acknowledgment.FULL_REACH_QUEUE | Acknowledgment.FULL_RECEIVE,
    "positive-arrival": Acknowledgment.POS_ARRIVAL,
    "positive-receive": Acknowledgment.POS_RECEIVE,
    "negative-arrival": Acknowledgment.NACK_REACH_QUEUE,
    "negative-receive": Acknowledgment.NACK_RECEIVE,
}
PRIVACY_WORDS: Final = {
    "aes": PrivacyLevel.BODY_AES,
    "enhanced": PrivacyLevel.BODY_ENHANCED,
    "base": PrivacyLevel.BODY_BASE,
}
DELIVERY_WORDS: Final = {"express": Delivery.EXPRESS, "recoverable": Delivery.RECOVERABLE}
NO_CORRELATION: Final = bytes(MESSAGE_IDENTIFIER_SIZE)
_SHOWN_CHARACTERS: Final = 60


class _Content(msgspec.Struct, gc=False):
    """What may be given by position."""

    body: EncodableValue = b""
    label: str = ""


class Message(_Content, kw_only=True, gc=False):
    """A message to send.

    Args:
        body: `bytes` go out as they are with body type 0, `str` as UTF-16 text (VT_BSTR); numbers,
            dates and others as the type that COM and .NET programs expect.
        label: up to 249 characters.
        body_type: VT_* code for a body of bytes that are already encoded.
        priority: 0 to 7; a transactional message always has 0.
        delivery: "express" (memory) or "recoverable" (disk); transactional ones are recoverable.
        time_to_reach_queue: seconds or a timedelta until it must be in its queue, None for ever;
            fractions of a second are rounded up.
        time_to_be_received: the same until it must be received.
        acknowledge: words such as "arrival", "receive", "full" (comma-separated), or the flags.
        admin_queue: where acknowledgments go; a path name or a format name.
        response_queue: where the receiver should answer.
        correlation_id: id of the message that this one belongs to (`{guid}\\ordinal`, or 20 bytes).
        app_specific: a number for the application.
        extension: bytes beside the body.
        journal: keep a copy in the sender's journal.
        dead_letter: keep it in a dead-letter queue if it cannot be delivered or is not read.
        trace_queue: GUID of the public queue that gets reports of the way it takes.
        soap_header: XML elements for the header of its SOAP envelope over HTTP and multicast.
        soap_body: XML for the body of that envelope.
        class_: message class; other than 0 only for programs that send reports.
        sign: True, or the version of the signature: "1.0", "2.0" (the default for one queue),
            "3.0" (that for several), or "xml" (the only one for HTTP and multicast).
        certificate: to sign with: its name or digest in `openmsmq key list`, or a `SigningKey`;
            None for the one that is valid longest.
        hash_algorithm: of the signature: "sha512", "sha256", "sha1" or "md5"; SHA-1 for HTTP.
        encrypt: True or "aes", "enhanced", "base": its body travels encrypted, with the strongest
            cipher that the destination has a key for and at least that one. It needs a PUBLIC= or
            PRIVATE= name.
    """

    # A struct, because a program makes one for every message: it costs a quarter of a class.
    body_type: int | None = None
    priority: int = 3
    delivery: str = "express"
    time_to_reach_queue: float | timedelta | None = DEFAULT_TIME_TO_REACH_QUEUE
    time_to_be_received: float | timedelta | None = None
    acknowledge: str | int = 0
    admin_queue: str | None = None
    response_queue: str | None = None
    correlation_id: str | bytes | None = None
    app_specific: int = 0
    extension: bytes = b""
    journal: bool = False
    dead_letter: bool = False
    trace_queue: str | UUID | None = None
    soap_header: str = ""
    soap_body: str = ""
    class_: int = 0
    sign: bool | str = False
    certificate: str | SigningKey | None = None
    hash_algorithm: str = "sha512"
    encrypt: bool | str = False

    def __repr__(self) -> str:
        return f"Message(label={self.label!r}, body={shown(self.body)})"

    @classmethod
    def json(cls, value: object, label: str = "", **properties: Any) -> Self:
        """A message whose body is JSON: UTF-8 with body type 0.

        Args:
            value: dicts, lists, texts, numbers and None; also dates, GUIDs, decimals and records.
            label: up to 249 characters.
            properties: as above; `Any`, because each has its own type.

        Raises:
            TypeError: JSON has nothing for a value in it.
        """
        return cls(msgspec.json.encode(value), label, **properties)

    @classmethod
    def xml(cls, value: XmlValue, label: str = "", **properties: Any) -> Self:
        """A message for a .NET program that reads a simple value with XmlMessageFormatter.

        Args:
            value: text, bytes, a truth value, a number, a date or a GUID.
            label: up to 249 characters.
            properties: as above; `Any`, because each has its own type.

        Raises:
            ValueError: XML cannot hold the text, or 64 bits the number.
            TypeError: it is no simple value.
        """
        return cls(encode_xml(value), label, **properties)

    def encoded_body(self) -> tuple[bytes, int]:
        """The bytes of the body and their VT_* type.

        Raises:
            TypeError: there is no type for such a body.
            ValueError: the value does not fit any type.
        """
        try:
            body, body_type = encode_body(self.body)
        except TypeError as exc:
            if isinstance(self.body, dict | list | tuple):
                raise TypeError(f"{exc}; json.dumps it, or use Message.json(...)") from None
            raise
        if self.body_type is not None and isinstance(self.body, bytes | bytearray | memoryview):
            body_type = self.body_type
        return body, body_type


def acknowledge_flags(words: str | int) -> int:
    """Flags for words such as "arrival,receive".

    Raises:
        ValueError: an unknown word; the text lists the known ones.
    """
    if isinstance(words, int):
        return words
    flags = 0
    for word in words.split(","):
        if word.strip() not in ACKNOWLEDGE_WORDS:
            raise ValueError(f"acknowledge: {word!r} must be one of {', '.join(ACKNOWLEDGE_WORDS)}")
        flags |= ACKNOWLEDGE_WORDS[word.strip()]
    return flags


def privacy_level(message: Message) -> PrivacyLevel:
    """PrivacyLevel for a word such as "aes", which True stands for.

    Raises:
        ValueError: an unknown word; the text lists the known ones.
    """
    encrypt = message.encrypt
    if encrypt is False:
        return PrivacyLevel.NONE
    level = PRIVACY_WORDS.get("aes" if encrypt is True else encrypt)
    if level is None:
        raise ValueError(f"encrypt: {encrypt!r} must be one of {', '.join(PRIVACY_WORDS)}")
    return level


def correlation_bytes(value: str | bytes) -> bytes:
    """The 20 bytes of a correlation id.

    Raises:
        ValueError: not a message id.
    """
    if isinstance(value, str):
        return MessageIdentifier.from_text(value).serialize()
    if len(value) != MESSAGE_IDENTIFIER_SIZE:
        raise ValueError(f"correlation_id: has {len(value)} bytes instead of 20")
    return value


def shown(body: object) -> str:
    """A body cut short for people."""
    text = repr(body)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[: _SHOWN_CHARACTERS - 3]}..."
