"""Encrypted messages to and from a peer that knows the byte layouts and has OpenSSL."""

import socket
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.interop.loopback import new_address
from tests.interop.naive_encryption import (
    aes,
    encrypted_message,
    key_list,
    open_message,
    openssl,
    published_key,
    wrap,
)
from tests.interop.naive_peer import GUID, NaivePeer, establish, parameters

import openmsmq

QUEUE = r".\private$\in"
SESSION_KEY = bytes(range(7, 39))


class Node:
    """A queue manager with a directory."""

    def __init__(self, folder: Path) -> None:
        self.address = new_address()
        self.peer_address = new_address()
        self.embedded = openmsmq.embedded(
            bind=self.address,
            binary_port=1801,
            name="NODE",
            directory=folder / "directory.json",
            hosts={"naive": self.peer_address},
        )
        self.manager = self.embedded.connect()
        self.manager.create_queue(QUEUE)
        name = self.manager.queue_info(QUEUE)["routed_format_name"]
        guid, _, number = name.removeprefix("PRIVATE=").partition("\\")
        self.guid, self.number = uuid.UUID(guid), int(number, 16)


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    node = Node(tmp_path)
    yield node
    node.manager.close()
    node.embedded.close()


@pytest.mark.parametrize("clear_size", [None, 9])
def test_what_openssl_encrypts_is_decrypted(
    node: Node, tmp_path: Path, clear_size: int | None
) -> None:
    public_key = published_key(node.manager.export_machine_keys()["keys"])
    wrapped = wrap(public_key, SESSION_KEY, tmp_path)
    cipher_text = aes(b"from afar", SESSION_KEY)
    with NaivePeer(node.address) as peer:
        peer.handshake()
        peer.send(
            encrypted_message(node.guid, node.number, cipher_text, wrapped, 1, clear_size)
            + encrypted_message(node.guid, node.number, bytes(48), wrapped, 2)
            + encrypted_message(node.guid, node.number, cipher_text, wrapped, 3)
        )
        queue = node.manager.open_queue(QUEUE)
        messages = [queue.receive(timeout=10) for _ in range(2)]
    assert [message.body for message in messages] == ["from afar", "from afar"]
    assert [message.id.rpartition("\\")[2] for message in messages] == ["1", "3"]
    assert all(message.encrypted and message.privacy_level == 5 for message in messages)


def test_openssl_decrypts_what_is_sent(node: Node, tmp_path: Path) -> None:
    private_key = tmp_path / "naive.pem"
    openssl("genrsa", "-out", private_key, "2048")
    blob = openssl("rsa", "-in", private_key, "-pubout", "-outform", "MSBLOB")
    node.manager.import_machine_keys(str(GUID), "naive", key_list(blob))
    with socket.create_server((node.peer_address, 1801)) as server:
        server.settimeout(20)
        name = rf"PRIVATE={GUID}\5"
        node.manager.send(name, openmsmq.Message(b"to afar", "label", encrypt=True))
        node.manager.send(name, openmsmq.Message(b"again", encrypt=True))
        connection, _ = server.accept()
        with connection:
            peer = NaivePeer.__new__(NaivePeer)
            peer.socket, peer.left = connection, b""
            connection.settimeout(20)
            hello = peer.packet()
            assert len(hello) == 572
            peer.send(establish(uuid.UUID(bytes_le=hello[20:36]), GUID.bytes_le))
            assert len(peer.packet()) == 32
            peer.send(parameters())
            assert open_message(peer.packet(), private_key) == b"to afar"
            assert open_message(peer.packet(), private_key) == b"again"
