"""Tokens, sessions, links, limits, hosts and the audit log."""

import json
import os
import stat
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from openmsmq.admin.trust.audit import LARGEST_FILE, AuditLog
from openmsmq.admin.trust.headers import content_security_policy, headers_of
from openmsmq.admin.trust.hosts import Hosts
from openmsmq.admin.trust.limits import RateLimit, Slots
from openmsmq.admin.trust.links import LINK_SECONDS, Links
from openmsmq.admin.trust.person import Person, Role
from openmsmq.admin.trust.problems import Problem
from openmsmq.admin.trust.sessions import IDLE_SECONDS, LONGEST_SECONDS, Sessions
from openmsmq.admin.trust.tokens import Token, Tokens, digest_of, new_token, parse_end
from openmsmq.wire.errors import ConfigError

NOW = datetime(2026, 11, 17, 12, tzinfo=UTC)
ANN = Person(principal="user:ann", role=Role.OPERATOR, credential="ann")


def token_of(secret: str, **values: object) -> Token:
    named = {"name": "ann", "principal": "user:ann", "role": "reader", **values}
    return Token(sha256=digest_of(secret), **named)  # type: ignore[arg-type]


def test_a_token_is_found_by_its_digest_only(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "tokens.json")
    secret = new_token()
    tokens.add(token_of(secret))
    text = (tmp_path / "tokens.json").read_text()
    assert secret not in text
    assert digest_of(secret) in text
    assert stat.S_IMODE((tmp_path / "tokens.json").stat().st_mode) == 0o600
    found = tokens.find(secret, NOW)
    assert found is not None
    assert found.person("127.0.0.9").role is Role.READER
    assert tokens.find(secret + "x", NOW) is None
    assert tokens.find("", NOW) is None


def test_nothing_is_done_that_cannot_be_noted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = AuditLog(tmp_path)
    entry = log.begin(ANN, "purge_queue", target="orders")
    file = tmp_path / "audit.jsonl"
    file.rename(tmp_path / "audit.1.jsonl")
    file.mkdir()
    with pytest.raises(Problem, match="audit log cannot be written: Is a directory") as refused:
        log.begin(ANN, "purge_queue", target="payments")
    assert refused.value.status == 503
    assert str(file) in refused.value.record.remedy
    # What was done before is done all the same, and known.
    log.end(entry, "done", count=3)
    assert [(each.result, each.count) for each in log.newest()] == [("done", 3), ("begun", None)]
    assert "target='orders'" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["", " ", ".", ".."])
def test_a_token_without_a_name_is_refused(tmp_path: Path, name: str) -> None:
    tokens = Tokens(tmp_path / "tokens.json")
    with pytest.raises(ConfigError, match="needs a letter or a digit"):
        tokens.add(token_of("secret", name=name))
    assert tokens.all() == []


def test_a_token_ends(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "tokens.json")
    tokens.add(token_of("secret", ends=parse_end("2026-11-17T12:00:00")))
    assert tokens.find("secret", NOW) is None
    assert tokens.find("secret", NOW.replace(hour=11)) is not None


