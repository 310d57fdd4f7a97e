"""Jobs: tried, carried out, stopped, resumed and undone."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import openmsmq
from openmsmq.care.dead_letters import DEAD_LETTER_QUEUES, dead_letters, group_dead_letters
from openmsmq.care.durable import locked_directory
from openmsmq.care.filters import filter_to_data, parse_filter
from openmsmq.care.jobs import (
    Job,
    JobKind,
    JobReport,
    JobRunner,
    JobSpec,
    Limits,
    dry_run_undo,
    is_running,
    job_ids,
    load_job,
    plan_job,
    undo_job,
)
from openmsmq.care.jobs.planning import job_id
from openmsmq.care.packet_files import SavedMessage, load_messages
from openmsmq.wire.errors import ConfigError

ORDERS = r".\private$\orders"
BILLS = r".\private$\bills"


def where(text: str) -> dict[str, object]:
    return filter_to_data(parse_filter(text))


class Jobs:
    """Plans and runs jobs of one queue manager."""

    def __init__(self, manager: openmsmq.QueueManager, directory: Path) -> None:
        self.manager = manager
        self.directory = directory

    def plan(self, **spec: object) -> Job:
        return plan_job(self.manager, JobSpec(**spec), self.directory)  # type: ignore[arg-type]

    def runner(self, job: Job, **options: object) -> JobRunner:
        address = self.manager.address
        return JobRunner(job, lambda: openmsmq.connect(address), **options)  # type: ignore[arg-type]

    def run(self, **spec: object) -> tuple[JobReport, Job]:
        """Run a job after its dry run, which has to say the same."""
        job = self.plan(**spec)
        tried = self.runner(job).dry_run()
        report = self.runner(job).run()
        assert tried[2:] == report[2:]
        return report, load_job(job.folder)


@pytest.fixture
def jobs(qm: openmsmq.QueueManager, tmp_path: Path) -> Jobs:
    qm.create_queue(ORDERS)
    qm.create_queue(BILLS)
    return Jobs(qm, tmp_path / "jobs")


def send(qm: openmsmq.QueueManager, count: int, name: str = ORDERS, **rest: object) -> None:
    messages = (
        openmsmq.Message(f"{number}", f"order {number}", **rest)  # type: ignore[arg-type]
        for number in range(count)
    )
    qm.open_queue(name, "send").send_many(messages)


def bodies(qm: openmsmq.QueueManager, name: str) -> list[str]:
    with qm.open_queue(name, "peek") as queue:
        return [str(message.body) for message in queue.cursor()]


def let_die(qm: openmsmq.QueueManager, count: int, name: str = ORDERS) -> None:
    """Messages whose time runs out become dead letters."""
    there = qm.open_queue(";deadletter").count()
    send(qm, count, name, dead_letter=True, delivery="recoverable", time_to_be_received=1)
    deadline = time.monotonic() + 60
    while qm.open_queue(";deadletter").count() < there + count and time.monotonic() < deadline:
        time.sleep(0.05)


def test_dead_letters_are_sent_again_and_put_back(jobs: Jobs) -> None:
    qm = jobs.manager
    let_die(qm, 1200)
    (group,) = group_dead_letters(dead_letters(qm), time.time())
    assert (group.messages, group.worth_retrying) == (1200, True)
    assert group.reason.startswith("the time to be received ran out")
    report, job = jobs.run(kind=JobKind.RETRY, sources=DEAD_LETTER_QUEUES, limits=Limits.LIFT)
    assert (report.state, report.done, report.left) == ("finished", 1200, 0)
    assert bodies(qm, ";deadletter") == []
    assert bodies(qm, ORDERS) == [f"{number}" for number in range(1200)]
    first = qm.open_queue(ORDERS).receive(timeout=5)
    assert (first.class_, first.time_to_be_received) == (0, None)
    qm.flush()
    undone = undo_job(qm, job)
    assert (undone.undone, undone.gone) == (1199, 1)
    assert len(bodies(qm, ";deadletter")) == 1199
    assert qm.open_queue(";deadletter").peek().class_name == "MQMSG_CLASS_NACK_RECEIVE_TIMEOUT"
    again = undo_job(qm, load_job(job.folder))
    assert again == undone


def test_time_limits_that_are_kept_may_be_over(jobs: Jobs) -> None:
    let_die(jobs.manager, 3)
    report, _ = jobs.run(kind=JobKind.RETRY, sources=DEAD_LETTER_QUEUES, limits=Limits.KEEP)
    assert (report.done, report.refused) == (0, 3)
    assert "its time is over" in next(iter(report.reasons))
    assert jobs.manager.open_queue(";deadletter").count() == 3


def test_what_a_full_queue_refuses_is_known_before_and_stays(jobs: Jobs) -> None:
    qm = jobs.manager
    send(qm, 600)
    qm.set_queue(BILLS, quota=20)
    report, job = jobs.run(kind=JobKind.RETRY, sources=(ORDERS,), target=BILLS)
    assert report.done + report.refused == 600
    assert 0 < report.done < 200
    (reason,) = {text.partition(":")[0] for text in report.reasons}
    assert reason == "MQ_ERROR_INSUFFICIENT_RESOURCES"
    assert len(bodies(qm, BILLS)) == report.done
    assert len(bodies(qm, ORDERS)) == report.refused
    assert undo_job(qm, job).undone == report.done
    assert len(bodies(qm, ORDERS)) == 600


def test_messages_without_a_way_stay(jobs: Jobs) -> None:
    qm = jobs.manager
    send(qm, 3)
    report, _ = jobs.run(kind=JobKind.RETRY, sources=(ORDERS,), target=r".\private$\none")
    assert (report.done, report.refused) == (0, 3)
    assert "MQ_ERROR_QUEUE_NOT_FOUND" in next(iter(report.reasons))
    assert len(bodies(qm, ORDERS)) == 3


def test_ids_of_jobs_sort_by_time() -> None:
    ids = [job_id(1_800_000_000 + step / 1000) for step in range(0, 3000, 7)]
    assert ids == sorted(ids)
    assert {len(each) for each in ids} == {24}


def test_moves_and_their_undo(jobs: Jobs) -> None:
    qm = jobs.manager
    send(qm, 30)
    report, job = jobs.run(
        kind=JobKind.MOVE, sources=(ORDERS,), target=";held", where=where("label ~ 2")
    )
    assert report.done == 12
    assert len(bodies(qm, f"{ORDERS};held")) == 12
    qm.open_queue(f"{ORDERS};held").receive(timeout=5)
    qm.flush()
    assert dry_run_undo(qm, job)[1:] == (11, 1)
    assert len(bodies(qm, ORDERS)) == 18
    assert undo_job(qm, job)[1:] == (11, 1)
    assert len(bodies(qm, ORDERS)) == 29
    assert dry_run_undo(qm, job)[1:] == (0, 0)


def test_a_move_that_is_refused_says_so_before(jobs: Jobs) -> None:
    send(jobs.manager, 3)
    report, _ = jobs.run(kind=JobKind.MOVE, sources=(ORDERS,), target=BILLS)
    assert (report.done, report.refused) == (0, 3)
    assert "MQ_ERROR_ILLEGAL_OPERATION" in next(iter(report.reasons))


@pytest.mark.parametrize("name", ["a.omq", "a.jsonl"])
def test_messages_are_saved_and_loaded(jobs: Jobs, tmp_path: Path, name: str) -> None:
    qm = jobs.manager
    send(qm, 700)
    file = str(tmp_path / name)
    assert jobs.run(kind=JobKind.SAVE, sources=(ORDERS,), file=file)[0].done == 700
    assert len(bodies(qm, ORDERS)) == 700
    report, job = jobs.run(
        kind=JobKind.LOAD, target=BILLS, file=file, where=where("label like 'order 1*'")
    )
    assert report.done == 111
    assert all(body.startswith("1") for body in bodies(qm, BILLS))
    assert undo_job(qm, job).undone == 111
    assert bodies(qm, BILLS) == []


def test_a_file_is_read_once_for_all_steps_of_a_load(
    jobs: Jobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(jobs.manager, 100)
    file = str(tmp_path / "a.omq")
    jobs.run(kind=JobKind.SAVE, sources=(ORDERS,), file=file)
    job = jobs.plan(kind=JobKind.LOAD, target=BILLS, file=file, step=10)
    opened: list[Path] = []

    def noted(path: Path) -> Iterator[SavedMessage]:
        opened.append(path)
        return load_messages(path)

    monkeypatch.setattr("openmsmq.care.packet_files.load_messages", noted)
    assert jobs.runner(job).run().done == 100
    assert opened == [Path(file)]
    assert bodies(jobs.manager, BILLS) == [f"{number}" for number in range(100)]


@pytest.mark.parametrize("kept", [0, 3])
def test_a_file_that_was_replaced_since_the_plan_is_not_loaded(
    jobs: Jobs, tmp_path: Path, kept: int
) -> None:
    qm = jobs.manager
    send(qm, 6)
    file = str(tmp_path / "a.omq")
    jobs.run(kind=JobKind.SAVE, sources=(ORDERS,), file=file)
    job = jobs.plan(kind=JobKind.LOAD, target=BILLS, file=file)
    # Another save has others in their places, or fewer.
    jobs.run(
        kind=JobKind.SAVE, sources=(ORDERS,), file=file, where=where(f"label != 'order {kept}'")
    )
    with pytest.raises(ConfigError, match="has changed since the job was planned"):
        jobs.runner(job).run()
    assert bodies(qm, BILLS) == []


def test_copies_leave_the_original(jobs: Jobs) -> None:
    qm = jobs.manager
    send(qm, 5)
    report, job = jobs.run(kind=JobKind.COPY, sources=(ORDERS,), target=BILLS, first=2)
    assert (report.done, len(bodies(qm, ORDERS)), bodies(qm, BILLS)) == (2, 5, ["0", "1"])
    assert undo_job(qm, job).undone == 2


@pytest.mark.parametrize("kind", [JobKind.REMOVE, JobKind.PURGE])
def test_removed_messages_are_gone_for_good(jobs: Jobs, kind: JobKind) -> None:
    qm = jobs.manager
    send(qm, 5)
    report, job = jobs.run(kind=kind, sources=(ORDERS,), where=where("label ~ 'order 3'"))
    assert (report.done, bodies(qm, ORDERS)) == (1, ["0", "1", "2", "4"])
    with pytest.raises(openmsmq.QueueError, match="cannot be undone"):
        undo_job(qm, job)


def test_a_message_that_is_received_between_search_and_action_is_gone(jobs: Jobs) -> None:
    qm = jobs.manager
    send(qm, 3)
    job = jobs.plan(kind=JobKind.RETRY, sources=(ORDERS,), target=BILLS)
    qm.open_queue(ORDERS).receive(timeout=5)
    qm.flush()
    report = jobs.runner(job).run()
    assert (report.done, report.gone) == (2, 1)
    results = [result.outcome for _, result in load_job(job.folder).results() if result]
    assert results == ["gone", "done", "done"]


def test_two_operators_send_each_message_once(jobs: Jobs) -> None:
    qm = jobs.manager
    send(qm, 1000)
    first = jobs.plan(kind=JobKind.RETRY, sources=(ORDERS,), target=BILLS)
    second = jobs.plan(kind=JobKind.RETRY, sources=(ORDERS,), target=BILLS)
    reports = [jobs.runner(first).run(), jobs.runner(second).run()]
    assert [report.done for report in reports] == [1000, 0]
    assert reports[1].gone == 1000
    assert len(bodies(qm, BILLS)) == 1000


def test_a_job_is_stopped_and_resumed(jobs: Jobs) -> None:
    qm = jobs.manager
    send(qm, 1200)
    job = jobs.plan(kind=JobKind.RETRY, sources=(ORDERS,), target=BILLS, step=500)
    asked = iter([False, True])
    stopped = jobs.runner(job, stopped=lambda: next(asked)).run()
    assert (stopped.state, stopped.done, stopped.left) == ("stopped", 500, 700)
    assert job_ids(jobs.directory) == [job.plan.id]
    resumed = jobs.runner(load_job(job.folder)).run()
    assert (resumed.state, resumed.done) == ("finished", 1200)
    assert bodies(qm, BILLS) == [f"{number}" for number in range(1200)]


def test_the_rate_is_kept(jobs: Jobs) -> None:
    send(jobs.manager, 6)
    job = jobs.plan(kind=JobKind.COPY, sources=(ORDERS,), target=BILLS, rate=20.0)
    started = time.monotonic()
    jobs.runner(job).run()
    assert time.monotonic() - started >= 6 / 20


@pytest.mark.parametrize(
    "spec",
    [
        {"kind": JobKind.RETRY},
        {"kind": JobKind.MOVE, "sources": (ORDERS,)},
        {"kind": JobKind.REMOVE, "sources": (ORDERS,), "target": BILLS},
        {"kind": JobKind.SAVE, "sources": (ORDERS,)},
        {"kind": JobKind.LOAD, "sources": (ORDERS,), "target": BILLS, "file": "x"},
        {"kind": JobKind.PURGE, "sources": (ORDERS, BILLS), "lookup_ids": (1,)},
        {"kind": JobKind.PURGE, "sources": (ORDERS,), "first": 0},
        {"kind": JobKind.COPY, "sources": (ORDERS,), "target": BILLS, "rate": 0.0},
    ],
)
def test_a_job_that_cannot_be_is_refused(jobs: Jobs, spec: dict[str, object]) -> None:
    with pytest.raises(openmsmq.QueueError, match="MQ_ERROR_INVALID_PARAMETER"):
        jobs.plan(**spec)
    assert not jobs.directory.exists()


def test_a_journal_that_was_cut_short_is_read_up_to_there(jobs: Jobs) -> None:
    send(jobs.manager, 3)
    _, job = jobs.run(kind=JobKind.COPY, sources=(ORDERS,), target=BILLS)
    journal = job.folder / "journal.jsonl"
    data = journal.read_bytes()
    journal.write_bytes(data[: data.index(b"\n") + 10])
    resumed = load_job(job.folder)
    assert resumed.state == "unfinished"
    # The queue manager knows that the batch was published.
    assert jobs.runner(resumed).run().done == 3
    assert len(bodies(jobs.manager, BILLS)) == 3


def test_there_is_no_such_job(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such job"):
        load_job(tmp_path / "x")


def test_a_queue_that_was_deleted_and_made_again_is_another_one(jobs: Jobs) -> None:
    qm = jobs.manager
    send(qm, 3)
    job = jobs.plan(kind=JobKind.REMOVE, sources=(ORDERS,))
    qm.delete_queue(ORDERS)
    qm.create_queue(ORDERS)
    send(qm, 3)
    report = jobs.runner(job).run()
    assert (report.done, report.gone) == (0, 3)
    assert len(bodies(qm, ORDERS)) == 3


def test_a_destination_that_was_made_again_takes_what_it_takes_now(jobs: Jobs) -> None:
    qm = jobs.manager
    send(qm, 3)
    job = jobs.plan(kind=JobKind.RETRY, sources=(ORDERS,), target=BILLS)
    qm.delete_queue(BILLS)
    qm.create_queue(BILLS, transactional=True)
    assert jobs.runner(job).run().done == 3
    assert qm.open_queue(BILLS).peek(timeout=5).transactional


@pytest.mark.parametrize("kind", [JobKind.RETRY, JobKind.MOVE, JobKind.REMOVE, JobKind.PURGE])
def test_a_dry_run_asks_for_the_rights_of_the_job(jobs: Jobs, kind: JobKind) -> None:
    qm = jobs.manager
    send(qm, 2)
    qm.grant(ORDERS, "uid:4711", ["peek", "get-properties"])
    target = {JobKind.RETRY: BILLS, JobKind.MOVE: f"{ORDERS};held"}.get(kind, "")
    with openmsmq.connect(qm.address, act_for="uid:4711") as reader:
        job = plan_job(reader, JobSpec(kind=kind, sources=(ORDERS,), target=target), jobs.directory)
    runner = JobRunner(job, lambda: openmsmq.connect(qm.address, act_for="uid:4711"))
    for carry_out in (runner.dry_run, runner.run):
        with pytest.raises(openmsmq.QueueError) as refused:
            carry_out()
        assert refused.value.name == "MQ_ERROR_ACCESS_DENIED"
    assert len(bodies(qm, ORDERS)) == 2


def test_a_save_is_stopped_between_two_steps_and_leaves_no_file(jobs: Jobs, tmp_path: Path) -> None:
    send(jobs.manager, 30)
    file = tmp_path / "a.omq"
    spec = {"kind": JobKind.SAVE, "sources": (ORDERS,), "file": str(file)}
    job = jobs.plan(**spec, step=10, rate=100.0)
    handled: list[tuple[int, int]] = []
    runner = jobs.runner(
        job,
        stopped=lambda: len(handled) == 2,
        progress=lambda count, of: handled.append((count, of)),
    )
    started = time.monotonic()
    stopped = runner.run()
    assert time.monotonic() - started >= 10 / 100
    assert (stopped.state, stopped.done, stopped.left) == ("stopped", 0, 30)
    assert handled == [(10, 30), (20, 30)]
    assert [path.name for path in tmp_path.iterdir()] == ["jobs"]
    finished = jobs.runner(load_job(job.folder)).run()
    assert (finished.state, finished.done, file.exists()) == ("finished", 30, True)


def test_a_save_that_was_killed_while_it_noted_its_end_is_written_again(
    jobs: Jobs, tmp_path: Path
) -> None:
    send(jobs.manager, 30)
    file = tmp_path / "a.omq"
    job = jobs.plan(kind=JobKind.SAVE, sources=(ORDERS,), file=str(file), step=10)
    jobs.runner(job).run()
    journal = job.folder / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().splitlines(keepends=True)[0])
    assert jobs.runner(load_job(job.folder)).run().done == 30
    assert jobs.run(kind=JobKind.LOAD, target=BILLS, file=str(file))[0].done == 30


def test_only_one_process_runs_a_job(jobs: Jobs) -> None:
    send(jobs.manager, 1)
    job = jobs.plan(kind=JobKind.COPY, sources=(ORDERS,), target=BILLS)
    assert not is_running(job)
    with locked_directory(job.folder):
        assert is_running(job)
        for carry_out in (jobs.runner(job).run, lambda: undo_job(jobs.manager, job)):
            with pytest.raises(openmsmq.QueueError, match="run by another process") as refused:
                carry_out()
            assert refused.value.cause == "A command or the console works on it."
    job.ask_to_stop()
    assert job.asked_to_stop
    # Who resumes it does not want it to stop.
    assert jobs.runner(job).run().done == 1


def test_a_job_without_its_queue_manager_can_be_resumed(jobs: Jobs) -> None:
    send(jobs.manager, 600)
    job = jobs.plan(kind=JobKind.RETRY, sources=(ORDERS,), target=BILLS)

    def nobody() -> openmsmq.QueueManager:
        raise openmsmq.ConnectionLost("no queue manager")

    with pytest.raises(openmsmq.ConnectionLost):
        JobRunner(job, nobody, patience=0.0).run()
    assert load_job(job.folder).state == "planned"
    assert jobs.runner(job).run().done == 600
    assert jobs.runner(load_job(job.folder)).run().state == "finished"


def test_a_move_that_was_killed_before_its_end_was_noted(jobs: Jobs) -> None:
    qm = jobs.manager
    send(qm, 5)
    _, job = jobs.run(kind=JobKind.MOVE, sources=(ORDERS,), target=";held")
    journal = job.folder / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(lines[0])
    qm.open_queue(f"{ORDERS};held").receive(timeout=5)
    qm.flush()
    report = jobs.runner(load_job(job.folder)).run()
    assert (report.done, report.gone) == (4, 1)
    assert undo_job(qm, load_job(job.folder)).undone == 4


def test_a_move_that_was_killed_in_the_middle_knows_what_it_has_moved(jobs: Jobs) -> None:
    qm = jobs.manager
    send(qm, 5)
    job = jobs.plan(kind=JobKind.MOVE, sources=(ORDERS,), target=";held")
    (job.folder / "journal.jsonl").write_bytes(b'{"step":"begin","time":1.0,"batch":0}\n')
    with qm.open_queue(ORDERS) as queue:
        # One by one, because another reader has the first.
        queue.receive(timeout=5)
        queue.move(";held", [message.lookup_id for message in job.messages[1:3]])
    qm.flush()
    report = jobs.runner(load_job(job.folder)).run()
    assert (report.done, report.gone, report.left) == (4, 1, 0)
    assert bodies(qm, f"{ORDERS};held") == ["1", "2", "3", "4"]
    assert undo_job(qm, load_job(job.folder)).undone == 4
    assert sorted(bodies(qm, ORDERS)) == ["1", "2", "3", "4"]


def test_a_move_whose_target_was_deleted_meanwhile_is_refused(jobs: Jobs) -> None:
    qm = jobs.manager
    let_die(qm, 2)
    job = jobs.plan(kind=JobKind.MOVE, sources=(";deadletter",), target=BILLS)
    (job.folder / "journal.jsonl").write_bytes(b'{"step":"begin","time":1.0,"batch":0}\n')
    qm.delete_queue(BILLS)
    report = jobs.runner(load_job(job.folder)).run()
    assert (report.state, report.refused) == ("finished", 2)
    assert "MQ_ERROR_QUEUE_NOT_FOUND" in next(iter(report.reasons))


@pytest.mark.parametrize("kind", [JobKind.REMOVE, JobKind.PURGE])
def test_a_removal_that_was_killed_before_its_end_was_noted(jobs: Jobs, kind: JobKind) -> None:
    send(jobs.manager, 5)
    _, job = jobs.run(kind=kind, sources=(ORDERS,))
    journal = job.folder / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().splitlines(keepends=True)[0])
    assert jobs.runner(load_job(job.folder)).run().done == 5


def test_an_undo_that_was_killed_goes_on(jobs: Jobs) -> None:
    qm = jobs.manager
    send(qm, 5)
    _, job = jobs.run(kind=JobKind.RETRY, sources=(ORDERS,), target=BILLS)
    undo_job(qm, job)
    journal = job.folder / "journal.jsonl"
    assert job.state == "undone"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))
    half_undone = load_job(job.folder)
    assert (half_undone.state, half_undone.ended) == ("undoing", True)
    assert dry_run_undo(qm, half_undone)[1:] == (0, 0)
    again = undo_job(qm, half_undone)
    assert (again.undone, again.gone) == (5, 0)
    assert half_undone.state == "undone"
    assert len(bodies(qm, ORDERS)) == 5


def test_only_the_queue_manager_of_a_job_carries_it_out_and_undoes_it(jobs: Jobs) -> None:
    send(jobs.manager, 3)
    _, moved = jobs.run(kind=JobKind.MOVE, sources=(ORDERS,), target=";held")
    send(jobs.manager, 3)
    planned = jobs.plan(kind=JobKind.REMOVE, sources=(ORDERS,))
    with openmsmq.embedded() as other:
        other.create_queue(ORDERS)
        send(other, 20)
        other.open_queue(ORDERS).move(f"{ORDERS};held", count=10)
        before = bodies(other, ORDERS), bodies(other, f"{ORDERS};held")
        for deed in (
            lambda: undo_job(other, moved),
            JobRunner(planned, lambda: openmsmq.connect(other.address)).dry_run,
            JobRunner(planned, lambda: openmsmq.connect(other.address)).run,
        ):
            with pytest.raises(openmsmq.QueueError, match="is not a job of"):
                deed()
        assert (bodies(other, ORDERS), bodies(other, f"{ORDERS};held")) == before
    assert undo_job(jobs.manager, load_job(moved.folder)).undone == 3
    assert jobs.runner(load_job(planned.folder)).run().done == 3


def test_what_was_deleted_with_its_queue_is_gone_and_the_rest_goes_back(jobs: Jobs) -> None:
    qm = jobs.manager
    let_die(qm, 3)
    let_die(qm, 2, BILLS)
    _, job = jobs.run(kind=JobKind.RETRY, sources=DEAD_LETTER_QUEUES, limits=Limits.LIFT)
    qm.delete_queue(ORDERS)
    assert dry_run_undo(qm, job)[1:] == (2, 3)
    undone = undo_job(qm, job)
    assert (undone.undone, undone.gone) == (2, 3)
    assert len(bodies(qm, ";deadletter")) == 2


def test_dead_letters_go_back_as_what_their_queue_made_of_them(jobs: Jobs) -> None:
    qm = jobs.manager
    let_die(qm, 2)
    qm.delete_queue(ORDERS)
    qm.create_queue(ORDERS, transactional=True)
    _, job = jobs.run(kind=JobKind.RETRY, sources=DEAD_LETTER_QUEUES, limits=Limits.LIFT)
    assert undo_job(qm, job).undone == 2
    assert (bodies(qm, ";deadletter"), len(bodies(qm, ";deadxact"))) == ([], 2)
    assert qm.open_queue(";deadxact").peek().class_name == "MQMSG_CLASS_NACK_RECEIVE_TIMEOUT"


def test_a_move_out_of_the_dead_letters_goes_back(jobs: Jobs) -> None:
    qm = jobs.manager
    let_die(qm, 2)
    _, job = jobs.run(kind=JobKind.MOVE, sources=(";deadletter",), target=ORDERS)
    assert job.can_be_undone
    assert undo_job(qm, job).undone == 2
    assert qm.open_queue(";deadletter").peek().class_name == "MQMSG_CLASS_NACK_RECEIVE_TIMEOUT"


@pytest.mark.parametrize("kind", [JobKind.MOVE, JobKind.RETRY])
def test_nothing_goes_back_into_a_journal(jobs: Jobs, kind: JobKind) -> None:
    qm = jobs.manager
    qm.set_queue(ORDERS, journal=True)
    send(qm, 2)
    qm.open_queue(ORDERS).receive_many(2, timeout=5)
    qm.flush()
    _, job = jobs.run(kind=kind, sources=(f"{ORDERS};journal",), target=ORDERS)
    assert not job.can_be_undone
    with pytest.raises(openmsmq.QueueError, match="journal cannot be undone"):
        undo_job(qm, job)
    assert len(bodies(qm, ORDERS)) == 2
