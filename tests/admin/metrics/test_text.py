"""The text of metrics, without a queue manager."""

from collections.abc import Iterable

from openmsmq.admin.metrics.text import Family, histogram, labelled, labels, single, write


def text_of(families: Iterable[Family], *, openmetrics: bool = False) -> str:
    return b"".join(write(families, openmetrics=openmetrics)).decode()


def test_both_formats() -> None:
    families = [
        single("msmq_ready", "gauge", "Ready.", 1),
        labelled("msmq_x_total", "counter", "X.", [(labels(a="b"), 2.5)]),
        labelled("msmq_info", "info", "Who.", [(labels(name="n"), 1)]),
        Family("msmq_empty", "gauge", "Nothing.", list),
    ]
    assert text_of(families) == (
        "# HELP msmq_ready Ready.\n# TYPE msmq_ready gauge\nmsmq_ready 1\n"
        '# HELP msmq_x_total X.\n# TYPE msmq_x_total counter\nmsmq_x_total{a="b"} 2.5\n'
        '# HELP msmq_info Who.\n# TYPE msmq_info gauge\nmsmq_info{name="n"} 1\n'
    )
    assert text_of(families, openmetrics=True) == (
        "# HELP msmq_ready Ready.\n# TYPE msmq_ready gauge\nmsmq_ready 1\n"
        '# HELP msmq_x X.\n# TYPE msmq_x counter\nmsmq_x_total{a="b"} 2.5\n'
        '# HELP msmq Who.\n# TYPE msmq info\nmsmq_info{name="n"} 1\n# EOF\n'
    )


def test_a_histogram_adds_up() -> None:
    text = text_of([histogram("h", "H.", (0.5, 1.0), (1, 2, 3), 7.5)])
    assert text.splitlines()[2:] == [
        'h_bucket{le="0.5"} 1',
        'h_bucket{le="1.0"} 3',
        'h_bucket{le="+Inf"} 6',
        "h_sum 7.5",
        "h_count 6",
    ]


def test_hostile_names_stay_in_their_label() -> None:
    hostile = 'a"} 1\nmsmq_ready 0\\ \u202e<b> \ud800 \0'
    text = text_of([labelled("msmq_x", "gauge", "X.", [(labels(queue=hostile), 1)])])
    assert len(text.splitlines()) == 3
    assert 'a\\"} 1\\nmsmq_ready 0\\\\ ' in text
