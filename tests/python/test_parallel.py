"""Threads, processes, pickles and Ctrl-C."""

import copy
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import fedsim as fs
import pytest

TABLES = ["jobs", "records", "allocations", "gpus", "processes", "events"]


def test_eight_threads_equal_serial(busy):
    scenarios = [busy.replace(seed=seed) for seed in range(8)]
    serial = [fs.run(s).fingerprint for s in scenarios]
    assert len(set(serial)) == 8
    with ThreadPoolExecutor(8) as pool:
        assert [r.fingerprint for r in pool.map(fs.run, scenarios)] == serial
        same = list(pool.map(fs.run, [busy] * 8))
    assert {r.fingerprint for r in same} == {fs.run(busy).fingerprint}


def test_tables_from_threads(busy):
    result = fs.run(busy)
    with ThreadPoolExecutor(8) as pool:
        columns = list(pool.map(lambda _: result.records["jobid"], range(8)))
    assert len({c.__array_interface__["data"][0] for c in columns}) == 1


def test_processes_equal_threads(busy):
    grid = {"seed": [1, 2]}
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        processes = fs.sweep(busy, executor=pool, **grid)
    threads = fs.sweep(busy, **grid)
    assert [p.result.fingerprint for p in processes] == [t.result.fingerprint for t in threads]


def test_scenario_pickle(busy):
    scenario = busy.replace(horizon="30d", fidelity="ideal", keep_events=True)
    again = pickle.loads(pickle.dumps(scenario))
    assert again.horizon == scenario.horizon and again.keep_events
    assert again.model_hash == scenario.model_hash and again.spec == scenario.spec
    assert fs.run(again).fingerprint == fs.run(scenario).fingerprint
    assert copy.deepcopy(busy).model_hash == busy.model_hash


def test_result_pickle(story):
    result = fs.run(story.replace(keep_events=True))
    again = pickle.loads(pickle.dumps(result))
    assert again.fingerprint == result.fingerprint and again.summary == result.summary
    assert again.populations() == result.populations()
    for name in TABLES:
        assert getattr(again, name).to_pydict() == getattr(result, name).to_pydict()
    assert again.timeline_svg() == result.timeline_svg()


def test_trace_pickle_is_compact_and_equal(busy):
    trace = busy.trace
    raw = pickle.dumps(trace)
    assert len(raw) < 250 * len(trace)
    again = pickle.loads(raw)
    assert [again[i] for i in range(len(again))] == [trace[i] for i in range(len(trace))]
    assert again.t0 == trace.t0


def test_damaged_pickles_are_refused(story):
    raw = story.trace.__getstate__() if hasattr(story.trace, "__getstate__") else None
    assert isinstance(raw, bytes)
    for bad in (b"", raw[:-3], raw[: len(raw) // 2], raw.replace(b"Trace", b"Truce", 1)):
        with pytest.raises(ValueError, match="fedsim"):
            fs.Trace.__new__(fs.Trace).__setstate__(bad)


def test_one_simulation_in_two_threads_is_refused():
    spec = fs.machine("m", 8, units=8)
    trace = fs.synth(jobs=20_000, max_units=64, mean_interarrival_s=60)
    sim = fs.Simulation(fs.Scenario(spec, trace, horizon="60d"))
    errors = []

    def work():
        try:
            sim.run_to_end()
        except RuntimeError as error:
            errors.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all("another thread" in e for e in errors)
    sim.audit()


LONG_RUN = """
import sys, fedsim as fs
spec = fs.machine("m", 8, units=8)
trace = fs.synth(jobs=1_000_000, max_units=64, mean_interarrival_s=60)
scenario = fs.Scenario(spec, trace, fidelity="ideal")
print("ready", flush=True)
{act}
print("finished")
"""


@pytest.mark.parametrize(
    "act",
    [
        "fs.run(scenario)",
        "fs.Simulation(scenario).run_to_end()",
        "fs.Simulation(scenario).run_until('9000d')",
    ],
)
def test_ctrl_c(act):
    process = subprocess.Popen(
        [sys.executable, "-c", LONG_RUN.format(act=act)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.7)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in err and "finished" not in out
    assert process.returncode != 0
    assert time.monotonic() - began < 15  # a busy machine; alone it is a twentieth of a second
