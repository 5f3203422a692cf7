"""Runs that are submitted, and the processes that go on with them."""

from __future__ import annotations

import os
import random
import signal
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from concerto import compile_source, open_store
from concerto.runtime.run.options import RunOptions
from concerto.workers.dispatcher import Job
from concerto.workers.postgres_dispatcher import PostgresDispatcher
from concerto.workers.submitting import submit
from tests.journal.killing import world
from tests.workers.killing import kill_once
from tests.workers.processes import Farm

ASKING = """
fn main(args: Array<String>) -> Result<Any, EmitError> {
    println("begins with ${args}");
    let answer = await emit("allowed", {"n": 1})?;
    println("heard ${answer}");
    print("the last line");
    Ok(answer)
}
"""


def test_a_worker_runs_what_is_submitted_and_goes_on_when_it_is_answered(tmp_path: Path, url: str) -> None:
    with Farm(tmp_path, url, ASKING) as farm:
        run = farm.command("submit", "main.conc", "--", "a", "b")
        assert farm.wait_for(run, "queued").effects == 0
        worker = farm.begin_worker()
        [waiting] = farm.wait_for(run, "waiting").waits_for
        assert (waiting["name"], waiting["arguments"]) == ("allowed", {"n": 1})
        # What waits goes on as the program that it was, beside what is submitted now.
        (tmp_path / "main.conc").write_text(ASKING.replace("heard", "understood"))
        newer = farm.submit()
        farm.wait_for(newer, "waiting")
        for each in (run, newer):
            assert farm.command("runs", "answer", each, 'allowed="yes"') == f"run {each} goes on"
            farm.wait_for(each, "done")
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(120) == 0
        log = farm.log()
    assert f'{run} | begins with ["a", "b"]\n' in log
    assert f"{run} | answer with: concerto runs answer {run} allowed=JSON\n" in log
    assert log.count("begins with") == 2
    assert f"{run} | heard yes\n" in log
    assert f"{newer} | understood yes\n{newer} | the last line\n" in log


def test_a_worker_is_interrupted(tmp_path: Path, url: str) -> None:
    with Farm(tmp_path, url, ASKING) as farm:
        worker = farm.begin_worker()
        farm.wait_for(farm.submit(), "waiting")
        worker.send_signal(signal.SIGINT)
        assert worker.wait(120) == 130
        assert "Traceback" not in farm.log()


TWO_ASKING = """
fn main() {
    parallel for i in 0..2 {
        println("${i}: ${await emit("allowed", i)}");
    }
}
"""


def test_who_is_answered_is_said_where_several_ask(tmp_path: Path, url: str) -> None:
    """An answer on the channel of two could be meant for either."""
    with Farm(tmp_path, url, TWO_ASKING) as farm:
        run = farm.command("submit", "main.conc")
        farm.begin_worker()
        first, second = farm.wait_for(run, "waiting").waits_for
        with pytest.raises(
            AssertionError, match="several wait for an answer on `allowed`, so name its effect"
        ):
            farm.command("runs", "answer", run, "allowed=true")
        with pytest.raises(AssertionError, match="is answered twice"):
            farm.command("runs", "answer", run, f"{first['effect']}=true", f"{first['effect']}=false")
        farm.command("runs", "answer", run, f"{first['effect']}=1", f"{second['effect']}=2")
        farm.wait_for(run, "done")
        assert f"{run} | 0: Ok(1)\n" in farm.log()


def test_what_is_submitted_under_one_id_is_submitted_once(tmp_path: Path, url: str) -> None:
    with Farm(tmp_path, url, ASKING) as farm:
        run = farm.submit(job=Job("", key="order 7"))
        assert farm.submit(job=Job("", key="order 7")) == run
        assert farm.submit(job=Job("", key="order 8")) != run
        with farm.store() as store:
            assert len(store.runs()) == 2


