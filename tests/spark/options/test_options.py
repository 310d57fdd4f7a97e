"""Options: what is wrong is refused by name, with what is allowed."""

from pathlib import Path
from typing import Any

import pytest

from openmsmq.spark.options.records import ReadOptions, Where, WriteOptions, check_options
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.errors import ConfigError

QUEUE = {"queue": r".\private$\orders"}
EXCLUSIVE = {"consume": "exclusive"}
LEASE = {**QUEUE, "consume": "lease", "consumerName": "x"}


def test_defaults_are_those_of_the_documentation() -> None:
    options = ReadOptions.parse(QUEUE)
    assert options.queues == (r".\private$\orders",)
    assert (options.kind, options.consume, options.order) == ("queue", "none", "arrival")
    assert (options.starting_offsets, options.ending_offsets) == ("earliest", "latest")
    assert options.max_trigger_delay == 15 * 60
    assert options.fail_on_data_loss
    assert not options.pin
    assert (options.include, options.body_format) == (("headers", "body"), "binary")


def test_names_and_words_are_taken_in_any_case() -> None:
    options = ReadOptions.parse({"QUEUE": "a", "CoNsUmE": "EXCLUSIVE", "failondataloss": "False"})
    assert options.consume == "exclusive"
    assert not options.fail_on_data_loss


def test_a_name_in_load_or_save_is_the_queue() -> None:
    assert ReadOptions.parse({"path": r".\private$\orders"}).queues == (r".\private$\orders",)
    assert WriteOptions.parse({"path": r".\private$\orders"}).queue == r".\private$\orders"
    check_options({"path": r".\private$\orders", "consume": "exclusive"})


