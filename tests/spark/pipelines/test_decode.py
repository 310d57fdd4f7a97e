"""Files of packets become rows; what is malformed is counted and kept."""

import struct
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.spark.pipelines.messages import packet
from tests.wire.capture.writer import SYN, ethernet, ipv4, pcap, tcp

from openmsmq.spark.pipelines import decode as pipeline
from openmsmq.spark.pipelines.decode import decode, find_files
from openmsmq.spark.pipelines.reporting.summary import Bars
from openmsmq.spark.pipelines.sources import read_source
from openmsmq.spark.pipelines.support.errors import PipelineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BROKEN = packet(7)[:60] + b"\xff" * 4 + packet(7)[64:]


def fill(folder: Path) -> None:
    """Nine messages, two malformed packets, one packet of a session and two gaps."""
    folder.mkdir()
    internal = struct.pack("<BxHIII", 0x10, 0x0008, 0x524F494C, 16, 0)
    (folder / "one.bin").write_bytes(packet(1))
    (folder / "plain.bin").write_bytes(packet(2) + internal + BROKEN + packet(3))
    lengths = (packet(4), packet(5))
    (folder / "prefixed.bin").write_bytes(
        b"".join(struct.pack("<I", len(each)) + each for each in lengths)
    )
    frames = [
        ethernet(ipv4(tcp(sequence=99, flags=SYN))),
        ethernet(ipv4(tcp(packet(6), sequence=100))),
        ethernet(ipv4(tcp(packet(8), sequence=1000))),
    ]
    (folder / "trace.pcap").write_bytes(pcap(*frames))
    pq.write_table(pa.table({"raw_packet": [packet(9), None, packet(10)]}), folder / "a{1}.parquet")
    (folder / "damaged.parquet").write_bytes(b"PAR1" + bytes(100))
    (folder / "_ignored").write_bytes(b"x")


@pytest.mark.timeout(300)  # the first run of Spark takes long
def test_every_packet_is_counted_and_kept(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Names that Spark takes for patterns.
    given, output = tmp_path / "in[1]", tmp_path / "out{1}"
    fill(given)
    # Small enough that files are cut into ranges.
    monkeypatch.setattr(pipeline, "RANGE_BYTES", 300)
    result = decode(spark, given, output)
    assert result.files == 6
    assert (result.messages, result.malformed, result.internal, result.gaps) == (9, 2, 1, 2)
    table = pq.read_table(output / "messages")
    rows = {(row["id"] or "").partition("\\")[2]: row for row in table.to_pylist() if row["id"]}
    assert sorted(map(int, rows)) == [1, 2, 3, 4, 5, 6, 8, 9, 10]
    assert rows["4"]["label"] == "order 4"
    assert rows["4"]["body"] == b"body 4"
    assert rows["6"]["sent_to"] == "192.0.2.2:1801"
    assert rows["1"]["source_file"].endswith("one.bin")
    broken = [row for row in table.to_pylist() if row["packet_kind"] == "malformed"]
    assert {row["raw_packet"] for row in broken} == {BROKEN, None}
    assert all(row["decode_error"] for row in broken)
    assert (output / "report.html").read_text().count("malformed") > 1
    (facts, *problems) = result.summary().objects()
    assert facts["malformed"] == 2
    (chart,) = result.summary().charts
    assert isinstance(chart, Bars)
    titles = {column.title for column, _ in result.summary().facts}
    assert set(chart.labels) <= titles
    assert len(problems) == 4
    # It is a source for the other pipelines, with its report beside it.
    assert read_source(spark, str(output)).count() == 9


def test_a_column_that_is_not_there_is_named(spark: "SparkSession", tmp_path: Path) -> None:
    pq.write_table(pa.table({"data": [packet(1)]}), tmp_path / "a.parquet")
    with pytest.raises(PipelineError, match="no column 'raw_packet'"):
        decode(spark, tmp_path / "a.parquet")


def test_patterns_mean_files(tmp_path: Path) -> None:
    for name in ("a.parquet", "b.parquet", "c.bin"):
        (tmp_path / name).write_bytes(b"PAR1")
    found = find_files([str(tmp_path / "*.parquet"), tmp_path / "c.bin"])
    assert [path.name for path, _ in found] == ["a.parquet", "b.parquet", "c.bin"]


def test_nothing_to_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match="there is no"):
        find_files(str(tmp_path / "none*"))
    with pytest.raises(PipelineError, match="no files"):
        find_files([tmp_path])
