"""Which addresses may connect."""

import pytest

from openmsmq.protocol.address_rules import AddressRules, parse_network


@pytest.mark.parametrize(
    ("allowed", "denied", "address", "may"),
    [
        ((), (), "10.0.0.1", True),
        ((), (), "no address", True),
        (("10.0.0.0/8",), (), "10.1.2.3", True),
        (("10.0.0.0/8",), (), "11.1.2.3", False),
        (("10.0.0.0/8",), (), "no address", False),
        ((), ("10.0.0.0/8",), "10.1.2.3", False),
        ((), ("10.0.0.0/8",), "11.1.2.3", True),
        (("10.0.0.0/8",), ("10.1.0.0/16",), "10.1.2.3", False),
        (("10.0.0.0/8",), ("10.1.0.0/16",), "10.2.2.3", True),
        (("10.0.0.7",), (), "10.0.0.7", True),
        (("10.0.0.7/8",), (), "10.1.2.3", True),
        (("10.0.0.0/8",), (), "::ffff:10.0.0.7", True),
        (("fd00::/8",), (), "fd00::1%eth0", True),
        (("fd00::/8",), (), "10.0.0.7", False),
    ],
)
def test_rules(
    *, allowed: tuple[str, ...], denied: tuple[str, ...], address: str, may: bool
) -> None:
    assert AddressRules(allowed, denied).allow(address) is may


@pytest.mark.parametrize("text", ["", "10.0.0.0/33", "host", "10.0.0"])
def test_what_is_no_network_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="does not appear"):
        parse_network(text)
