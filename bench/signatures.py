"""Signatures: processor time per message of 1 KiB, beside bare calls of `cryptography`.

Reproduce with `python -m bench signatures`; add `--json` for one object per line.

The same bytes, the same key of 2048 bits, SHA-512. Receiving is what a queue manager does with
messages of a session, with the certificate known, 25 in a read as a busy connection of 64 KiB
brings them: their checks are one job. The time for the same messages without a signature is taken
off. Few messages in a read are checked in place, and share the cost of the read among fewer. A
refused message is one for which every form and both byte orders are tried. Signing is the whole
building of a packet in the client. Every round runs all of them in turn; the figures are medians
over the rounds. Every message has a body and a signature of its own, and the process looks for
garbage as seldom as `openmsmq serve`.
"""

import gc
import statistics
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from time import process_time
from typing import Any, Final
from uuid import UUID

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.serialization import Encoding

from bench.core import OnePacketStore
from bench.report import Result
from openmsmq.cli.manager.serve import GARBAGE_THRESHOLDS
from openmsmq.client.certificates import SigningKey
from openmsmq.client.logic.packet_templates import Sender
from openmsmq.client.logic.packets import PacketBuilder
from openmsmq.client.message import Message
from openmsmq.core.model.local_queue_manager import LocalQueueManager
from openmsmq.core.queue_manager import QueueManager
from openmsmq.core.settings import MachineIdentity, Settings
from openmsmq.core.transfer.checks.checks import FEW_CHECKS
from openmsmq.core.transfer.transports import Origin, Transport
from openmsmq.directory.objects import UNLIMITED, QueueManagerObject
from openmsmq.security.caller import SYSTEM_CALLER
from openmsmq.security.certificates.sender_policy import SenderPolicy
from openmsmq.security.signatures.hash_forms import FIRST_FORM, SignatureVersion
from openmsmq.security.signatures.signed_fields import SignedFields
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_patch import patch
from openmsmq.wire.message.user_message_run import split_runs

ROUNDS: Final = 15
CHUNK: Final = 100
READ: Final = 25
BODY: Final = bytes(1024)
SOURCE: Final = UUID(int=7)
DESTINATION: Final = r"DIRECT=OS:BENCH\private$\bench"
UTC_START: Final = datetime(2025, 1, 1, tzinfo=UTC)
# Times of bare calls that are allowed.
RECEIVE_LIMIT: Final = 1.5
REFUSE_LIMIT: Final = 5.0
SIGN_LIMIT: Final = 1.15


class Reader:
    """Is told what became of messages that waited for their checks."""

    def received(self, *_: object, **__: object) -> None:
        """The event says so; the benchmark counts what is in the queue."""


class Receiver:
    """A queue manager with one queue, and an inlet."""

    def __init__(self) -> None:
        published = QueueManagerObject(
            identifier=UUID(int=1), computer_name="BENCH", queue_manager_quota=UNLIMITED
        )
        store = OnePacketStore(b"")
        self.qm = QueueManager(
            store.recover(),
            new=LocalQueueManager(published, directory_integrated=False),
            guids=lambda: UUID(int=2),
            packets=store,
            settings=Settings(
                senders=SenderPolicy(accept_unknown_certificates=True), max_failed_checks=1_000_000
            ),
            now=0.0,
            utc=UTC_START.timestamp(),
        )
        self.qm.start(MachineIdentity("BENCH"))
        self.queue = self.qm.create_queue(r".\private$\bench", caller=SYSTEM_CALLER).value
        self.inlet = self.qm.incoming.open_inlet(Reader())
        self.origin = Origin(Transport.BINARY, "10.0.0.9", SOURCE)
        self._ordinal = 0
        self.received = 0

    def receive(self, chunk: list[bytes], together: int = READ) -> float:
        """Processor time of a message: those of a chunk come with new identifiers."""
        sent = int(UTC_START.timestamp())
        reads = []
        for first in range(0, CHUNK, together):
            packets = []
            for packet in chunk[first : first + together]:
                self._ordinal += 1
                message = UserMessage(packet)
                packets.append(patch(message, message_id=self._ordinal, sent_time=sent))
            reads.append(packets)
        checks = self.qm.incoming.checks
        start = process_time()
        for packets in reads:
            runs = split_runs(packets, signatures_differ=True)
            if self.inlet.receive(runs, self.origin, None) is None:
                job = checks.take()
                assert job is not None
                job.run()
                self.inlet.checked(job, None)
        seconds = process_time() - start
        self.received = self.queue.count
        self.qm.take_events()
        self.qm.take_batch()
        return seconds / CHUNK


