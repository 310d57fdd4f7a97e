"""Times from Spark, in UTC."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_START: Final = datetime(1970, 1, 1, tzinfo=UTC)


def collect_utc(frame: "DataFrame") -> list[dict[str, Any]]:
    """All rows, with their moments in UTC.

    `collect` alone gives moments without a zone, in that of this machine, whatever the zone of the
    session is; in the night when clocks are set back, they are ambiguous.
    """
    from pyspark.sql import functions as f

    moments = [name for name, kind in frame.dtypes if kind == "timestamp"]
    rows = frame.withColumns({name: f.unix_micros(name) for name in moments}).collect()
    return [_in_utc(row.asDict(), moments) for row in rows]


def _in_utc(row: dict[str, Any], moments: list[str]) -> dict[str, Any]:
    for name in moments:
        if row[name] is not None:
            row[name] = _START + timedelta(microseconds=row[name])
    return row
