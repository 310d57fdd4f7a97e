"""The table of endpoints, for routes, checks, the OpenAPI document, the reference and tests."""

from typing import Final

from .endpoint import Endpoint
from .tables import links, manager, messages, queues, work

PREFIX: Final = "/api/v1"
ENDPOINTS: Final[tuple[Endpoint, ...]] = (
    *manager.ENDPOINTS,
    *queues.ENDPOINTS,
    *messages.ENDPOINTS,
    *work.ENDPOINTS,
    *links.ENDPOINTS,
)

__all__ = ["ENDPOINTS", "PREFIX", "Endpoint"]
