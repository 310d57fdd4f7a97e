"""Distinguished names."""

from uuid import UUID

import pytest

from openmsmq.directory.distinguished_names import distinguished_name
from openmsmq.directory.objects import QueueManagerObject, QueueObject, RoutingLink, Site


def test_objects_stand_where_active_directory_keeps_them() -> None:
    manager = QueueManagerObject(computer_name="QM1")
    assert distinguished_name(manager, "corp") == "CN=msmq,CN=QM1,CN=Computers,O=corp"
    queue = QueueObject(pathname="QM1\\orders")
    assert distinguished_name(queue, "corp") == "CN=orders,CN=msmq,CN=QM1,CN=Computers,O=corp"
    site = Site(name="north")
    assert distinguished_name(site, "") == "CN=north,CN=Sites,CN=Configuration,O=openmsmq"
    link = RoutingLink(site1_identifier=UUID(int=1), site2_identifier=UUID(int=2))
    assert distinguished_name(link, "").startswith(f"CN={1:032x}{2:032x},CN=MsmqServices,")


@pytest.mark.parametrize(
    ("name", "escaped"),
    [
        ("a,b", "a\\2Cb"),
        ('a+b"c', "a\\2Bb\\22c"),
        ("#a", "\\#a"),
        (" a ", "\\ a\\20"),
        (" ", "\\ "),
    ],
)
def test_special_characters_are_escaped(name: str, escaped: str) -> None:
    assert distinguished_name(Site(name=name), "").startswith(f"CN={escaped},CN=Sites")