def timed(call: Callable[[], object]) -> float:
    """Processor time of one of many calls."""
    start = process_time()
    for _ in range(CHUNK):
        call()
    return (process_time() - start) / CHUNK


def signing_key() -> SigningKey:
    key = rsa.generate_private_key(65537, 2048)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "bench")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(UTC_START - timedelta(days=1))
        .not_valid_after(UTC_START + timedelta(days=1000))
        .sign(key, hashes.SHA256())
    )
    return SigningKey(certificate.public_bytes(Encoding.DER), key)


def run() -> list[Result]:
    thresholds = gc.get_threshold()
    gc.set_threshold(*GARBAGE_THRESHOLDS)
    try:
        return results()
    finally:
        gc.set_threshold(*thresholds)


def results() -> list[Result]:
    """All figures, with the garbage collector as it is."""
    key = signing_key()
    public = key.key.public_key()
    builder = PacketBuilder(
        Sender(computer_name="A", sid=b"", queue_manager=SOURCE), transactional=False
    )
    messages = [
        Message(number.to_bytes(len(BODY), "big"), "a label", sign=True, certificate=key)
        for number in range(CHUNK)
    ]
    message, plain = messages[0], Message(BODY, "a label")
    signed = [builder.build_signed(each, DESTINATION) for each in messages]
    view = UserMessage(signed[0])
    header = view.security_header
    assert header is not None
    fields = SignedFields(view)
    content = fields.start + fields.rest(SignatureVersion.SIG20, FIRST_FORM)
    signature = header.signature[::-1]
    at = view.body_offset
    refused = [packet[:at] + b"x" + packet[at + 1 :] for packet in signed]
    unsigned = [_without_signature(packet) for packet in signed]
    receiver = Receiver()
    calls: dict[str, Callable[[], float]] = {
        "verify": lambda: timed(
            lambda: public.verify(signature, content, PKCS1v15(), hashes.SHA512())
        ),
        "sign": lambda: timed(lambda: key.key.sign(content, PKCS1v15(), hashes.SHA512())),
        "unsigned": lambda: receiver.receive(unsigned),
        "signed": lambda: receiver.receive(signed),
        "few unsigned": lambda: receiver.receive(unsigned, FEW_CHECKS),
        "few signed": lambda: receiver.receive(signed, FEW_CHECKS),
        "refused": lambda: receiver.receive(refused),
        "build": lambda: timed(lambda: builder.build(plain)),
        "build signed": lambda: timed(lambda: builder.build_signed(message, DESTINATION)),
    }
    times: dict[str, list[float]] = {name: [] for name in calls}
    for name, call in calls.items():
        call()
        times[name].clear()
    for _ in range(ROUNDS):
        for name, call in calls.items():
            times[name].append(call())
    return _results({name: statistics.median(values) for name, values in times.items()})


def _results(medians: dict[str, float]) -> list[Result]:
    def result(name: str, seconds: float, floor: str = "", limit: float | None = None) -> Result:
        ratio = seconds / medians[floor] if floor else None
        return Result(name, 1 / seconds, ratio, limit)

    unsigned = medians["unsigned"]
    return [
        result("cryptography: public_key.verify", medians["verify"]),
        result("cryptography: private_key.sign", medians["sign"]),
        result("receive unsigned", unsigned),
        result("signed, less unsigned", medians["signed"] - unsigned, "verify", RECEIVE_LIMIT),
        result(
            f"signed, less unsigned, {FEW_CHECKS} in a read",
            medians["few signed"] - medians["few unsigned"],
            "verify",
        ),
        result("refused, less unsigned", medians["refused"] - unsigned, "verify", REFUSE_LIMIT),
        result("build and sign in the client", medians["build signed"], "sign", SIGN_LIMIT),
    ]


def _without_signature(packet: bytes) -> bytes:
    from openmsmq.wire.message.user_message_rebuild import rebuild

    options: dict[str, Any] = {"security_header": None}
    return rebuild(UserMessage(packet), **options)
