"""The operations of one commit, and several commits merged into one."""

import pytest

from openmsmq.wire.batch import RESTORED_KEY, STORE_TABLE, Batch, merge


def test_an_empty_batch_is_false_and_has_no_length() -> None:
    assert not Batch()
    assert len(Batch()) == 0
    assert Batch().size == 0


def test_every_kind_of_operation_counts() -> None:
    batch = Batch()
    batch.put(1, b"record", b"packet")
    assert batch
    assert len(batch) == 1
    batch.update(1, b"changed")
    batch.delete(2)
    batch.set_row(3, b"key", b"value")
    batch.delete_row(3, b"other")
    assert len(batch) == 5
    assert batch.size == len(b"recordpacketchangedkeyvalueother") + 5 * 32


def test_a_batch_of_deletes_rows_or_updates_alone_is_true() -> None:
    deletes, rows, updates = Batch(), Batch(), Batch()
    deletes.delete(1)
    rows.delete_row(1, b"")
    updates.update(1, b"")
    assert deletes
    assert rows
    assert updates


def test_many_operations_equal_one_by_one() -> None:
    one, many = Batch(), Batch()
    for key in range(3):
        one.put(key, b"r%d" % key, b"p%d" % key)
        one.delete(key + 10)
    many.put_many(range(3), [b"r0", b"r1", b"r2"], [b"p0", b"p1", b"p2"])
    many.delete_many(range(10, 13))
    assert (one.put_keys, one.records, one.packets) == (many.put_keys, many.records, many.packets)
    assert one.deletes == many.deletes


def test_lists_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="differ in number"):
        Batch().put_many([1, 2], [b""], [b"", b""])


def test_the_last_update_and_the_last_row_count() -> None:
    batch = Batch()
    batch.update(1, b"old")
    batch.update(1, b"new")
    batch.set_row(2, b"k", b"old")
    batch.delete_row(2, b"k")
    assert batch.updates == {1: b"new"}
    assert batch.rows == {(2, b"k"): None}


def test_the_mark_of_a_restored_copy_is_a_row_of_the_store() -> None:
    batch = Batch()
    batch.clear_restored()
    assert batch.rows == {(STORE_TABLE, RESTORED_KEY): None}


def test_a_single_batch_merges_to_itself() -> None:
    batch = Batch()
    batch.put(1, b"r", b"p")
    assert merge([batch]) is batch


def test_merged_batches_keep_their_order_and_stay_unchanged() -> None:
    first, second = Batch(), Batch()
    first.put(1, b"r1", b"p1")
    first.update(7, b"old")
    first.set_row(1, b"k", b"old")
    second.put(2, b"r2", b"p2")
    second.update(7, b"new")
    second.set_row(1, b"k", b"new")
    second.delete(9)
    merged = merge([first, second])
    assert merged.put_keys == [1, 2]
    assert merged.records == [b"r1", b"r2"]
    assert merged.packets == [b"p1", b"p2"]
    assert merged.updates == {7: b"new"}
    assert merged.deletes == [9]
    assert merged.rows == {(1, b"k"): b"new"}
    assert first.put_keys == [1]
    assert first.rows == {(1, b"k"): b"old"}


def test_a_message_put_and_deleted_in_one_commit_leaves_no_trace() -> None:
    first, second = Batch(), Batch()
    first.put(1, b"r1", b"p1")
    first.put(2, b"r2", b"p2")
    first.update(1, b"u1")
    first.update(2, b"u2")
    second.delete(1)
    second.delete(3)
    merged = merge([first, second])
    assert merged.put_keys == [2]
    assert merged.records == [b"r2"]
    assert merged.packets == [b"p2"]
    assert merged.updates == {2: b"u2"}
    assert merged.deletes == [3]
    assert first.put_keys == [1, 2]


def test_deletes_of_other_messages_change_nothing() -> None:
    batch = Batch()
    batch.put(1, b"r", b"p")
    batch.delete(2)
    assert merge([batch]) is batch


def test_many_updates_are_like_single_ones() -> None:
    one, many = Batch(), Batch()
    for key, record in ((1, b"a"), (2, b"b"), (1, b"c")):
        one.update(key, record)
    many.update_many([1, 2, 1], [b"a", b"b", b"c"])
    assert many.updates == one.updates == {1: b"c", 2: b"b"}
    with pytest.raises(ValueError, match="shorter"):
        many.update_many([1, 2], [b"a"])
