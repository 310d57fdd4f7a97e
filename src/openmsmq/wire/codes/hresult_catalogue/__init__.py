"""The catalogue of result codes: text, likely cause and remedy, for log, API and command line."""

from typing import Final

from openmsmq.wire.codes.hresult import CUSTOMER_BIT, Hresult

from .directory import DIRECTORY
from .entry import Explanation
from .properties import PROPERTIES
from .queues import QUEUES
from .security import SECURITY

__all__ = ["CATALOGUE", "Explanation", "explain"]

CATALOGUE: Final[dict[Hresult, Explanation]] = QUEUES | PROPERTIES | SECURITY | DIRECTORY

_BY_NUMBER: Final[dict[int, Explanation]] = {int(code): e for code, e in CATALOGUE.items()}

_PRIVATE: Final = Explanation(
    "A result code that is private to the program that returned it.",
    "The customer bit is set: the code is not one of Message Queuing's.",
    "Look the code up in the documentation of that program.",
)
_FOREIGN: Final = Explanation(
    "A result code that does not belong to Message Queuing.",
    "A lower layer failed, such as RPC, the network or the operating system.",
    "Look the code up among the HRESULTs of that layer, and in the log of that machine.",
)


def explain(code: int) -> Explanation:
    """The entry of a code; a code that is not published gets an answer of its kind."""
    # [MS-MQDMPR] 1.8: the customer bit marks codes that vendors define.
    return _BY_NUMBER.get(code) or (_PRIVATE if code & CUSTOMER_BIT else _FOREIGN)
