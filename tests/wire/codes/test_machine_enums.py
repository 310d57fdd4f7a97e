"""[MS-MQMQ] 2.2.3, 2.3.2.9, 2.3.2.19, 2.3.13.4."""

from openmsmq.wire.codes.machine_enums import (
    DirectoryObjectType,
    MachineService,
    OperatingSystem,
    SecurityInformation,
)


def test_the_codes_have_their_published_values() -> None:
    assert [int(flag) for flag in MachineService] == [1, 2, 4, 8, 16]
    assert [int(code) for code in OperatingSystem] == [0, 0x100, 0x200, 0x300, 0x400, 0x500]
    assert [int(code) for code in DirectoryObjectType] == list(range(1, 9))
    assert [int(flag) for flag in SecurityInformation] == [1, 2, 4, 8]
