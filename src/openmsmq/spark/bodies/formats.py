"""Bodies in DataFrames: their text, their schema by message type, and typed columns.

XML and JSON go through Spark's own functions. Objects of .NET and COM are never created.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as sql
from pyspark.sql.types import ArrayType, DataType, MapType, StringType, StructField, StructType

from openmsmq.spark.columns import BINARY, BODY_FORMATS, check_body_format

from .columns import body_columns
from .documents import JSON, NO_DOCUMENT, ROW, XML, Document, joined, read_document

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

MAX_SAMPLE_CHARACTERS: Final = 1 << 20
MAX_TYPE_CHARACTERS: Final = 8 << 20
ROOT: Final = "root"
DEFAULT_BY: Final = ("label", ROOT)
_TEXT: Final = "body_text"
_ERROR: Final = "decode_error"
_CORRUPT: Final = "_does_not_fit"
# Where Spark puts the text of an element without fields, and what it puts before attributes.
_VALUE: Final = "_VALUE"
_ATTRIBUTE: Final = "_"
_XML_OPTIONS: Final = {"ignoreNamespace": "true"}


@dataclass(frozen=True, slots=True)
class BodySchema:
    """What the bodies of one type of message look like.

    Attributes:
        by: what tells the type from others, such as its label and its root element.
        format: "xml", "json", "text" when the text has no structure, "binary" without a text.
        count: how many of the sample are of this type.
        schema: for `parse_bodies`; None without a structure.
    """

    by: dict[str, Any]
    format: str
    count: int
    schema: DataType | None


def with_body_text(df: "DataFrame", body_format: str = "auto") -> "DataFrame":
    """Add `body_text`, and `decode_error` where a body is not what the format asks for.

    A body that is encrypted, malformed or of another format leaves its row with an error.

    Args:
        df: messages with `body` and `body_type`.
        body_format: "text", "auto", "xml" or "json".

    Raises:
        ValueError: another format, or a column that is missing.
    """
    check_body_format(body_format)
    if body_format == BINARY:
        formats = ", ".join(name for name in BODY_FORMATS if name != BINARY)
        raise ValueError(f"bodyFormat: {body_format!r} makes no text; use one of {formats}")
    for name in ("body", "body_type"):
        if name not in df.columns:
            raise ValueError(f"df: has no column {name!r}")
    other_fields = [field for field in df.schema.fields if field.name not in (_TEXT, _ERROR)]
    added = [StructField(_TEXT, StringType()), StructField(_ERROR, StringType())]
    return df.mapInArrow(_text_adder(body_format), StructType(other_fields + added))


def _text_adder(body_format: str) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def add(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield _add_text(batch, body_format)

    return add


def _add_text(batch: pa.RecordBatch, body_format: str) -> pa.RecordBatch:
    bodies = batch["body"].cast(pa.binary())
    body_types = pc.fill_null(batch["body_type"], 0).to_numpy(zero_copy_only=False)
    encrypted = np.zeros(len(batch), np.bool_)
    if "encrypted" in batch.schema.names:
        encrypted = pc.fill_null(batch["encrypted"], fill_value=False).to_numpy(
            zero_copy_only=False
        )
    missing = bodies.is_null()
    texts, errors = body_columns(body_format, pc.fill_null(bodies, b""), body_types, encrypted)
    nothing = pa.scalar(None, pa.string())
    columns = {name: batch[name] for name in batch.schema.names if name not in (_TEXT, _ERROR)}
    columns[_TEXT] = pc.if_else(missing, nothing, texts)
    columns[_ERROR] = pc.if_else(missing, nothing, errors)
    if _ERROR in batch.schema.names:
        columns[_ERROR] = pc.coalesce(batch[_ERROR].cast(pa.string()), columns[_ERROR])
    return pa.RecordBatch.from_pydict(columns)


def parse_bodies(
    df: "DataFrame",
    schema: BodySchema | DataType | str,
    body_format: str | None = None,
    *,
    column: str = "value",
) -> "DataFrame":
    """Add a column with the bodies parsed by Spark's `from_xml` or `from_json`.

    A body that does not fit the schema leaves its row with `decode_error`; what could be read of
    it is there.

    Args:
        df: messages, as `with_body_text` takes them, or with `body_text` from there or from the
            data source.
        schema: what `infer_body_schema` found, a Spark type, or its DDL ("Id bigint, Name string").
        body_format: "xml" or "json"; needed unless the schema was inferred.
        column: the name of the new column.

    Raises:
        ValueError: a schema without a format, or one that does not go with it.
    """
    kind: DataType | str | None = schema.schema if isinstance(schema, BodySchema) else schema
    if body_format is None and isinstance(schema, BodySchema):
        body_format = schema.format
    if body_format not in (XML, JSON) or kind is None:
        raise ValueError(f"bodyFormat: {body_format!r} must be one of xml, json")
    if _TEXT not in df.columns:
        df = with_body_text(df, body_format)
    if _ERROR not in df.columns:
        df = df.withColumn(_ERROR, sql.lit(None).cast("string"))
    if isinstance(kind, str):
        kind = DataType.fromDDL(kind)
    value = _parsed(sql.col(_TEXT), kind, body_format)
    failed = sql.col(_TEXT).isNotNull() & sql.col(column).isNull()
    if isinstance(kind, StructType):
        failed |= sql.col(column)[_CORRUPT].isNotNull()
    reason = sql.when(failed, sql.lit(f"body: does not fit the schema of its {body_format}"))
    df = df.withColumn(column, value).withColumn(_ERROR, sql.coalesce(sql.col(_ERROR), reason))
    if not isinstance(kind, StructType):
        return df
    return df.withColumn(column, sql.col(column).dropFields(_CORRUPT))


def _parsed(text: "Column", kind: DataType, body_format: str) -> "Column":
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _CORRUPT}
    if isinstance(kind, StructType):
        kind = StructType([*kind.fields, StructField(_CORRUPT, StringType())])
    if body_format == XML and isinstance(kind, StructType):
        return sql.from_xml(text, kind, options | _XML_OPTIONS)
    if body_format == JSON and isinstance(kind, StructType | ArrayType | MapType):
        return sql.from_json(text, kind, options)
    raise ValueError(f"schema: {body_format} cannot be parsed into {kind.simpleString()}")


def infer_body_schema(
    df: "DataFrame", sample: int = 1000, by: Sequence[str] = DEFAULT_BY
) -> list[BodySchema]:
    """Find one schema for each type of message in a sample, the most frequent type first.

    Bodies of more than a million characters are left out.

    Args:
        df: messages, as for `parse_bodies`.
        sample: how many messages to look at.
        by: what tells types apart: columns, and "root" for the root element of XML. Leave out
            "label" when every message has its own.

    Raises:
        ValueError: a stream, for which a schema must be given, or a column that is missing.
    """
    if df.isStreaming:
        raise ValueError("df: is a stream; infer the schema from a batch and give it to the stream")
    names = [name for name in by if name != ROOT]
    for name in names:
        if name not in df.columns:
            raise ValueError(f"by: there is no column {name!r}")
    if _TEXT not in df.columns:
        df = with_body_text(df)
    rows = (
        df.where(sql.col(_TEXT).isNull() | (sql.length(_TEXT) <= MAX_SAMPLE_CHARACTERS))
        .select(*names, _TEXT)
        .limit(sample)
        .collect()
    )
    types: dict[tuple[Any, ...], list[Document]] = defaultdict(list)
    for row in rows:
        text = row[_TEXT]
        document = NO_DOCUMENT if text is None else read_document(text)
        values = {**row.asDict(), ROOT: document.root}
        body_format = BINARY if text is None else document.format
        types[(body_format, *(values[name] for name in by))].append(document)
    schemas = _schemas(df, types)
    inferred = [
        BodySchema(dict(zip(by, key[1:], strict=True)), key[0], len(documents), schemas.get(key))
        for key, documents in types.items()
    ]
    return sorted(inferred, key=lambda schema: -schema.count)


def _schemas(
    df: "DataFrame", types: dict[tuple[Any, ...], list[Document]]
) -> dict[tuple[Any, ...], DataType]:
    """Ask Spark for all of them at once."""
    keys = [key for key in types if key[0] in (XML, JSON)]
    if not keys:
        return {}
    schema_columns = [_schema_of(key[0], joined(_part(types[key]))) for key in keys]
    answers = df.sparkSession.range(1).select(*schema_columns).first() or ()
    return {
        key: _schema_of_one(DataType.fromDDL(answer), types[key])
        for key, answer in zip(keys, answers, strict=True)
    }


def _part(documents: list[Document]) -> list[Document]:
    """As many of them as make a text that is not too long, and one at least."""
    room = MAX_TYPE_CHARACTERS
    part: list[Document] = []
    for document in documents:
        room -= len(document.part)
        if part and room < 0:
            break
        part.append(document)
    return part


def _schema_of(body_format: str, text: str) -> "Column":
    if body_format == JSON:
        return sql.schema_of_json(sql.lit(text))
    return sql.schema_of_xml(sql.lit(text), _XML_OPTIONS)


def _schema_of_one(many: DataType, documents: list[Document]) -> DataType:
    """From the schema of documents that were joined to the schema of each."""
    if isinstance(many, StructType) and ROW in many.names:
        many = many[ROW].dataType
    one = many.elementType if isinstance(many, ArrayType) else many
    if documents[0].format == JSON:
        return one
    if not isinstance(one, StructType):
        return StructType([StructField(_VALUE, one)])
    namespaces = frozenset[str]().union(*(document.namespaces for document in documents))
    declaring = {_ATTRIBUTE + name for name in namespaces}
    return StructType([field for field in one.fields if field.name not in declaring])
