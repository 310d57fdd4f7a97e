"""[MS-MQMQ] 2.3."""

from pathlib import Path

from openmsmq.wire.codes.property_ids import MessageProperty, PropertyId, QueueProperty
from openmsmq.wire.message.body_type import body_type_name

VECTOR = Path(__file__).parents[2] / "vectors" / "property-ids.tsv"


def row(property_id: PropertyId) -> tuple[str, str, str]:
    vt = body_type_name(property_id.vt)
    if vt.startswith("VT_VECTOR|"):
        vt = vt.removeprefix("VT_VECTOR|") + "[]"
    return property_id.name, str(int(property_id)), vt.removeprefix("VT_")


def test_every_property_has_its_published_number_and_type() -> None:
    published = [line.split("\t") for line in VECTOR.read_text().splitlines() if line[0] != "#"]
    ours = [row(member) for group in PropertyId.__subclasses__() for member in group]
    assert ours == [tuple(columns) for columns in published]


def test_a_property_is_found_by_its_number_in_its_own_group() -> None:
    assert QueueProperty(103) is QueueProperty.PROPID_Q_PATHNAME
    assert MessageProperty(11) is MessageProperty.PROPID_M_LABEL
