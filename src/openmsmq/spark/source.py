"""The data source `msmq`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import (
    CaseInsensitiveDict,
    DataSource,
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
)
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from openmsmq.spark.options.records import ReadOptions, WriteOptions, check_options
from openmsmq.spark.readers.batch_reader import BatchReader
from openmsmq.spark.readers.stream_reader import StreamReader
from openmsmq.wire.errors import ConfigError

from .columns import check_schema, message_schema

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


class MsmqDataSource(DataSource):
    """Messages of queues as rows, and rows as messages; `spark.read.format("msmq")`."""

    def __init__(self, options: Mapping[str, str]) -> None:
        """Check the options that are common to reading and writing.

        Raises:
            ConfigError: an option is invalid; the text names it and the allowed values.
        """
        check_options(options)
        super().__init__(CaseInsensitiveDict(options))

    @classmethod
    def name(cls) -> str:
        """The name for `format`."""
        return "msmq"

    def schema(self) -> "StructType":
        """The columns of a message, for the options `include` and `bodyFormat`."""
        options = ReadOptions.parse(self.options)
        arrow = message_schema(options.include, body_format=options.body_format)
        return from_arrow_schema(arrow, prefer_timestamp_ntz=False)

    def reader(self, schema: "StructType") -> BatchReader:
        """A batch read with the columns of `schema`."""
        options = ReadOptions.parse(self.options)
        return BatchReader(options, _arrow_schema(schema, options))

    def streamReader(self, schema: "StructType") -> StreamReader:  # noqa: N802 - Spark's name
        """A stream with the columns of `schema`."""
        options = ReadOptions.parse(self.options)
        return StreamReader(options, _arrow_schema(schema, options))

    def writer(self, schema: "StructType", overwrite: bool) -> DataSourceArrowWriter:  # noqa: FBT001 - Spark's signature
        """A batch write."""
        from openmsmq.spark.writers.writer import BatchWriter

        return BatchWriter(WriteOptions.parse(self.options), schema, overwrite=overwrite)

    def streamWriter(  # noqa: N802 - Spark's name
        self,
        schema: "StructType",
        overwrite: bool,  # noqa: FBT001 - Spark's signature
    ) -> DataSourceStreamArrowWriter:
        """A stream's sink."""
        from openmsmq.spark.writers.writer import StreamWriter

        return StreamWriter(WriteOptions.parse(self.options), schema, overwrite=overwrite)


def _arrow_schema(schema: "StructType", options: ReadOptions) -> pa.Schema:
    """The schema in Arrow, if all its columns are those of a message.

    Raises:
        ConfigError: names the column.
    """
    arrow: Any = to_arrow_schema(schema, timezone="UTC")
    try:
        check_schema(pa.schema([(field.name, field.type) for field in arrow]), options.body_format)
    except ValueError as exc:
        raise ConfigError(str(exc)) from None
    return arrow
