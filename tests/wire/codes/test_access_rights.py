"""[MS-MQMQ] 2.2.23, 2.2.24."""

from openmsmq.wire.codes.access_rights import (
    ConnectedNetworkRight,
    EnterpriseRight,
    MachineRight,
    QueueRight,
    SiteRight,
)


def test_the_rights_of_a_queue_add_up_to_all() -> None:
    total = QueueRight(0)
    for right in QueueRight:
        total |= right
    assert total == QueueRight.QUEUE_GENERIC_ALL
    assert QueueRight(0x4).name == "WRITE_MESSAGE"
    assert QueueRight.RECEIVE_MESSAGE == QueueRight.DELETE_MESSAGE | QueueRight.PEEK_MESSAGE
    assert (
        QueueRight.RECEIVE_JOURNAL_MESSAGE
        == QueueRight.DELETE_JOURNAL_MESSAGE | QueueRight.PEEK_MESSAGE
    )
    assert (
        QueueRight.QUEUE_GENERIC_READ
        == QueueRight.GET_QUEUE_PROPERTIES
        | QueueRight.GET_QUEUE_PERMISSIONS
        | QueueRight.RECEIVE_MESSAGE
        | QueueRight.RECEIVE_JOURNAL_MESSAGE
    )
    assert (
        QueueRight.QUEUE_GENERIC_WRITE
        == QueueRight.GET_QUEUE_PROPERTIES
        | QueueRight.GET_QUEUE_PERMISSIONS
        | QueueRight.WRITE_MESSAGE
    )


def test_the_rights_of_a_machine_add_up_to_all() -> None:
    total = MachineRight(0)
    for right in MachineRight:
        total |= right
    assert total == MachineRight.MACHINE_GENERIC_ALL
    assert (
        MachineRight.MACHINE_GENERIC_READ
        == MachineRight.GET_MACHINE_PROPERTIES
        | MachineRight.GET_MACHINE_PERMISSIONS
        | MachineRight.RECEIVE_DEADLETTER_MESSAGE
        | MachineRight.RECEIVE_JOURNAL_QUEUE_MESSAGE
    )
    assert (
        MachineRight.MACHINE_WORLD_RIGHTS
        == MachineRight.GET_MACHINE_PROPERTIES | MachineRight.GET_MACHINE_PERMISSIONS
    )
    assert (
        MachineRight.MACHINE_GENERIC_WRITE
        == MachineRight.MACHINE_WORLD_RIGHTS | MachineRight.CREATE_QUEUE
    )


def test_the_rights_of_other_objects_have_their_published_values() -> None:
    assert [int(right) for right in ConnectedNetworkRight] == [1]
    assert [int(right) for right in SiteRight] == [1, 2, 4]
    assert [int(right) for right in EnterpriseRight] == [1, 2, 4]
