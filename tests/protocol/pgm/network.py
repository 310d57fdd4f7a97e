"""Sources and receivers on a simulated network that loses, doubles and reorders packets."""

from dataclasses import dataclass, field
from heapq import heappop, heappush
from ipaddress import IPv4Address
from random import Random

from openmsmq.protocol.pgm import (
    ApduReceived,
    OutgoingDatagram,
    Receiver,
    ReceiverEvent,
    ReceiverSettings,
    Source,
    SourceSettings,
)
from openmsmq.protocol.pgm.source_states import SourceState
from openmsmq.wire.pgm import (
    NakPacket,
    Nla,
    Options,
    OtherPacket,
    Packet,
    PacketType,
    TransportSessionId,
    parse_packet,
)

GROUP = IPv4Address("234.1.1.1")
PORT = 8001
SOURCE_NLA = IPv4Address("10.0.0.1")
TSI = TransportSessionId(b"source", 4000)
# Long enough for ten NAKs without an answer.
PATIENCE = 60.0


def new_source(
    settings: SourceSettings | None = None,
    *,
    tsi: TransportSessionId = TSI,
    nla: IPv4Address = SOURCE_NLA,
    first: int = 100,
    now: float = 0.0,
) -> Source:
    return Source(
        settings or SourceSettings(),
        tsi=tsi,
        destination_port=PORT,
        source_nla=nla,
        group_nla=GROUP,
        first_sequence_number=first,
        now=now,
    )


def new_receiver(settings: ReceiverSettings | None = None, *, seed: int = 0) -> Receiver:
    return Receiver(
        settings or ReceiverSettings(),
        group_nla=GROUP,
        destination_port=PORT,
        random=Random(seed).random,
    )


def state_of(source: Source) -> SourceState:
    """The state now; mypy takes an attribute for what it was when it was last compared."""
    return source.state


def events_of(receiver: Receiver) -> list[ReceiverEvent]:
    out: list[ReceiverEvent] = []
    while (event := receiver.next_event()) is not None:
        out.append(event)
    return out


def packets_of(datagrams: list[OutgoingDatagram]) -> list[Packet]:
    return [parse_packet(datagram.data) for datagram in datagrams]


@dataclass
class Network:
    """Virtual time, and packets under way. Every packet may be lost, doubled and delayed."""

    seed: int
    loss: float = 0.05
    duplicates: float = 0.02
    delays: tuple[float, float] = (0.001, 0.03)
    now: float = 0.0
    sources: dict[IPv4Address, Source] = field(default_factory=dict)
    receivers: dict[IPv4Address, Receiver] = field(default_factory=dict)
    events: dict[IPv4Address, list[ReceiverEvent]] = field(default_factory=dict)
    # What left each source under its rate limit: time and size.
    sent: dict[IPv4Address, list[tuple[float, int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self._moving: list[tuple[float, int, bytes, Nla, IPv4Address]] = []
        self._count = 0

    def add_source(self, source: Source, nla: IPv4Address) -> None:
        self.sources[nla] = source
        self.sent[nla] = []

    def add_receiver(self, receiver: Receiver, nla: IPv4Address) -> None:
        self.receivers[nla] = receiver
        self.events[nla] = []

    def apdus(self, receiver: IPv4Address, tsi: TransportSessionId = TSI) -> list[bytes]:
        return [
            event.data
            for event in self.events[receiver]
            if isinstance(event, ApduReceived) and event.tsi == tsi
        ]

    def run(self, seconds: float) -> None:
        """Let time pass, from one packet or timer to the next."""
        end = self.now + seconds
        self._flush()
        while (time := self._next()) is not None and time <= end:
            self.now = max(self.now, time)
            while self._moving and self._moving[0][0] <= self.now:
                _, _, data, origin, target = heappop(self._moving)
                self._arrive(data, origin, target)
            nodes: list[Source | Receiver] = [*self.sources.values(), *self.receivers.values()]
            for node in nodes:
                due = node.next_timer()
                if due is not None and due <= self.now:
                    node.handle_timer(now=self.now)
            self._flush()
        self.now = end

    def _next(self) -> float | None:
        times = [node.next_timer() for node in self.sources.values()]
        times += [node.next_timer() for node in self.receivers.values()]
        times += [entry[0] for entry in self._moving[:1]]
        return min((time for time in times if time is not None), default=None)

    def _flush(self) -> None:
        for nla, source in self.sources.items():
            for datagram in source.datagrams_to_send(now=self.now):
                packet = parse_packet(datagram.data)
                assert not isinstance(packet, OtherPacket)
                if not isinstance(packet, NakPacket):
                    self.sent[nla].append((self.now, len(datagram.data)))
                self._send(datagram, nla)
        for nla, receiver in self.receivers.items():
            for datagram in receiver.datagrams_to_send():
                self._send(datagram, nla)
            self.events[nla] += events_of(receiver)

    def _send(self, datagram: OutgoingDatagram, origin: IPv4Address) -> None:
        """To every receiver and source of the group, or to one source."""
        targets = [*self.receivers, *self.sources]
        if datagram.destination != GROUP:
            targets = [nla for nla in targets if nla == datagram.destination]
        for target in targets:
            copies = 0 if self.random.random() < self.loss else 1
            copies += self.random.random() < self.duplicates
            for _ in range(copies):
                self._count += 1
                time = self.now + self.random.uniform(*self.delays)
                heappush(self._moving, (time, self._count, datagram.data, origin, target))

    def _arrive(self, data: bytes, origin: Nla, target: IPv4Address) -> None:
        if target in self.receivers:
            self.receivers[target].receive_datagram(data, source=origin, now=self.now)
        else:
            self.sources[target].receive_datagram(data, now=self.now)


def nak(*numbers: int, kind: PacketType = PacketType.NAK, port: int = PORT) -> NakPacket:
    return NakPacket(kind, TSI, port, numbers[0], SOURCE_NLA, GROUP, Options(nak_list=numbers[1:]))
