"""The text of a local-file directory."""

import base64
import json
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.directory.certificates import add_certificate
from openmsmq.directory.document import (
    Document,
    decode_object,
    encode_object,
    parse_document,
    render_document,
)
from openmsmq.directory.objects import (
    ConnectedNetwork,
    DirectoryObject,
    DirectoryServerType,
    Enterprise,
    OperatingSystemType,
    QueueManagerObject,
    QueueObject,
    RoutingLink,
    Site,
    User,
)
from openmsmq.wire.codes.queue_enums import QueuePrivacyLevel
from openmsmq.wire.errors import ConfigError
from openmsmq.wire.security.sid import EVERYONE, SID

ONE, TWO, THREE = UUID(int=1), UUID(int=2), UUID(int=3)
U32 = st.integers(0, 0xFFFFFFFF)
GUIDS = st.integers(1, 1 << 100).map(lambda number: UUID(int=number))
EMPTY = {"format": "openmsmq directory", "version": 1}


def text_of(**sections: Any) -> bytes:
    return json.dumps({**EMPTY, **sections}).encode()


def document_of(*items: DirectoryObject) -> Document:
    document = Document()
    for item in items:
        document.of(item)[item.identifier] = item
    return document


@pytest.mark.spec("MQDMPR-3.1.1-02", "MQDMPR-3.1.1.6-01", "MQDMPR-3.1.1.7-02")
def test_every_object_survives_the_file() -> None:
    document = document_of(
        QueueManagerObject(
            identifier=ONE,
            computer_name="QM1",
            qualified_computer_name="qm1.example",
            operating_system_version="6.1",
            operating_system_type=OperatingSystemType.WIN_ENT,
            site_identifier_list=(TWO, THREE),
            directory_server=True,
            directory_server_type=DirectoryServerType.PRIMARY_SITE_CONTROLLER,
            public_encryption_key_list=b"\x00\x01",
        ),
        QueueObject(
            identifier=TWO,
            queue_manager=ONE,
            pathname="QM1\\Bücher",
            privacy_level=QueuePrivacyLevel.BODY,
            multicast_address="234.1.1.1:8001",
            base_priority=-3,
        ),
        Enterprise(UUID(int=9), "corp", True, False, 60, True),
        Site(UUID(int=10), "north", "PSC", 2, 10, "CN=north", True, b"\x07", True),
        RoutingLink(UUID(int=11), "line", "CN=x", 5, ONE, TWO, (THREE,)),
        ConnectedNetwork(UUID(int=12), "lan"),
        add_certificate(User(UUID(int=13), SID(22, (1, 1000))), b"certificate"),
    )
    assert parse_document(render_document(document), "d.json") == document


@pytest.mark.spec("MQDMPR-3.1.1.2-01", "MQDMPR-3.1.1.2-02")
@given(
    st.builds(
        QueueObject,
        identifier=GUIDS,
        queue_manager=GUIDS,
        label=st.text(max_size=20),
        create_time=U32,
        modify_time=U32,
        type=GUIDS,
        pathname=st.text(min_size=1, max_size=20),
        qualified_pathname=st.text(max_size=20),
        private_queue_number=U32,
        journaling=st.booleans(),
        quota=U32,
        journal_quota=U32,
        authentication=st.booleans(),
        privacy_level=st.sampled_from(QueuePrivacyLevel),
        transactional=st.booleans(),
        multicast_address=st.none() | st.text(max_size=10),
        base_priority=st.integers(-0x8000, 0x7FFF),
        full_path=st.text(max_size=20),
        directory_path=st.text(max_size=20),
    )
)
def test_every_attribute_of_a_queue_survives(queue: QueueObject) -> None:
    assert decode_object(QueueObject, encode_object(queue), "queue") == queue


def test_what_has_its_default_is_not_written() -> None:
    site = Site(identifier=ONE, name="north")
    assert encode_object(site) == {"identifier": str(ONE), "name": "north"}