def test_an_answer_that_does_not_fit_changes_nothing(tmp_path: Path, url: str) -> None:
    source = 'fn main() -> Result<Bool, EmitError> { let sure: Bool = await emit("sure", nil)?; Ok(sure) }'
    with Farm(tmp_path, url, source) as farm:
        run = farm.submit()
        farm.begin_worker()
        farm.wait_for(run, "waiting")
        for wrong in ('sure="maybe"', "other=1"):
            with pytest.raises(AssertionError):
                farm.command("runs", "answer", run, wrong)
        assert farm.wait_for(run, "waiting").waits_for
        farm.command("runs", "answer", run, "sure=true")
        farm.wait_for(run, "done")
        with pytest.raises(AssertionError, match="has ended"):
            farm.command("runs", "answer", run, "sure=true")


def test_no_run_is_lost_and_nothing_done_twice_when_a_worker_is_killed(tmp_path: Path, url: str) -> None:
    with world() as made:
        came = kill_once(tmp_path / "p", url, made, 12, random.Random(3))
    assert (came.repeated, came.lost) == (0, 0)


def test_a_run_that_kills_its_workers_is_given_up_and_takes_no_other_with_it(
    tmp_path: Path, url: str
) -> None:
    source = (
        "use std::time;\n"
        'tool Deadly { description: "x", @read_only @describe("It kills") pub fn poison() -> Nil; }\n'
        "fn main(args: Array<String>) -> Result<Nil, Any> {\n"
        '    if args[0] == "bad" { Deadly::poison(); } else { time::sleep(300); }\n    Ok(nil)\n}\n'
    )
    (tmp_path / "handlers.py").write_text(
        "import os\nHANDLERS = {'tool:Deadly::poison': lambda asked: os._exit(9)}\n"
    )
    with Farm(tmp_path, url, source) as farm:
        bad = farm.submit("bad")
        good = [farm.submit("good") for _ in range(3)]
        for _ in range(5):
            farm.begin_worker("--handlers", "handlers.py").wait(240)
        farm.begin_worker("--handlers", "handlers.py")
        runs = farm.wait(lambda found: all(each.status in ("done", "failed") for each in found))
        assert {each.id: each.status for each in runs} == {bad: "failed", **dict.fromkeys(good, "done")}
        assert f"{bad} is given up" in farm.log()
        with farm.store() as store:
            assert "given up after 5 tries" in store.store.run(bad).result["error"]


def test_a_worker_that_is_stopped_loses_its_runs_and_says_so_when_it_wakes(tmp_path: Path, url: str) -> None:
    from psycopg import connect

    source = 'use std::{fs, time}; fn main() { while !fs::exists("seen") { time::sleep(400); } }'
    with Farm(tmp_path, url, source) as farm:
        run = farm.submit()
        first = farm.begin_worker()
        farm.wait_for(run, "running")
        second = farm.begin_worker()
        while "serves" not in (tmp_path / "worker1.log").read_text():
            time.sleep(0.05)
        os.kill(first.pid, signal.SIGSTOP)
        # It may have been in the middle of a transaction.
        stopped = connect(url, application_name="concerto worker 1")
        stopped.execute("SELECT FROM concerto.runs WHERE id = %s FOR UPDATE SKIP LOCKED", (run,))
        try:
            while f"{run} go on" not in farm.log():
                assert second.poll() is None
                time.sleep(0.1)
        finally:
            os.kill(first.pid, signal.SIGCONT)
            stopped.close()
        while "lost its lease" not in farm.log():
            time.sleep(0.05)
        (tmp_path / "seen").touch()
        farm.wait_for(run, "done")


def test_a_database_that_is_gone_for_a_moment_is_waited_for(tmp_path: Path) -> None:
    from tests.postgres import server

    with server() as database, Farm(tmp_path, database.new_database(), ASKING) as farm:
        run = farm.submit()
        farm.begin_worker()
        farm.wait_for(run, "waiting")
        database.stop()
        while "trying again" not in farm.log():
            time.sleep(0.05)
        database.start()
        farm.command("runs", "answer", run, "allowed=true")
        farm.wait_for(run, "done")


