"""Two queue managers over sockets that share a directory: encrypted messages, keys replaced."""

import json
from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.cli.runner import run
from tests.interop.loopback import new_address
from tests.server.threaded import Threaded, threaded

import openmsmq
from openmsmq.server.config import Config
from openmsmq.wire.codes.algorithms import EncryptionAlgorithm
from openmsmq.wire.codes.message_enums import PrivacyLevel

ORDERS = r".\private$\orders"


class Machines:
    """Queue managers `alpha` and `beta`; the latter has a queue."""

    def __init__(self, folder: Path, stack: ExitStack, **settings: Any) -> None:
        self.folder = folder
        addresses = {name: new_address() for name in ("alpha", "beta")}
        common: dict[str, Any] = {
            "directory": folder / "directory.json",
            "hosts": addresses,
            "binary_port": 1801,
            "encryption_key_bits": 1024,
            **settings,
        }
        self.running: dict[str, Threaded] = {
            name: stack.enter_context(threaded(folder / name, name=name, bind=address, **common))
            for name, address in addresses.items()
        }
        self.beta = stack.enter_context(openmsmq.connect(self.socket("beta")))
        self.alpha = stack.enter_context(openmsmq.connect(self.socket("alpha")))
        self.beta.create_queue(ORDERS)
        self.name = self.beta.queue_info(ORDERS)["routed_format_name"]

    def socket(self, name: str) -> Path:
        return self.running[name].config.socket_path

    def receive(self) -> openmsmq.ReceivedMessage:
        with self.beta.open_queue(ORDERS, "receive") as queue:
            return queue.receive(timeout=20)


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    with ExitStack() as stack:
        yield Machines(tmp_path, stack)


def test_an_encrypted_message_arrives_clear_and_says_so(machines: Machines) -> None:
    machines.alpha.send(machines.name, openmsmq.Message("a secret", encrypt=True))
    message = machines.receive()
    assert message.body == "a secret"
    assert (message.encrypted, message.privacy_level) == (True, 5)
    assert message.to_dict()["encrypted"] is True
    assert message.to_message().encrypt == "aes"
    machines.alpha.send(machines.name, openmsmq.Message("open"))
    message = machines.receive()
    assert (message.encrypted, message.privacy_level) == (False, 0)


def test_keys_are_replaced_while_messages_are_under_way(machines: Machines) -> None:
    machines.alpha.send(machines.name, openmsmq.Message("1", encrypt=True))
    assert machines.receive().body == "1"
    before = machines.beta.machine_keys()
    after = machines.beta.rotate_machine_keys()
    assert [key["retired"] is None for key in after] == [True, False]
    assert after[1]["fingerprint"] == before[0]["fingerprint"]
    # The session of the sender still has the old key.
    machines.alpha.send(machines.name, openmsmq.Message("2", encrypt="base"))
    assert machines.receive().body == "2"
    exported = machines.beta.export_machine_keys()
    directory = json.loads((machines.folder / "directory.json").read_text())
    assert exported["name"] == "beta"
    assert b64encode(exported["keys"]).decode("ascii") in json.dumps(directory)


def test_keys_go_to_another_workgroup_in_a_file(machines: Machines, tmp_path: Path) -> None:
    beta, alpha = str(machines.socket("beta")), str(machines.socket("alpha"))
    file = tmp_path / "beta.keys"
    exported = run("key", "export", "--machine", str(file), "--socket", beta)
    assert exported.code == 0
    assert "public keys of beta" in exported.out
    again = run("key", "export", "--machine", str(file), "--socket", beta)
    assert again.code == 1
    imported = run("key", "import", "--machine", str(file), "--socket", alpha, "--json")
    assert json.loads(imported.out)["name"] == "beta"
    # One that the directory does not know yet.
    document = json.loads(file.read_text())
    other = "{00000000-0000-0000-0000-0000000000CC}"
    file.write_text(json.dumps({**document, "guid": other, "name": "gamma"}))
    assert run("key", "import", "--machine", str(file), "--socket", alpha).code == 0
    for text in ("{}", "[]", "no json", json.dumps({**document, "keys": "!"})):
        file.write_text(text)
        refused = run("key", "import", "--machine", str(file), "--socket", alpha)
        assert refused.code == 1
        assert "key export --machine" in refused.err
    file.write_text(json.dumps({**document, "keys": "AAAA"}))
    assert run("key", "import", "--machine", str(file), "--socket", alpha).code == 1
    gone = run("key", "import", "--machine", str(tmp_path / "none"), "--socket", alpha)
    assert gone.code == 1


