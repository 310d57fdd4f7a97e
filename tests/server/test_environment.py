"""Every key of the configuration is also a variable of the environment."""

from pathlib import Path

import pytest

from openmsmq.server.config import Config
from openmsmq.server.environment import read_environment, variable
from openmsmq.wire.errors import ConfigError


def test_every_key_but_the_socket_is_read_from_its_variable() -> None:
    everything = {variable(key): "text" for key in Config.fields}
    found = read_environment(Config.fields, everything)
    assert set(Config.fields) - set(found) == {"socket"}
    assert variable("binary_port") == "OPENMSMQ_BINARY_PORT"


def test_options_win_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "qm.toml"
    file.write_text('name = "FILE"\nbind = "127.0.0.2"\nlog_level = "debug"\n')
    environment = {"OPENMSMQ_NAME": "VARIABLE", "OPENMSMQ_BIND": "127.0.0.3"}
    config = Config.load(file, {"name": "OPTION", "bind": None}, environment)
    assert (config.name, config.bind, config.log_level) == ("OPTION", "127.0.0.3", "debug")


def test_values_of_every_kind_are_understood() -> None:
    environment = {
        "OPENMSMQ_BINARY_PORT": "0",
        "OPENMSMQ_PING_PORT": "off",
        "OPENMSMQ_SEND_PING": "true",
        "OPENMSMQ_RESEND_TIMEOUTS_SHORT": "2.5",
        "OPENMSMQ_DATA": "queues",
        "OPENMSMQ_NAMES": "alpha.example, queues.example,",
        "OPENMSMQ_HOSTS": "BETA=192.0.2.8, Gamma = 192.0.2.9",
        "OPENMSMQ_LOG_FILE": "",
    }
    config = Config.load(None, {}, environment)
    assert (config.binary_port, config.ping_port, config.send_ping) == (0, "off", True)
    assert config.resend_timeouts_short == 2.5
    assert config.data == Path.cwd() / "queues"
    assert config.names == ("alpha.example", "queues.example")
    assert config.hosts == {"beta": "192.0.2.8", "gamma": "192.0.2.9"}
    assert config.log_file is None


def test_the_socket_of_clients_is_not_that_of_a_queue_manager(tmp_path: Path) -> None:
    config = Config.load(None, {"data": tmp_path}, {"OPENMSMQ_SOCKET": "/run/other.sock"})
    assert config.socket_path == tmp_path / "openmsmq.sock"


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("OPENMSMQ_BINARY_PORT", "many", "OPENMSMQ_BINARY_PORT: 'many' is not a port"),
        ("OPENMSMQ_HOSTS", "BETA", "OPENMSMQ_HOSTS: BETA = '' is not a host name"),
        ("OPENMSMQ_LOG_LEVEL", "loud", "OPENMSMQ_LOG_LEVEL: 'loud' is not one of debug"),
    ],
)
def test_a_wrong_value_is_refused_with_its_variable(name: str, value: str, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Config.load(None, {}, {name: value})
    assert text in str(caught.value)


def test_an_option_is_named_by_its_key_although_there_is_a_variable() -> None:
    with pytest.raises(ConfigError, match=r"^log_level: 'loud'"):
        Config.load(None, {"log_level": "loud"}, {"OPENMSMQ_LOG_LEVEL": "info"})