def test_a_run_that_cannot_be_written_is_tried_again(tmp_path: Path, url: str) -> None:
    with Farm(tmp_path, url, ASKING) as farm, farm.store() as runs:
        run = farm.submit()
        with runs.store.database.transaction() as tables:
            tables.execute(
                "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS "
                "$$ BEGIN RAISE 'no space left' USING ERRCODE = 'disk_full'; END $$"
            )
            tables.execute("CREATE TRIGGER f BEFORE INSERT ON effects EXECUTE FUNCTION full_disk()")
        farm.begin_worker()
        dispatcher = PostgresDispatcher(runs.store.database)
        farm.wait(lambda _: any(each.delayed for each in dispatcher.queues()))
        assert "the run cannot be kept and goes no further" in farm.log()
        with dispatcher.transaction() as tables:
            tables.execute("DROP TRIGGER f ON effects")
            tables.execute("UPDATE jobs SET due = clock_timestamp()")
        farm.wait_for(run, "waiting")


def test_a_run_that_is_pruned_as_it_ends_ends_no_worker(tmp_path: Path, url: str) -> None:
    with Farm(tmp_path, url, "fn main() {}") as farm, farm.store() as runs:
        first = farm.submit()
        with runs.store.database.transaction() as tables:
            tables.execute(
                "CREATE FUNCTION prune() RETURNS trigger LANGUAGE plpgsql AS "
                "$$ BEGIN DELETE FROM concerto.runs WHERE id = NEW.id; RETURN NULL; END $$"
            )
            tables.execute(
                "CREATE TRIGGER p AFTER UPDATE ON runs FOR EACH ROW WHEN (NEW.status = 'done') "
                "EXECUTE FUNCTION prune()"
            )
        farm.begin_worker()
        farm.wait(lambda found: not found)
        with runs.store.database.transaction() as tables:
            tables.execute("DROP TRIGGER p ON runs")
        farm.wait_for(farm.submit(), "done")
        assert farm.log().count("serves default") == 1, farm.log()
        assert f"{first} is pruned" in farm.log()


def test_higher_priorities_and_older_jobs_go_first_and_limits_hold(url: str) -> None:

    runs = open_store(url)
    dispatcher = PostgresDispatcher(runs.store.database)
    program = compile_source("fn main() {}")
    low, high, later = [
        submit(runs, dispatcher, program, RunOptions(), Job("", "q", priority)) for priority in (0, 5, 0)
    ]
    submit(runs, dispatcher, program, RunOptions(), Job("", "q", delay=1000))
    dispatcher.limit("q", 2, None, 1)
    taken = dispatcher.claim(1, ["q"], 10, doubtful=True)
    assert [each.run for each in taken] == [high, low]
    assert dispatcher.claim(2, ["q"], 10, doubtful=True) == []
    dispatcher.limit("q", None, 3, 1000)
    assert [each.run for each in dispatcher.claim(2, ["q"], 10, doubtful=True)] == [later]
    [queue] = dispatcher.queues()
    assert (queue.running, queue.delayed, queue.queued, queue.most_starts) == (3, 1, 0, 3)
    with dispatcher.transaction() as tables:  # As if the database's clock had been set back.
        tables.execute("UPDATE jobs SET started = started + interval '1 h'")
    after = submit(runs, dispatcher, program, RunOptions(), Job("", "q"))
    assert [each.run for each in dispatcher.claim(2, ["q"], 10, doubtful=True)] == [after]
    runs.close()


def test_a_run_that_was_cancelled_is_not_parked_and_one_that_cannot_go_on_waits(url: str) -> None:

    runs = open_store(url)
    dispatcher = PostgresDispatcher(runs.store.database)
    program = compile_source("fn main() {}")
    cancelled, refused = [submit(runs, dispatcher, program, RunOptions(), Job("")) for _ in range(2)]
    assert len(dispatcher.claim(1, ["default"], 2, doubtful=True)) == 2
    runs.cancel(cancelled)
    dispatcher.park(cancelled, 1, None)
    dispatcher.postpone(refused, 1, 1000)
    [queue] = dispatcher.queues()
    assert (queue.delayed, queue.parked, queue.running) == (1, 0, 0)
    parked = submit(runs, dispatcher, program, RunOptions(), Job(""))
    dispatcher.claim(2, ["default"], 2, doubtful=True)
    runs.store.claim(runs.store.run(parked))
    dispatcher.park(parked, 2, None)
    assert [each.parked for each in dispatcher.queues()] == [1]
    runs.cancel(parked)
    assert [each.parked for each in dispatcher.queues()] == [0]
    runs.close()


