"""What only a queue manager can do."""

from typing import Any, Final, NoReturn

from openmsmq.client.backend import not_available

_WHAT: Final = {
    "create_queue": "queues cannot be created",
    "delete_queue": "queues cannot be deleted",
    "stage": "messages cannot be sent",
}


class Unavailable:
    """Stands for `Management` and `RangeRequests`: every method says that it is not available."""

    def __init__(self, description: str) -> None:
        self._description = description

    # Any: the arguments of any method.
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def refuse(*_args: Any, **_options: Any) -> NoReturn:
            what = _WHAT.get(name, "queues cannot be managed, and ranges cannot be read")
            raise not_available(what, self._description)

        return refuse