def test_a_changed_file_counts_at_once(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    tokens = Tokens(path)
    tokens.add(token_of("secret"))
    other = Tokens(path)
    assert other.remove("ann")
    assert not other.remove("ann")
    assert tokens.find("secret", NOW) is None
    path.unlink()
    assert tokens.all() == []


def test_a_name_is_taken_once(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "tokens.json")
    tokens.add(token_of("one"))
    with pytest.raises(ConfigError, match="already"):
        tokens.add(token_of("two"))


@pytest.mark.parametrize("text", ["{", '{"tokens": [{}]}', '{"tokens": [], "more": 1}', "[]"])
def test_a_damaged_file_is_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "tokens.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match="console_tokens"):
        Tokens(path).all()


def test_a_session_ends_when_it_is_idle_and_after_its_longest_time() -> None:
    sessions = Sessions(Tokens(None))
    session = sessions.begin(ANN, 0.0)
    assert sessions.find(session.key, IDLE_SECONDS - 1) is session
    assert sessions.find(session.key, 2 * IDLE_SECONDS) is None
    session = sessions.begin(ANN, 0.0)
    now = 0.0
    while now < LONGEST_SECONDS:
        assert sessions.find(session.key, now) is session
        now += IDLE_SECONDS - 1
    assert sessions.find(session.key, LONGEST_SECONDS + 1) is None
    assert len(sessions) == 0


def test_live_updates_do_not_keep_a_session() -> None:
    sessions = Sessions(Tokens(None))
    session = sessions.begin(ANN, 0.0)
    assert sessions.find(session.key, IDLE_SECONDS - 1, background=True) is session
    assert sessions.find(session.key, IDLE_SECONDS + 1, background=True) is None


def test_a_session_ends_with_its_token(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "tokens.json")
    sessions = Sessions(tokens)
    tokens.add(token_of("one", name="one"))
    tokens.add(token_of("two", name="two"))
    entry = tokens.find("one", NOW)
    assert entry is not None
    session = sessions.begin(entry.person("127.0.0.9"), 0.0)
    assert sessions.find(session.key, 1.0) is session
    tokens.remove("two")
    assert sessions.find(session.key, 2.0) is session
    tokens.remove("one")
    assert sessions.find(session.key, 3.0) is None
    tokens.add(token_of("one", name="one"))
    assert sessions.find(session.key, 4.0) is None


@pytest.mark.parametrize(
    "change",
    [
        {"role": "operator"},
        {"queues": ("private$\\orders",)},
        {"principal": "user:bob"},
        {"ends": datetime(2026, 11, 17, tzinfo=UTC)},
    ],
)
def test_a_token_that_was_changed_vouches_for_nobody(
    tmp_path: Path, change: dict[str, object]
) -> None:
    tokens = Tokens(tmp_path / "tokens.json")
    tokens.add(token_of("one"))
    entry = tokens.find("one", NOW)
    assert entry is not None
    person = entry.person("127.0.0.9")
    assert tokens.vouches_for(person, NOW)
    tokens.remove("ann")
    tokens.add(token_of("one", **change))
    assert not tokens.vouches_for(person, NOW)


def test_sessions_have_keys_and_csrf_tokens_of_their_own() -> None:
    sessions = Sessions(Tokens(None))
    one, two = (sessions.begin(ANN, 0.0) for _ in range(2))
    assert one.key != two.key
    assert one.matches(one.csrf)
    assert not one.matches(two.csrf)
    assert not one.matches("")


def test_a_link_works_once_and_not_for_long(tmp_path: Path) -> None:
    links = Links(tmp_path)
    code = links.make(os.getuid(), 0.0).path.rpartition("/")[2]
    person = links.take(code, LINK_SECONDS - 1)
    assert person is not None
    assert person.role is Role.ADMINISTRATOR
    assert links.take(code, LINK_SECONDS - 1) is None
    late = links.make(12345, 0.0)
    assert late.role == "operator"
    assert links.take(late.path.rpartition("/")[2], LINK_SECONDS) is None
    assert links.take("guessed", 0.0) is None


def test_a_limit_gives_back_with_time() -> None:
    limit = RateLimit(3, 60.0)
    assert [limit.take("a", 0.0) for _ in range(3)] == [0.0, 0.0, 0.0]
    assert limit.take("a", 0.0) == pytest.approx(20.0)
    assert limit.take("b", 0.0) == 0.0
    assert limit.take("a", 20.1) == 0.0
    slots = Slots(1)
    assert slots.take()
    assert not slots.take()
    slots.give()
    assert slots.take()


@pytest.mark.parametrize(
    ("header", "allowed"),
    [
        ("127.0.0.5:8780", True),
        ("localhost", True),
        ("LocalHost:1", True),
        ("alpha.example", True),
        ("evil.example", False),
        ("127.0.0.5.evil.example", False),
        ("", False),
        (None, False),
        ("[::1]:8780", False),
    ],
)
def test_only_names_of_the_console_are_answered(header: str | None, *, allowed: bool) -> None:
    assert Hosts("127.0.0.5", ["Alpha.example"]).allows(header) is allowed


def test_an_unspecified_address_is_no_name() -> None:
    assert not Hosts("0.0.0.0").allows("0.0.0.0")  # noqa: S104 - nothing listens


def test_the_policy_is_the_one_that_was_agreed() -> None:
    assert content_security_policy("N") == (
        "default-src 'none'; script-src 'self' 'nonce-N'; style-src 'self'; img-src 'self'; "
        "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types htmx"
    )
    names = {name for name, _ in headers_of("N", tls=True)}
    assert b"strict-transport-security" in names
    assert names - {name for name, _ in headers_of("N", tls=False)} == {
        b"strict-transport-security"
    }


def test_queues_of_a_token_include_their_subqueues() -> None:
    person = Person(principal="user:ann", role=Role.READER, queues=("private$\\shop.*",))
    assert person.may_use("private$\\Shop.orders")
    assert person.may_use("private$\\shop.orders;retry")
    assert not person.may_use("private$\\payments")
    assert not person.may_use("system$;DEADLETTER")
    assert not person.sees_bodies
    assert Person(principal="a", role=Role.OPERATOR).sees_bodies


def test_an_action_is_noted_before_and_after(tmp_path: Path) -> None:
    log = AuditLog(tmp_path)
    entry = log.begin(ANN, "purge_queue", target="private$\\orders")
    first = json.loads((tmp_path / "audit.jsonl").read_text())
    assert (first["result"], first["principal"]) == ("begun", "user:ann")
    log.end(entry, "done", count=3)
    again = AuditLog(tmp_path)
    assert [each.result for each in again.newest()] == ["done", "begun"]
    assert next(again.newest()).count == 3


def test_the_log_is_rotated_and_survives_a_cut_line(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    log = AuditLog(tmp_path)
    log.begin(ANN, "purge_queue", key="a-b")
    path.write_bytes((b"x" * (LARGEST_FILE - 1) + b"\n" + path.read_bytes())[-LARGEST_FILE:])
    log.begin(ANN, "send_message")
    assert (tmp_path / "audit.1.jsonl").stat().st_size == LARGEST_FILE
    assert path.stat().st_size < 1000
    path.write_bytes(path.read_bytes() + b'{"numb')
    again = AuditLog(tmp_path)
    assert [entry.action for entry in again.newest()] == ["send_message", "purge_queue"]
    assert [entry.key for entry in again.keyed(10)] == ["a-b"]
    again.begin(ANN, "remove_messages")
    assert next(AuditLog(tmp_path).newest()).action == "remove_messages"


def test_the_log_is_read_to_its_beginning(tmp_path: Path) -> None:
    log = AuditLog(tmp_path)
    for number in range(2_500):
        log.note("sign_in", ANN, f"{number}")
        if number in (700, 1_900):
            for old, new in (("audit.1", "audit.2"), ("audit", "audit.1")):
                if (file := tmp_path / f"{old}.jsonl").exists():
                    file.rename(tmp_path / f"{new}.jsonl")
    wanted = [f"{number}" for number in reversed(range(2_500))]
    assert [entry.result for entry in AuditLog(tmp_path).newest()] == wanted


def test_a_log_that_is_rotated_while_it_is_read_is_read_once(tmp_path: Path) -> None:
    log = AuditLog(tmp_path)
    for number in range(3):
        log.note("sign_in", ANN, f"{number}")
    entries = log.newest()
    first = next(entries)
    (tmp_path / "audit.jsonl").rename(tmp_path / "audit.1.jsonl")
    log.note("sign_in", ANN, "3")
    assert [first.result, *(entry.result for entry in entries)] == ["2", "1", "0"]


def test_what_no_file_could_take_is_in_its_place_of_the_log(tmp_path: Path) -> None:
    log = AuditLog(tmp_path)
    for word in ("first", "lost", "last"):
        file = tmp_path / "audit.jsonl"
        if word == "lost":
            file.rename(tmp_path / "audit.1.jsonl")
            file.mkdir()
        elif file.is_dir():
            file.rmdir()
        log.note("sign_in", ANN, word)
        time.sleep(0.002)
    assert [entry.result for entry in log.newest()] == ["last", "lost", "first"]
