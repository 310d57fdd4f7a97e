"""What the benchmark against other brokers must show, as ratios of figures of the same run."""

from dataclasses import dataclass
from typing import Final

Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class Target:
    """Ours, as a multiple of the best of others; or ours alone when there are none."""

    name: str
    ours: str
    others: tuple[str, ...]
    limit: float
    at_least: bool = True

    @property
    def wanted(self) -> str:
        sign = "≥" if self.at_least else "≤"
        return f"{sign} {self.limit:.3g}{'' if self.others else ' ' + self.ours.split()[-1]}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a target was met; None when something it needs was not measured."""

    target: str
    wanted: str
    value: float | None
    met: bool | None

    @property
    def shown(self) -> str:
        return "" if self.value is None else f"{self.value:.2f}"


TARGETS: Final = (
    Target("express, of the floor", "openmsmq express", ("floor express",), 0.20),
    Target("durable, of the floor", "openmsmq durable", ("floor durable",), 0.25),
    Target("express, times RabbitMQ with pika", "openmsmq express", ("rabbitmq express",), 5),
    Target(
        "durable, times the better RabbitMQ queue type with pika",
        "openmsmq durable",
        ("rabbitmq classic", "rabbitmq quorum"),
        4,
    ),
    Target(
        "durable, times the better RabbitMQ queue type with a native client",
        "openmsmq durable",
        ("rabbitmq classic native", "rabbitmq quorum native"),
        2,
    ),
    Target(
        "transactions of 100, times RabbitMQ tx mode",
        "openmsmq transactions",
        ("rabbitmq transactions",),
        5,
    ),
    Target(
        "one durable in flight, p50 of the better RabbitMQ",
        "openmsmq latency p50",
        ("rabbitmq classic latency p50", "rabbitmq quorum latency p50"),
        1,
        at_least=False,
    ),
    Target(
        "one durable in flight, p99 of the better RabbitMQ",
        "openmsmq latency p99",
        ("rabbitmq classic latency p99", "rabbitmq quorum latency p99"),
        1,
        at_least=False,
    ),
    Target("express, times Redis with redis-py", "openmsmq express", ("redis express",), 1),
    Target("durable, times Redis with AOF always", "openmsmq durable", ("redis durable",), 1.5),
    Target("memory with 100,000 express", "openmsmq express MB", (), 150, at_least=False),
    Target("memory with 100,000 durable", "openmsmq durable MB", (), 150, at_least=False),
    Target(
        "restart to first receive with 100,000 durable",
        "openmsmq restart seconds",
        (),
        2,
        at_least=False,
    ),
)

TRANSFER_TARGETS: Final = (
    Target("express, times RabbitMQ with pika", "transfer express", ("rabbitmq express",), 2),
    Target(
        "recoverable, times the better RabbitMQ queue type with pika",
        "transfer recoverable",
        ("rabbitmq classic", "rabbitmq quorum"),
        2,
    ),
    Target(
        "transactions of 100, times RabbitMQ tx mode",
        "transfer transactional",
        ("rabbitmq transactions",),
        1.5,
    ),
    Target(
        "processor time to receive, of a receiver that only splits",
        "receive µs",
        ("split µs",),
        12,
        at_least=False,
    ),
)

REMOTE_READ_TARGETS: Final = (
    Target("many in flight, of the local protocol", "many in flight", ("local receive",), 0.1),
    Target(
        "many in flight at packet privacy, of those without authentication",
        "many in flight, privacy",
        ("many in flight",),
        0.5,
    ),
    Target(
        "one in flight at packet privacy, times impacket",
        "one in flight, privacy",
        ("impacket, one in flight, privacy",),
        6,
    ),
    Target(
        "NDR of R_StartReceive, times impacket",
        "NDR of R_StartReceive",
        ("impacket NDR of R_StartReceive",),
        10,
    ),
    Target(
        "empty call, 1 in flight: processor time of a bare server",
        "empty call, 1 in flight µs",
        ("bare server, 1 in flight µs",),
        4,
        at_least=False,
    ),
    Target(
        "empty call, 16 in flight: processor time of a bare server",
        "empty call, 16 in flight µs",
        ("bare server, 16 in flight µs",),
        4,
        at_least=False,
    ),
    Target(
        "calls of Samba's client, of those to Samba's server",
        "Samba's client, this server",
        ("Samba's client and server",),
        1 / 3,
    ),
)

SRMP_TARGETS: Final = (
    Target(
        "processor time to receive, of a receiver that only cuts requests",
        "receiver µs",
        ("floor µs",),
        12,
        at_least=False,
    ),
    Target("durable, times starlette with aiohttp", "http durable", ("starlette with aiohttp",), 3),
    Target("durable, of the binary protocol", "http durable", ("binary durable",), 0.4),
    Target("transactional, of durable", "http transactional", ("http durable",), 0.6),
    Target(
        "one in flight, p50 of the binary protocol",
        "http one in flight ms",
        ("binary one in flight ms",),
        2,
        at_least=False,
    ),
    Target(
        "durable with 1,000 idle connections, of that without",
        "http durable, idle connections",
        ("http durable",),
        0.9,
    ),
)


def verdict(target: Target, figures: Figures) -> Verdict:
    """Compare with the best of the others: the highest rate, the shortest time."""
    ours = figures.get(target.ours)
    others = [figures[name] for name in target.others if name in figures]
    if ours is None or len(others) < len(target.others):
        return Verdict(target.name, target.wanted, None, None)
    best = max if target.at_least else min
    value = ours / best(others) if others else ours
    met = value >= target.limit if target.at_least else value <= target.limit
    return Verdict(target.name, target.wanted, value, met)
