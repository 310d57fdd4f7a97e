"""The exceptions of openmsmq: one root, one class per kind of fault."""


class MsmqError(Exception):
    """Root of every error that openmsmq raises on purpose."""


class MalformedPacket(MsmqError):
    """Bytes that are not what the format asks for.

    Args:
        field: the field that does not fit, as `Structure.field`.
        offset: where the field starts, counted from the start of the buffer that was parsed.
        reason: what is wrong with it, for people.
    """

    def __init__(self, field: str, offset: int, reason: str) -> None:
        super().__init__(field, offset, reason)
        self.field = field
        self.offset = offset
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.field} at offset {self.offset}: {self.reason}"


class ProtocolViolation(MsmqError):
    """A well-formed packet that the protocol does not allow here."""


class ExplainedError(MsmqError):
    """An error that may know its cause and what to do about it.

    Args:
        detail: what happened.
        cause: the likely cause, as a sentence, where it is known.
        remedy: what to do about it, as a sentence; part of the text.
    """

    def __init__(self, detail: str = "", *, cause: str = "", remedy: str = "") -> None:
        super().__init__(f"{detail}. {remedy}" if remedy else detail)
        self.detail = detail
        self.cause = cause
        self.remedy = remedy


def file_fault(error: Exception) -> str:
    """Why a file cannot be used, for a text that names the file."""
    if isinstance(error, UnicodeDecodeError):
        return "is not UTF-8"
    return getattr(error, "strerror", None) or str(error)


class StoreError(ExplainedError):
    """The store cannot do what was asked; the text names file and offset."""


class ConfigError(ExplainedError):
    """A setting that cannot be used; the text names the key."""