def test_options_of_spark_are_left_to_spark() -> None:
    assert ReadOptions.parse({**QUEUE, "checkpointLocation": "/somewhere"}).queues


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("maxBytesPerTrigger", "16m", 16 << 20),
        ("maxBytesPerTrigger", "1000", 1000),
        ("maxTriggerDelay", "90s", 90.0),
        ("maxTriggerDelay", "500ms", 0.5),
        ("pin", "true", 3600.0),
        ("pin", "2h", 7200.0),
        ("pin", "false", 0.0),
        ("startingTimestamp", "1970-01-01T00:01:00Z", 60.0),
        ("startingTimestamp", "1970-01-01T01:00:00+01:00", 0.0),
        ("startingTimestamp", "1970-01-01 00:01:00", 60.0),
        ("startingTimestamp", "12.5", 12.5),
        ("startingOffsets", '{"a": 5}', {"a": 5}),
        ("startingOffsets", '{"v": 1, "queues": {"a": {"seq": 5}}}', {"a": {"seq": 5}}),
        ("startingOffsets", "LATEST", "latest"),
        ("include", "headers, packet", ("headers", "packet")),
        ("minPartitions", "7", 7),
    ],
)
def test_values_are_read(name: str, value: str, expected: Any) -> None:
    given = {**QUEUE, name: value} | ({"consume": "exclusive"} if name == "pin" else {})
    fields = {
        "maxBytesPerTrigger": "max_bytes_per_trigger",
        "maxTriggerDelay": "max_trigger_delay",
        "startingTimestamp": "starting_timestamp",
        "startingOffsets": "starting_offsets",
        "minPartitions": "min_partitions",
    }
    assert getattr(ReadOptions.parse(given), fields.get(name, name)) == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"consume": "some"}, "option consume: 'some' must be one of none, exclusive, lease"),
        ({"kind": "x"}, "option kind: 'x' must be one of queue, journal, deadletter"),
        ({"quue": "x"}, r"option quue: unknown; did you mean queue\?"),
        ({"MAXMESSAGEPERTRIGGER": "x"}, r"unknown; did you mean maxMessagesPerTrigger\?"),
        ({"zzz": "x"}, "option zzz: unknown; the options are endpoint, auth.token"),
        ({"subscribe": "x"}, "option subscribe: unknown; here it is queue or queues"),
        ({"subscribePattern": "x"}, "option subscribePattern: unknown; here it is queuePattern"),
        ({"maxOffsetsPerTrigger": "9"}, "unknown; here it is maxMessagesPerTrigger"),
        ({"path": "x"}, r"option queue: not together with a name in load\(\)"),
        ({"maxMessagesPerTrigger": "0"}, "maxMessagesPerTrigger: 0 is not a whole number of at"),
        ({"maxMessagesPerTrigger": "x"}, "maxMessagesPerTrigger: 'x' is not a whole number"),
        ({"maxBytesPerTrigger": "-1"}, "maxBytesPerTrigger: '-1' is not a number of bytes"),
        ({"maxTriggerDelay": "soon"}, "maxTriggerDelay: 'soon' is not a time such as 500ms"),
        ({"where.priorityMin": "8"}, "where.priorityMin: 8 is not a whole number from 0 to 7"),
        ({"where.class": "X"}, "where.class: 'X' is neither a number nor one of NORMAL"),
        ({"startingOffsets": "{"}, "startingOffsets: '{' is neither earliest, latest nor JSON"),
        ({"startingOffsets": "[1]"}, "startingOffsets: .* is neither earliest"),
        ({"startingOffsets": '{"a": -3}'}, "startingOffsets: .* is neither earliest"),
        ({"startingOffsets": '{"v": 1}'}, "startingOffsets: .* is neither earliest"),
        ({"startingOffsets": '{"a": true}'}, "startingOffsets: .* is neither earliest"),
        ({"startingTimestamp": "noon"}, "startingTimestamp: 'noon' is neither a time such as"),
        ({"pin": "maybe"}, "option pin: 'maybe' is neither true, false nor a time"),
        ({"failOnDataLoss": "no"}, "failOnDataLoss: 'no' must be one of true, false"),
        ({"include": "all"}, "include: 'all' must be one of headers, body, packet, security"),
        ({"bodyFormat": "yaml"}, "bodyFormat: 'yaml' must be one of binary, text, auto, xml, json"),
        ({"mode": "dropmalformed"}, "mode: 'dropmalformed' must be one of permissive, failfast"),
        ({"isolation": "dirty"}, "isolation: 'dirty' must be one of stable"),
        ({"queue": ""}, "option queue: must not be empty"),
        ({"queues": " , "}, "option queues: must be one or more names"),
        ({"minPartitions": "1000000"}, "minPartitions: 1000000 is not .* from 1 to 100000"),
        ({"onError": "skip"}, "option onError: unknown"),
    ],
)
def test_a_wrong_option_is_refused_by_name(given: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ReadOptions.parse({**QUEUE, **given})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "one of queue, queues, queuePattern is needed"),
        ({**QUEUE, "queues": "b"}, "option queue: not together with queues"),
        ({"queues": "b,b"}, "option queues: .* names a queue twice"),
        ({**QUEUE, "kind": "deadletter"}, "kind=deadletter is one queue of the machine"),
        ({**QUEUE, "kind": "journal", "subqueue": "s"}, "option subqueue: not with kind=journal"),
        ({"queuePattern": "*", "subqueue": "s"}, "option subqueue: not together with queuePattern"),
        (
            {**QUEUE, "startingOffsets": "latest", "startingTimestamp": "1"},
            "option startingOffsets: not together with startingTimestamp",
        ),
        ({"kind": "journal", "startingOffsets": '{"a": 1}'}, "startingOffsets: JSON needs queues"),
        ({**QUEUE, "consume": "lease"}, "option consumerName: needed with consume=lease"),
        ({**QUEUE, "consumerName": "x"}, "option consumerName: for consume=lease only"),
        (
            {**QUEUE, "consume": "lease", "consumerName": "a;b"},
            "consumerName: 'a;b' is not 1 to 26 letters",
        ),
        (
            {**QUEUE, "consume": "lease", "consumerName": "x" * 27},
            "is not 1 to 26 letters",
        ),
        (
            {"kind": "journal", "consume": "lease", "consumerName": "x"},
            "lease needs queues that have subqueues",
        ),
        (
            {**QUEUE, "consume": "lease", "consumerName": "x", "startingOffsets": "latest"},
            "consume=lease takes what is in the queue; allowed is earliest",
        ),
        ({**QUEUE, "kind": "outgoing", "consume": "exclusive"}, "outgoing queues can only be"),
        ({**QUEUE, "pin": "true"}, "option pin: needs consume=exclusive or lease"),
        ({**QUEUE, "where.label": "x", "consume": "exclusive"}, "where.*: .* unmatched=leave"),
        (
            {**LEASE, "where.label": "x", "unmatched": "leave"},
            "where.*: not with consume=lease, which moves",
        ),
        ({**QUEUE, "unmatched": "leave"}, "option unmatched: for where.* with consume=exclusive"),
        ({**QUEUE, "where.label": "x", "unmatched": "leave"}, "option unmatched: for where"),
        (
            {**QUEUE, **EXCLUSIVE, "where.label": "x", "unmatched": "leave", "pin": "true"},
            "option pin: not with where",
        ),
        ({**QUEUE, **EXCLUSIVE, "where.label": "x", "unmatched": "drop"}, "must be one of leave"),
        ({**QUEUE, "auth.token": "a", "auth.tokenFile": "b"}, "not together with auth.tokenFile"),
    ],
)
def test_options_that_do_not_go_together_are_refused(given: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ReadOptions.parse(given)


def test_what_is_not_given_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENMSMQ_SOCKET", "far:4000")
    monkeypatch.setenv("OPENMSMQ_TOKEN_FILE", "/run/token")
    monkeypatch.setenv("OPENMSMQ_CA_FILE", "/run/ca.pem")
    found = ReadOptions.parse(QUEUE).connection
    assert (found.endpoint, found.token_file) == ("far:4000", "/run/token")
    assert found.ca_file == "/run/ca.pem"
    given = {"auth.token": "s3cret", "auth.caFile": "/mine.pem"}
    found = ReadOptions.parse({**QUEUE, **given}).connection
    assert (found.token, found.token_file, found.ca_file) == ("s3cret", None, "/mine.pem")
    # Sockets need none.
    found = ReadOptions.parse({**QUEUE, "endpoint": "/run/a=b/openmsmq.sock"}).connection
    assert (found.token_file, found.ca_file) == (None, None)


@pytest.mark.parametrize("endpoint", ["amqp://host", "DIRECT=OS:host", "http://host:80"])
def test_an_endpoint_of_no_kind_is_refused_and_says_which_there_are(endpoint: str) -> None:
    with pytest.raises(ConfigError, match=r"msmq://host\[:port\] of any MSMQ server"):
        ReadOptions.parse({**QUEUE, "endpoint": endpoint})


def test_credentials_are_never_shown() -> None:
    options = ReadOptions.parse({**QUEUE, "endpoint": "host:1", "auth.token": "s3cret"})
    assert options.connection.token == "s3cret"
    assert "s3cret" not in repr(options)
    for given in ({"auth.token": ""}, {"auth.token": "s3cret", "auth.tokenFile": "s3cret"}):
        with pytest.raises(ConfigError) as caught:
            ReadOptions.parse({**QUEUE, **given})
        assert "s3cret" not in str(caught.value)


def test_a_batch_read_never_consumes() -> None:
    with pytest.raises(ConfigError, match="option consume: exclusive is for streams"):
        ReadOptions.parse({**QUEUE, "consume": "exclusive"}).check_batch()
    for name, value in (
        ("maxMessagesPerTrigger", "5"),
        ("maxBytesPerTrigger", "5kb"),
        ("minMessagesPerTrigger", "5"),
        ("maxTriggerDelay", "5s"),
    ):
        with pytest.raises(ConfigError, match=f"option {name}: for streams only"):
            ReadOptions.parse({**QUEUE, name: value}).check_batch()


def test_a_stream_has_no_end() -> None:
    for name, value in (("endingOffsets", '{"a": 1}'), ("endingTimestamp", "5")):
        with pytest.raises(ConfigError, match=f"option {name}: a stream has no end"):
            ReadOptions.parse({**QUEUE, name: value}).check_stream()


def test_conditions_are_read() -> None:
    given = {
        "where.label": "a",
        "where.class": "mqmsg_class_nack_q_purged",
        "where.correlationId": "{x}\\1",
        "where.priorityMin": "4",
    }
    where = ReadOptions.parse({**QUEUE, **given}).where
    assert where == Where("a", int(MessageClass.NACK_Q_PURGED), "{x}\\1", 4)
    assert where
    assert not Where()
    assert ReadOptions.parse({**QUEUE, "where.class": "0x8004"}).where.message_class == 0x8004


def test_a_write_knows_where_its_columns_are() -> None:
    options = WriteOptions.parse({**QUEUE, "labelColumn": "title", "bodyTypeColumn": "vt"})
    assert options.queue == QUEUE["queue"]
    assert dict(options.columns) == {"label": "title", "body_type": "vt"}


def test_a_write_refuses_options_of_reading() -> None:
    with pytest.raises(ConfigError, match="option consume: unknown"):
        WriteOptions.parse({**QUEUE, "consume": "none"})
    with pytest.raises(ConfigError, match="option deadLetterQueue: needed with onError=deadletter"):
        WriteOptions.parse({**QUEUE, "onError": "deadletter"})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"consume": "lease", "onError": "skip"}, "options consume are for reading, onerror for"),
        ({"nothing": "x"}, "option nothing: unknown"),
        ({"consume": "lease"}, "one of queue, queues, queuePattern is needed"),
        ({"onError": "deadletter"}, "option deadLetterQueue: needed"),
    ],
)
def test_what_is_wrong_either_way_is_refused_at_once(given: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        check_options(given)


def test_options_of_either_way_are_left_for_later() -> None:
    check_options({})
    check_options(QUEUE)


def test_the_page_has_every_option_of_reading() -> None:
    page = (Path(__file__).parents[3] / "docs" / "spark.md").read_text(encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        ReadOptions.parse({"no such option": "x"})
    names = str(caught.value).partition("the options are ")[2].split(", ")
    assert len(names) > 30
    assert [name for name in names if f"`{name}" not in page] == []
