"""Configuration: checked values, errors that name the key."""

from pathlib import Path

import pytest

from openmsmq.server.config import Config
from openmsmq.wire.errors import ConfigError


def test_the_file_is_read_and_options_win(tmp_path: Path) -> None:
    file = tmp_path / "qm.toml"
    file.write_text('name = "ALPHA"\nbind = "127.0.0.2"\nbinary_port = "off"\n')
    config = Config.load(file, {"bind": "127.0.0.3", "name": None})
    assert (config.name, config.bind, config.binary_port) == ("ALPHA", "127.0.0.3", "off")
    assert config.console_port == 8780


def test_the_socket_is_in_the_data_directory_unless_told(tmp_path: Path) -> None:
    assert Config(data=tmp_path).socket_path == tmp_path / "openmsmq.sock"
    elsewhere = Path("elsewhere")
    assert Config(data=tmp_path, socket=elsewhere).socket_path == Path.cwd() / elsewhere


def test_paths_are_absolute(monkeypatch: pytest.MonkeyPatch) -> None:
    config = Config.load(None, {"data": "n", "ready_file": "ready", "log_file": "log"})
    assert config.data == Path.cwd() / "n"
    assert (config.ready_file, config.log_file) == (Path.cwd() / "ready", Path.cwd() / "log")
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert Config().data == Path.cwd() / "relative" / "openmsmq"


def test_hosts_are_known_in_any_spelling() -> None:
    config = Config.load(None, {"hosts": {"ALPHA": "10.0.0.2", "Beta": "beta.example"}})
    assert config.hosts == {"alpha": "10.0.0.2", "beta": "beta.example"}


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"binary_port": 70000}, "binary_port: 70000 is not a port"),
        ({"http_port": "on"}, "http_port: 'on' is not a port"),
        ({"nonsense": 1}, "nonsense: there is no such setting"),
        ({"log-level": 1}, "log-level: there is no such setting; did you mean log_level?"),
        ({"nmae": "a"}, "nmae: there is no such setting; did you mean name?"),
        ({"name": "a b"}, "name: 'a b': a computer name has no space"),
        ({"name": ""}, "name: '' is not a text of 1 to 255 characters"),
        ({"name": 5}, "name: 5 is not a text"),
        ({"log_level": "loud"}, "log_level: 'loud' is not one of debug, info, warning, error"),
        ({"segment_bytes": 1}, "segment_bytes: 1 is not in 1048576 to 1073741824"),
        ({"max_unacked_packet": 0}, "max_unacked_packet: 0 is not in 1 to 16384"),
        ({"max_unacked_packet": "many"}, "max_unacked_packet: 'many' is not in 1 to 16384"),
        ({"resend_timeouts_short": 0.5}, "resend_timeouts_short: 0.5 is not in 1 to 86400"),
        ({"memory_budget_bytes": 1}, "memory_budget_bytes: 1 is not at least 1048576"),
        ({"allowed_addresses": ["10.0.0.0/33"]}, "allowed_addresses: "),
        ({"denied_addresses": ["10.0.0.1"] * 1001}, "at most 1000 networks"),
        (
            {"max_forwarded_bytes_per_address": 1},
            "max_forwarded_bytes_per_address: 1 is not at least 4194304",
        ),
        ({"hardened_security": "maybe"}, "hardened_security: 'maybe' is not true or false"),
        ({"send_ping": "maybe"}, "send_ping: 'maybe' is not true or false"),
        ({"data": 5}, "data: 5 is not a path"),
        ({"names": "one"}, "names: 'one' is not a list of texts"),
        ({"names": [True]}, "names: true is not a text"),
        ({"hosts": ["a"]}, "hosts: a list is not a table of texts"),
        ({"hosts": {"a b": "c"}}, "hosts: a b = 'c' is not a host name and its"),
        ({"bind": {}}, "bind: a table is not a text"),
    ],
)
def test_a_wrong_value_is_refused_with_its_key(options: dict[str, object], text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Config.load(None, options)
    assert text in str(caught.value)


def test_every_wrong_key_is_named_at_once() -> None:
    with pytest.raises(ConfigError, match=r"(?s)rpc_port.*nonsense|nonsense.*rpc_port"):
        Config.load(None, {"rpc_port": -1, "nonsense": 2})


def test_a_file_that_is_no_toml_is_named(tmp_path: Path) -> None:
    file = tmp_path / "qm.toml"
    file.write_text("name = ")
    with pytest.raises(ConfigError, match=r"qm\.toml"):
        Config.load(file, {})


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.toml: No such file or directory$"):
        Config.load(tmp_path / "none.toml", {})


def test_the_manual_lists_every_key() -> None:
    page = (Path(__file__).parents[2] / "docs" / "serve.md").read_text()
    for key in Config.fields:
        assert f"`{key}`" in page


def test_the_home_of_the_user_is_known() -> None:
    config = Config(data=Path("~/queues"), socket=None)
    assert config.data == Path.home() / "queues"


def test_the_store_is_set_up_by_the_size_of_its_segments() -> None:
    options = Config(data=Path("x"), segment_bytes=16 << 20).store_options
    assert (options.segment_size, options.reserve) == (16 << 20, 2 << 20)
    assert options.snapshot_interval == 64 << 20
