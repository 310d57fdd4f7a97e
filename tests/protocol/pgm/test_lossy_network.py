"""Sources and receivers over a bad network, on virtual time, with many seeds."""

from ipaddress import IPv4Address

import pytest
from tests.protocol.pgm.network import (
    PATIENCE,
    SOURCE_NLA,
    TSI,
    Network,
    new_receiver,
    new_source,
    state_of,
)

from openmsmq.protocol.pgm import DataLost, SourceEnded, SourceSettings
from openmsmq.protocol.pgm.source_states import SourceState
from openmsmq.wire.pgm import TransportSessionId

RECEIVERS = [IPv4Address(f"10.0.1.{number}") for number in range(1, 4)]
OTHER_NLA = IPv4Address("10.0.0.2")
OTHER_TSI = TransportSessionId(b"other!", 4001)


def joined(network: Network) -> None:
    """Let every receiver hear of the sources before data is sent."""
    loss, network.loss = network.loss, 0.0
    network.run(0.5)
    network.loss = loss


def apdus(network: Network, count: int, largest: int) -> list[bytes]:
    random = network.random
    return [random.randbytes(random.randrange(1, largest)) for _ in range(count)]


def check_rate(network: Network, nla: IPv4Address) -> None:
    """RFC 3208, 5.1.2, over every interval between two packets."""
    settings = network.sources[nla].settings
    capacity = settings.txw_max_rte * settings.token_bucket_seconds
    sent = network.sent[nla]
    for start in range(len(sent)):
        total = 0
        for time, size in sent[start:]:
            total += size
            allowed = capacity + (time - sent[start][0]) * settings.txw_max_rte
            assert total <= allowed + 1


@pytest.mark.parametrize("seed", range(60))
def test_everything_arrives_once_and_in_order(seed: int) -> None:
    network = Network(seed, loss=0.05 + 0.05 * (seed % 4))
    # Numbers wrap in half of the runs.
    first = network.random.choice([0xFFFFFFF8, network.random.getrandbits(32)])
    network.add_source(new_source(first=first), SOURCE_NLA)
    for index, nla in enumerate(RECEIVERS[: 1 + seed % 3]):
        network.add_receiver(new_receiver(seed=seed + index), nla)
    joined(network)
    messages = apdus(network, 15, 5000)
    for message in messages:
        network.sources[SOURCE_NLA].send(message)
        network.run(network.random.choice([0.0, 0.01, 0.3]))
    network.run(PATIENCE)
    for nla, receiver in network.receivers.items():
        assert network.apdus(nla) == messages
        assert receiver.buffered_bytes == receiver.counters.lost_packets == 0
    check_rate(network, SOURCE_NLA)


@pytest.mark.parametrize("seed", range(10))
def test_two_sources_do_not_mix(seed: int) -> None:
    network = Network(seed, loss=0.1)
    network.add_source(new_source(), SOURCE_NLA)
    network.add_source(new_source(tsi=OTHER_TSI, nla=OTHER_NLA), OTHER_NLA)
    network.add_receiver(new_receiver(seed=seed), RECEIVERS[0])
    joined(network)
    one, other = apdus(network, 8, 4000), apdus(network, 8, 4000)
    for mine, others in zip(one, other, strict=True):
        network.sources[SOURCE_NLA].send(mine)
        network.sources[OTHER_NLA].send(others)
        network.run(0.05)
    network.run(PATIENCE)
    assert network.apdus(RECEIVERS[0]) == one
    assert network.apdus(RECEIVERS[0], OTHER_TSI) == other