def test_a_missing_section_is_empty() -> None:
    assert parse_document(text_of(), "d.json") == Document()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "d.json: not JSON"),
        (b"\xff", "d.json: not JSON"),
        (b"{", "d.json: not JSON"),
        (b"[]", "d.json: format: is not"),
        (b'{"version": 1}', "d.json: format: is not"),
        (text_of(version=2), "d.json: version: 2 is not 1"),
        (b"[" * 100_000, "d.json: not JSON"),
        (b"9" * 10_000, "d.json: not JSON"),
        (text_of(domains=[]), "d.json: domains: there is no such section"),
        (text_of(sites={}), "d.json: sites: is not a list"),
        (text_of(sites=[1]), "d.json: sites[0]: is not an object"),
        (text_of(sites=[{"nme": "a"}]), "d.json: sites[0].nme: there is no such field"),
        (text_of(sites=[{"name": 1}]), "d.json: sites[0].name: is not a text"),
        (text_of(sites=[{"name": "a"}]), "d.json: sites[0].identifier: is null"),
        (text_of(sites=[{"identifier": "x"}]), "d.json: sites[0].identifier: is not a GUID"),
        (text_of(sites=[{"identifier": 7}]), "d.json: sites[0].identifier: is not a text"),
        (
            text_of(sites=[{"foreign_site": 1}]),
            "d.json: sites[0].foreign_site: is not true or false",
        ),
        (text_of(sites=[{"security": "é"}]), "d.json: sites[0].security: is not base64"),
        (text_of(sites=[{"security": "a"}]), "d.json: sites[0].security: is not base64"),
        (text_of(queues=[{"quota": "1"}]), "d.json: queues[0].quota: is not a whole number"),
        (text_of(queues=[{"quota": True}]), "d.json: queues[0].quota: is not a whole number"),
        (
            text_of(queues=[{"privacy_level": "some"}]),
            "d.json: queues[0].privacy_level: must be one of none, optional, body",
        ),
        (
            text_of(queue_managers=[{"operating_system_type": "BeOS"}]),
            "d.json: queue_managers[0].operating_system_type: must be one of Foreign, Win95",
        ),
        (
            text_of(queue_managers=[{"site_identifier_list": str(ONE)}]),
            "d.json: queue_managers[0].site_identifier_list: is not a list",
        ),
        (
            text_of(users=[{"security_identifier": "S-1"}]),
            "d.json: users[0].security_identifier: is not a SID",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "text",
)
def test_a_damaged_file_is_refused_by_file_and_field(content: bytes, reason: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_document(content, "d.json")
    assert reason in str(caught.value)


@pytest.mark.spec("MQDMPR-3.1.1.8-01")
def test_a_cost_out_of_range_in_the_file_is_refused() -> None:
    link = {
        "identifier": str(ONE),
        "site1_identifier": str(TWO),
        "site2_identifier": str(THREE),
        "actual_cost": 1_000_000,
    }
    with pytest.raises(ConfigError, match=r"routing_links\[0\].actual_cost: 1000000 is not in 1"):
        parse_document(text_of(routing_links=[link]), "d.json")


@pytest.mark.spec("MQDMPR-3.1.1-04")
def test_an_identifier_belongs_to_one_object_of_any_type() -> None:
    site = {"identifier": str(ONE), "name": "north"}
    user = {"identifier": str(ONE), "security_identifier": str(EVERYONE)}
    with pytest.raises(ConfigError, match=r"users\[0\].identifier: .* is there already"):
        parse_document(text_of(sites=[site], users=[user]), "d.json")


@pytest.mark.spec("MQDMPR-3.1.1.7-01")
def test_two_sites_of_one_name_are_refused() -> None:
    sites = [
        {"identifier": str(ONE), "name": "north"},
        {"identifier": str(TWO), "name": "North"},
    ]
    with pytest.raises(ConfigError, match=r"sites\[1\].name: another object has it already"):
        parse_document(text_of(sites=sites), "d.json")


def test_half_of_a_surrogate_pair_survives() -> None:
    document = document_of(Site(identifier=ONE, name="a\ud800"))
    assert parse_document(render_document(document), "d.json") == document


def test_binary_attributes_are_base64_and_words_are_words() -> None:
    queue = QueueObject(identifier=ONE, security=b"\x01\x02", privacy_level=QueuePrivacyLevel.NONE)
    raw = encode_object(queue)
    assert raw["security"] == base64.b64encode(b"\x01\x02").decode()
    assert raw["privacy_level"] == "none"
    user = add_certificate(User(identifier=ONE, security_identifier=EVERYONE), b"certificate")
    assert encode_object(user)["security_identifier"] == "S-1-1-0"
    assert json.loads(render_document(document_of(user)))["users"] == [encode_object(user)]


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_other_bytes_are_refused_as_a_config_error(content: bytes) -> None:
    with pytest.raises(ConfigError):
        parse_document(content, "d.json")