def test_a_run_of_a_queue_that_nobody_serves_says_so(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    from concerto.cli.runs import list_runs, show

    runs = open_store(url)
    dispatcher = PostgresDispatcher(runs.store.database)
    program = compile_source("fn main() {}")
    left, served = [submit(runs, dispatcher, program, RunOptions(), Job("", queue)) for queue in ("q", "r")]
    with dispatcher.transaction() as tables:
        tables.execute("INSERT INTO workers (name, version, queues) VALUES ('50 %', '', '{r}')")
    runs.close()
    list_runs(url, status=None, everywhere=True, as_json=False)
    said = capsys.readouterr().out.splitlines()
    assert {line[:12]: "waits" in line for line in said} == {left: True, served: False}
    show(url, left, content=False)
    assert "  waits for a worker: none serves the queue `q`\n" in capsys.readouterr().out


def test_a_schedule_is_submitted_again_and_again_and_what_was_missed_once(tmp_path: Path, url: str) -> None:
    from concerto.workers.schedules import Schedules

    with Farm(tmp_path, url, "fn main() {}") as farm, farm.store() as runs:
        name = farm.command("submit", "main.conc", "--every", "*/5 * * * *", "--id", "tidy")
        assert name == "tidy"
        dispatcher = PostgresDispatcher(runs.store.database)
        schedules = Schedules(runs.store, dispatcher)
        schedules.submit_due()
        assert runs.runs() == []
        with dispatcher.transaction() as tables:
            tables.execute("UPDATE schedules SET next = next - interval '1 day'")
        schedules.submit_due()
        schedules.submit_due()
        [run] = runs.runs()
        assert run.status == "queued"
        assert "tidy: main.conc into default by `*/5 * * * *`, next 2" in farm.command("queues")
        farm.command("queues", "unschedule", "tidy")
        assert schedules.all() == []
        with pytest.raises(AssertionError, match="is no cron expression"):
            farm.command("submit", "main.conc", "--every", "daily at nine")
        with pytest.raises(AssertionError, match="never comes"):
            farm.command("submit", "main.conc", "--every", "0 0 31 2 *")


def test_a_schedule_that_is_over_or_whose_moment_comes_again_hinders_no_other(url: str) -> None:
    from concerto.workers.schedules import Schedules

    runs = open_store(url)
    dispatcher = PostgresDispatcher(runs.store.database)
    schedules = Schedules(runs.store, dispatcher)
    program = compile_source("fn main() {}")
    last = (datetime.now(UTC) + timedelta(days=1)).strftime("%M %H %d %m * 0 %Y")
    for name, cron in (("over", last), ("again", "*/5 * * * *"), ("other", "*/5 * * * *")):
        schedules.add(runs, program, RunOptions(), Job("", key=name), cron)

    def all_are_due(moment: str) -> None:
        with dispatcher.transaction() as tables:
            tables.execute(f"UPDATE schedules SET next = {moment}")
        schedules.submit_due()

    with dispatcher.transaction() as tables:
        tables.execute("UPDATE schedules SET cron = '0 0 1 1 * 0 2020' WHERE id = 'over'")
    all_are_due("date_trunc('day', next - interval '2 days')")
    assert sorted(each.id for each in schedules.all()) == ["again", "other"]
    assert sorted(row.origin for row in runs.store.runs()) == [
        f"schedule {name}" for name in ("again", "other", "over")
    ]
    all_are_due("date_trunc('day', now() - interval '1 day')")
    before = len(runs.runs())
    all_are_due("date_trunc('day', now() - interval '1 day')")
    assert len(runs.runs()) == before
    assert all(each.next > datetime.now(UTC) for each in schedules.all())
    runs.close()