@pytest.mark.parametrize("seed", range(10))
def test_a_closed_source_is_heard_to_its_end(seed: int) -> None:
    network = Network(seed, loss=0.2)
    source = new_source()
    network.add_source(source, SOURCE_NLA)
    network.add_receiver(new_receiver(seed=seed), RECEIVERS[0])
    joined(network)
    messages = apdus(network, 5, 9000)
    for message in messages:
        source.send(message)
    source.close(now=network.now)
    network.run(PATIENCE)
    assert network.apdus(RECEIVERS[0]) == messages
    assert network.events[RECEIVERS[0]][-1] == SourceEnded(
        TSI, "the source has finished and all its data was delivered"
    )
    assert state_of(source) is SourceState.FINISHED
    network.run(700)
    assert state_of(source) is SourceState.CLOSED
    assert source.next_timer() is None
    # The session is forgotten, and nothing was delivered twice.
    assert network.receivers[RECEIVERS[0]].source_count == 0
    assert network.apdus(RECEIVERS[0]) == messages


def test_an_apdu_of_64_kilobytes_arrives_and_takes_its_time() -> None:
    network = Network(1, loss=0.05)
    network.add_source(new_source(), SOURCE_NLA)
    network.add_receiver(new_receiver(), RECEIVERS[0])
    joined(network)
    message = network.random.randbytes(65_536)
    network.sources[SOURCE_NLA].send(message)
    # At 70,000 bytes a second.
    network.run(0.8)
    assert network.apdus(RECEIVERS[0]) == []
    network.run(PATIENCE)
    assert network.apdus(RECEIVERS[0]) == [message]
    check_rate(network, SOURCE_NLA)


def test_a_late_receiver_begins_with_what_it_hears_first() -> None:
    network = Network(3, loss=0.0)
    network.add_source(new_source(), SOURCE_NLA)
    for message in (b"one", b"two"):
        network.sources[SOURCE_NLA].send(message)
    network.run(5)
    network.add_receiver(new_receiver(), RECEIVERS[0])
    network.sources[SOURCE_NLA].send(b"three")
    network.run(5)
    assert network.apdus(RECEIVERS[0]) == [b"three"]
    assert network.receivers[RECEIVERS[0]].counters.naks == 0


@pytest.mark.parametrize("seed", range(5))
def test_what_cannot_be_repaired_is_lost_and_the_stream_goes_on(seed: int) -> None:
    network = Network(seed, loss=0.0)
    # Data stays for repair for two seconds only.
    network.add_source(new_source(SourceSettings(txw_secs=2.0)), SOURCE_NLA)
    network.add_receiver(new_receiver(seed=seed), RECEIVERS[0])
    joined(network)
    source = network.sources[SOURCE_NLA]
    source.send(b"before")
    network.run(1)
    network.loss = 1.0
    source.send(bytes(5000))
    network.run(10)
    network.loss = 0.0
    source.send(b"after")
    network.run(PATIENCE)
    assert network.apdus(RECEIVERS[0]) == [b"before", b"after"]
    losses = [event for event in network.events[RECEIVERS[0]] if isinstance(event, DataLost)]
    assert sum(loss.packet_count for loss in losses) == 4
    assert network.receivers[RECEIVERS[0]].counters.lost_packets == 4


def test_receivers_with_the_same_loss_do_not_all_ask() -> None:
    network = Network(5, loss=0.0, duplicates=0.0, delays=(0.001, 0.002))
    network.add_source(new_source(), SOURCE_NLA)
    receivers = [IPv4Address(f"10.0.2.{number}") for number in range(1, 21)]
    for index, nla in enumerate(receivers):
        network.add_receiver(new_receiver(seed=index), nla)
    joined(network)
    source = network.sources[SOURCE_NLA]
    network.loss = 1.0
    source.send(b"lost")
    network.run(0.1)
    network.loss = 0.0
    source.send(b"found")
    network.run(PATIENCE)
    for nla in receivers:
        assert network.apdus(nla) == [b"lost", b"found"]
    # The others hear the multicast NAK, or the NCF, before their back-off ends.
    assert sum(receiver.counters.naks for receiver in network.receivers.values()) < 8
    assert source.counters.rdata < 8
