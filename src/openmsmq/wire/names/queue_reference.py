"""What an application may give to say which queue it means: a path name or a format name."""

from typing import Final

from .format_name import FormatName, is_format_name, parse_format_name
from .path_name import PathName, parse_path_name

# .NET's MessageQueue.Path marks format names so.
_DOT_NET_PREFIX: Final = "FORMATNAME:"


def parse_queue_reference(text: str) -> PathName | FormatName:
    """Parse a path name or a format name, whichever it is.

    Raises:
        QueueError: MQ_ERROR_ILLEGAL_FORMATNAME or MQ_ERROR_ILLEGAL_QUEUE_PATHNAME, with what is
            wrong and where.
    """
    if text[: len(_DOT_NET_PREFIX)].upper() == _DOT_NET_PREFIX:
        return parse_format_name(text[len(_DOT_NET_PREFIX) :])
    return parse_format_name(text) if is_format_name(text) else parse_path_name(text)
