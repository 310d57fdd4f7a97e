"""The tree, and where a fault goes in it."""

from openmsmq.wire.dissect.node import Node, attach_fault
from openmsmq.wire.errors import MalformedPacket


def tree() -> Node:
    root = Node("Packet", 0, 40)
    head = root.add("BaseHeader", 0, 16)
    flags = head.add("Flags", 2, 2, 3)
    flags.add("IN", 2, 2, 0)
    head.add("Signature", 4, 4, 5)
    body = root.add("UserHeader", 16, 24)
    body.add("Flags", 16, 4, 1).add("DQ", 16, 4, 7)
    return root


def fault_at(field: str, offset: int) -> tuple[Node, MalformedPacket]:
    root, fault = tree(), MalformedPacket(field, offset, "is wrong")
    attach_fault(root, fault)
    assert root.first_fault() is fault
    return root, fault


def test_walking_gives_every_node_in_order() -> None:
    assert [node.name for node in tree().walk()] == [
        *("Packet", "BaseHeader", "Flags", "IN", "Signature", "UserHeader", "Flags", "DQ")
    ]


def test_nodes_are_found_by_their_path() -> None:
    root = tree()
    found = root.find("UserHeader", "Flags", "DQ")
    assert found is not None
    assert found.value == 7
    assert root.find("UserHeader", "Label") is None
    assert root.find("Label", "Flags") is None


def test_a_tree_without_faults_has_no_first_fault() -> None:
    assert tree().first_fault() is None


def test_a_fault_goes_to_the_bits_that_it_names() -> None:
    root, fault = fault_at("UserHeader.Flags.DQ", 16)
    found = root.find("UserHeader", "Flags", "DQ")
    assert found is not None
    assert found.fault is fault


def test_of_two_fields_with_a_name_the_one_of_the_structure_gets_the_fault() -> None:
    root, fault = fault_at("BaseHeader.Flags", 2)
    found = root.find("BaseHeader", "Flags")
    assert found is not None
    assert found.fault is fault


def test_a_field_that_was_not_read_is_added_to_its_structure() -> None:
    root, fault = fault_at("UserHeader.SentTime", 36)
    added = root.find("UserHeader", "SentTime")
    assert added is not None
    assert (added.offset, added.size, added.fault) == (36, 0, fault)


def test_without_a_structure_the_fault_goes_where_its_offset_lies() -> None:
    root, fault = fault_at("Label", 20)
    added = root.find("UserHeader", "Label")
    assert added is not None
    assert added.fault is fault


def test_a_fault_of_the_whole_packet_is_added_to_the_root() -> None:
    root, fault = fault_at("Packet", 40)
    assert root.children[-1].fault is fault
