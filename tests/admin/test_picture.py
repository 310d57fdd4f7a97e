"""Samples put together."""

from openmsmq.admin.picture import Picture

from .test_history import head, queues


def counts(picture: Picture, column: str = "messages") -> dict[int, int]:
    values = picture.columns[column]
    return {number: values[queue.row] for number, queue in picture.queues.items()}


def test_rows_stay_with_their_queues_when_others_are_removed() -> None:
    picture = Picture()
    rows = [{"number": number, "messages": 10 * number} for number in (1, 2, 3)]
    picture.take([head(complete=True), queues(*rows, new=(1, 2, 3))])
    assert counts(picture) == {1: 10, 2: 20, 3: 30}
    generation = picture.generation
    picture.take([head(2, removed=[2, 9])])
    assert counts(picture) == {1: 10, 3: 30}
    assert picture.generation != generation
    picture.take([head(3), queues({"number": 4, "messages": 40}, {"number": 3}, new=(4,))])
    assert counts(picture) == {1: 10, 3: 0, 4: 40}
    assert picture.changed == {3, 4}


def test_values_of_unknown_queues_are_left_out() -> None:
    picture = Picture()
    picture.take([head(complete=True), queues({"number": 1, "messages": 1}, new=(1,))])
    rows = ({"number": 7, "messages": 7}, {"number": 1, "messages": 2})
    picture.take([head(2), queues(*rows)])
    assert (counts(picture), picture.changed) == ({1: 2}, {1})


def test_a_queue_that_is_new_twice_keeps_its_row() -> None:
    picture = Picture()
    picture.take([head(complete=True), queues({"number": 1}, {"number": 2}, new=(1, 2))])
    generation, queue = picture.generation, picture.queues[1]
    picture.take([head(2), queues({"number": 1, "messages": 5}, new=(1,))])
    assert (picture.generation, picture.queues[1]) == (generation, queue)
    assert counts(picture) == {1: 5, 2: 0}


def test_a_complete_sample_forgets_what_was_before() -> None:
    picture = Picture()
    picture.take([head(complete=True), queues({"number": 1, "messages": 5}, new=(1,))])
    picture.take([head(2, complete=True), queues({"number": 2, "messages": 6}, new=(2,))])
    assert counts(picture) == {2: 6}
