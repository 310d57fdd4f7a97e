"""Options of the data source, one frozen record for reading and one for writing.

Unknown names, invalid values and options that exclude each other raise `ConfigError`, which names
the option and the allowed values.
"""

from collections.abc import Mapping

from openmsmq.wire.errors import ConfigError

from .connection import CONNECTION, ConnectionOptions
from .names import read_values
from .reading import READ, ReadOptions, Where
from .writing import WRITABLE, WRITE, WriteOptions

__all__ = [
    "WRITABLE",
    "ConnectionOptions",
    "ReadOptions",
    "Where",
    "WriteOptions",
    "check_options",
]


def check_options(options: Mapping[str, str]) -> None:
    """What can be said before it is known whether somebody reads or writes.

    Raises:
        ConfigError: names the option and what is allowed.
    """
    read_values(options, CONNECTION | READ | WRITE)
    names = {name.lower() for name in options}
    for_reading = names & {name.lower() for name in READ.keys() - WRITE.keys()}
    for_writing = names & {name.lower() for name in WRITE.keys() - READ.keys()}
    if for_reading and for_writing:
        raise ConfigError(
            f"options {', '.join(sorted(for_reading))} are for reading, "
            f"{', '.join(sorted(for_writing))} for writing"
        )
    if for_reading:
        ReadOptions.parse(options)
    if for_writing:
        WriteOptions.parse(options)
