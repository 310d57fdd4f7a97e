"""Get Queue Path ([MS-MQDMPR] 3.1.7.1.26)."""

from uuid import UUID

import pytest
from tests.core.directory_harness import QM1, QM2, Machine, shared_file
from tests.core.harness import USER

from openmsmq.core.queues.queue_path import QueuePath, get_queue_path
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.names.format_name import (
    MachineFormatName,
    PrivateFormatName,
    PublicFormatName,
    parse_format_name,
)
from openmsmq.wire.names.queue_name import Suffix

LOST = UUID(int=0x99)


def path(machine: Machine, text: str) -> QueuePath:
    return get_queue_path(machine.state, parse_format_name(text))


@pytest.mark.spec("MQDMPR-3.1.7.1.26-01")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"DIRECT=TCP:10.0.0.1\private$\a", QueuePath(r"10.0.0.1\private$\a", "10.0.0.1")),
        (r"DIRECT=OS:host.example\a", QueuePath(r"host.example\a", "host.example")),
    ],
)
def test_a_direct_name_is_its_own_path(text: str, expected: QueuePath) -> None:
    assert path(Machine(None).provision(), text) == expected


@pytest.mark.spec("MQDMPR-3.1.7.1.26-02")
@pytest.mark.parametrize("scheme", ["HTTP", "HTTPS"])
def test_a_url_gives_the_host_only(scheme: str) -> None:
    machine = Machine(None).provision()
    found = path(machine, f"DIRECT={scheme}://host:8080/msmq/private$/a")
    assert found == QueuePath("", "host")


@pytest.mark.spec("MQDMPR-3.1.7.1.26-03")
def test_a_public_name_is_looked_up_in_the_directory_also_when_the_queue_is_elsewhere() -> None:
    file = shared_file()
    other = Machine(file, name="QM2", identifier=QM2).provision()
    queue = other.qm.create_queue(r".\orders", caller=USER).value
    name = PublicFormatName(queue.properties.identifier)
    machine = Machine(file).provision()
    assert get_queue_path(machine.state, name) == QueuePath(r"QM2\orders", "QM2")
    for lost in (PublicFormatName(LOST), PublicFormatName(QM1)):
        with pytest.raises(QueueError) as caught:
            get_queue_path(machine.state, lost)
        assert caught.value.code == Hresult.MQ_ERROR_ILLEGAL_FORMATNAME


@pytest.mark.spec("MQDMPR-3.1.7.1.26-04", "MQDMPR-3.1.7.1.26-05")
def test_a_private_name_gives_its_machine_and_here_also_its_path() -> None:
    file = shared_file()
    other = Machine(file, name="QM2", identifier=QM2).provision()
    there = other.qm.create_queue(r".\private$\a", caller=USER).value.properties
    machine = Machine(file).provision()
    here = machine.qm.create_queue(r".\private$\b", caller=USER).value.properties
    # Both have the same number, each on its own machine.
    assert here.private_queue_number == there.private_queue_number
    local = PrivateFormatName(QM1, here.private_queue_number)
    assert get_queue_path(machine.state, local) == QueuePath(r"QM1\private$\b", "QM1")
    remote = PrivateFormatName(QM2, there.private_queue_number)
    assert get_queue_path(machine.state, remote) == QueuePath("", "QM2")
    assert get_queue_path(machine.state, PrivateFormatName(QM1, 999)) == QueuePath("", "QM1")
    with pytest.raises(QueueError) as caught:
        get_queue_path(machine.state, PrivateFormatName(LOST, 1))
    assert caught.value.code == Hresult.MQ_ERROR_ILLEGAL_FORMATNAME


def test_a_workgroup_knows_its_own_private_queues_only() -> None:
    machine = Machine(None).provision()
    here = machine.qm.create_queue(r".\private$\b", caller=USER).value.properties
    name = PrivateFormatName(QM1, here.private_queue_number)
    assert get_queue_path(machine.state, name) == QueuePath(r"QM1\private$\b", "QM1")
    for unknown in (PrivateFormatName(QM2, 1), PublicFormatName(LOST)):
        with pytest.raises(QueueError):
            get_queue_path(machine.state, unknown)


def test_other_kinds_of_names_have_neither() -> None:
    machine = Machine(None).provision()
    name = MachineFormatName(QM1, Suffix.JOURNAL)
    assert get_queue_path(machine.state, name) == QueuePath("", "")