def test_keys_are_listed_and_rotated_by_commands(machines: Machines) -> None:
    beta = str(machines.socket("beta"))
    rotated = run("key", "rotate", "--machine", "--socket", beta)
    assert "1024 bits" in rotated.out
    listed = run("key", "list", "--machine", "--socket", beta, "--json")
    assert [json.loads(line)["bits"] for line in listed.out.splitlines()] == [1024, 1024]
    assert run("key", "rotate", "--socket", beta).code == 2
    assert run("key", "export", "--machine", "a", "b", "--socket", beta).code == 2
    assert run("key", "export", "a", "--socket", beta).code == 2


def test_a_command_encrypts_and_a_direct_name_is_refused(machines: Machines) -> None:
    alpha = str(machines.socket("alpha"))
    sent = run("send", machines.name, "--encrypt", "--body", "x", "--socket", alpha)
    assert sent.code == 0
    assert machines.receive().privacy_level == 5
    direct = r"DIRECT=OS:beta\private$\orders"
    refused = run("send", direct, "--privacy", "enhanced", "--body", "x", "--socket", alpha)
    assert refused.code == 1
    assert "MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION" in refused.err
    assert "PRIVATE=guid" in refused.err


def test_old_ciphers_with_a_setting(tmp_path: Path) -> None:
    with ExitStack() as stack:
        machines = Machines(tmp_path, stack, legacy_encryption=True)
        keys = machines.beta.machine_keys()
        assert [key["bits"] for key in keys] == [512, 1024, 1024]
        machines.alpha.send(machines.name, openmsmq.Message("x", encrypt="base"))
        # The destination has AES.
        assert machines.receive().privacy_level == 5


def test_without_a_directory_there_are_no_keys_until_they_are_exported(tmp_path: Path) -> None:
    with (
        threaded(tmp_path / "data", encryption_key_bits=1024) as running,
        openmsmq.connect(running.config.socket_path) as manager,
    ):
        socket = str(running.config.socket_path)
        assert "no keys" in run("key", "list", "--machine", "--socket", socket).out
        assert manager.export_machine_keys()["keys"]
        assert [key["bits"] for key in manager.machine_keys()] == [1024]
        exported = manager.export_machine_keys()
        with pytest.raises(openmsmq.QueueError, match="MQ_ERROR_NO_DS"):
            manager.import_machine_keys(exported["guid"], "other", exported["keys"])


def test_settings_of_encryption_and_their_limits(tmp_path: Path) -> None:
    config = Config(
        data=tmp_path,
        encryption_algorithm="aes128",
        legacy_encryption=True,
        enhanced_algorithm="rc2",
        base_algorithm="rc2",
        send_enhanced_rc2_using_40_bit_keys=True,
        reject_enhanced_rc2_using_40_bit_keys=True,
        session_key_minutes=720,
    )
    settings = config.encryption_settings
    assert settings.preferred(PrivacyLevel.BODY_AES) is EncryptionAlgorithm.AES_128
    assert settings.preferred(PrivacyLevel.BODY_ENHANCED) is EncryptionAlgorithm.RC2
    assert settings.preferred(PrivacyLevel.BODY_BASE) is EncryptionAlgorithm.RC2
    assert settings.send_enhanced_rc2_using_40_bit_keys
    assert settings.reject_enhanced_rc2_using_40_bit_keys
    # SymmetricKeyLongLifetime, which Windows XP uses, is the limit.
    assert settings.send_key_lifetime == settings.receive_key_lifetime == 43_200.0
    default = Config(data=tmp_path)
    assert default.encryption_settings.preferred(PrivacyLevel.BODY_AES).name == "AES_256"
    assert (default.encryption_key_bits, default.key_retention_days) == (2048, 30)
    assert list(default.providers) == [PrivacyLevel.BODY_AES]
    for key, value in (
        ("encryption_algorithm", "rc4"),
        ("enhanced_algorithm", "aes128"),
        ("session_key_minutes", 0),
        ("session_key_minutes", 721),
        ("encryption_key_bits", 1023),
        ("encryption_key_bits", 16385),
        ("key_retention_days", -1),
        ("key_retention_days", 3651),
    ):
        with pytest.raises(openmsmq.MsmqError, match=key):
            Config.load(None, {"data": tmp_path, key: value})
