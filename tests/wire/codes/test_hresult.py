"""[MS-MQMQ] 2.4."""

from pathlib import Path

import pytest

from openmsmq.wire.codes.hresult import (
    CUSTOMER_BIT,
    ERROR_BIT,
    FACILITY_MSMQ,
    Hresult,
    hresult_name,
)

VECTOR = Path(__file__).parents[2] / "vectors" / "hresults.tsv"


def published() -> dict[str, int]:
    rows = [line.split("\t") for line in VECTOR.read_text().splitlines() if line[0] != "#"]
    return {name: int(value, 16) for value, name in rows}


@pytest.mark.spec("MQDMPR-1.8-01", "MQQP-1.8-01", "MQRR-1.8-01")
def test_every_code_has_its_published_value_and_none_is_our_own() -> None:
    assert {code.name: int(code) for code in Hresult} == published()
    assert not any(code & CUSTOMER_BIT for code in Hresult)


@pytest.mark.parametrize("code", [code for code in Hresult if code])
def test_a_code_carries_facility_and_severity(code: Hresult) -> None:
    assert code >> 16 & 0x7FF == FACILITY_MSMQ
    assert bool(code & ERROR_BIT) != code.name.startswith("MQ_INFORMATION_")


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (0xC00E0003, "MQ_ERROR_QUEUE_NOT_FOUND"),
        (0, "MQ_OK"),
        (0x800706BA, "0x800706BA"),
        # A signed 32-bit value, as some callers hold HRESULTs.
        (0x800706BA - (1 << 32), "0x800706BA"),
    ],
)
def test_a_code_has_a_name_or_eight_digits(code: int, name: str) -> None:
    assert hresult_name(code) == name
