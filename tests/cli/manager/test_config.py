"""`openmsmq config`: effective settings and where each comes from."""

import os
from pathlib import Path

import pytest
from tests.cli.running import run

FILE = """
bind = "127.0.0.5"
http_proxy = "http://me:secret@proxy.example:3128"
names = ["a.example", "b.example"]
hosts = { beta = "127.0.0.9" }
hardened_security = true
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "openmsmq.toml"
    path.write_text(FILE)
    return path


def test_every_setting_names_its_source(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENMSMQ_BIND", "127.0.0.6")
    settings = {
        s["key"]: s for s in run(["config", "show", "--config", str(file), "--json"]).objects
    }
    # The environment comes before the file, the file before the default.
    assert (settings["bind"]["value"], settings["bind"]["source"]) == ("127.0.0.6", "OPENMSMQ_BIND")
    assert settings["names"] == {
        "key": "names",
        "value": ["a.example", "b.example"],
        "source": str(file),
    }
    assert (settings["binary_port"]["value"], settings["binary_port"]["source"]) == (
        1801,
        "default",
    )


def test_people_see_what_is_not_the_default(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("OPENMSMQ_")]:
        monkeypatch.delenv(name)
    lines = run(["config", "show", "--changed", "--config", str(file)]).out.splitlines()
    assert [line.split()[0] for line in lines] == [
        *("KEY", "bind", "hardened_security", "hosts", "http_proxy", "names")
    ]
    assert "beta = 127.0.0.9" in lines[3]
    assert lines[2].split()[1] == "true"


def test_the_password_of_a_proxy_is_not_shown(file: Path) -> None:
    for words in ([], ["--json"]):
        shown = run(["config", "show", "--config", str(file), *words]).out
        assert "secret" not in shown
        assert "http://***@proxy.example:3128" in shown


def test_a_file_is_checked_without_starting(file: Path) -> None:
    assert "sets 5 keys" in run(["config", "check", str(file)]).out
    assert run(["config", "check", str(file), "--json"]).object["valid"] is True
    file.write_text('bindd = 1\nhttps_port = "x"\n')
    outcome = run(["config", "check", str(file)])
    assert outcome.code == 1
    assert "bindd: there is no such setting; did you mean bind?" in outcome.err
    assert "https_port: 'x' is not a port" in outcome.err
    assert "Remedy:" in outcome.err
