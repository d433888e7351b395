"""Scenario, run(), sweep() and Simulation: options, what-ifs, progress, files."""

import copy
import json
from datetime import datetime, timedelta, timezone

import fedsim as fs
import pytest


def test_options(two):
    base = fs.Scenario(two, [fs.Job("J1", gpus=1, time="1h")])
    assert (base.seed, base.fidelity, base.policy, base.horizon) == (0, "slurm", "easy", None)
    other = base.replace(seed=7, fidelity="ideal", policy="fcfs", horizon="2h", max_events=10)
    assert (other.seed, other.fidelity, other.policy) == (7, "ideal", "fcfs")
    assert other.horizon == 7200 and other.max_events == 10
    assert base.seed == 0 and other.replace(horizon=None).horizon is None
    assert fs.Scenario(other, seed=8).fidelity == "ideal"
    assert other.spec == two and other.model_hash == base.model_hash
    starts = base.replace(controller_start={"b": "-20s"}).controller_start
    assert starts == {"a": None, "b": -20.0}


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("90s", 90),
        ("1.5h", 5400),
        ("1h30m", 5400),
        ("1d", 86400),
        ("1-02:03:04", 93784),
        ("02:03:04", 7384),
        ("03:04", 184),
        ("2-12", 216000),
        (45, 45),
        (0.5, 0.5),
        (timedelta(minutes=3), 180),
        (datetime(2026, 1, 1, 1, tzinfo=timezone.utc), 3600),  # t0 is the start of 2026
        (datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))), 0),
    ],
)
def test_horizon_forms(two, value, seconds):
    assert fs.Scenario(two, [], horizon=value).horizon == seconds


@pytest.mark.parametrize(
    "value", ["soon", "10", "", "5 parsecs", "1:2:3:4", float("nan"), 1e300, datetime(2026, 1, 1)]
)
def test_horizon_errors(two, value):
    with pytest.raises(fs.InputError, match="^error: horizon: .* is not a"):
        fs.Scenario(two, [], horizon=value)


def test_faults(two):
    jobs = [fs.Job(f"J{i}", gpus=8, time="1h", run="30m", submit=600 * i) for i in range(40)]
    faults = [
        "controller:*,mtbf=2h,mttr=20m",
        "link:a/b,mtbf=1h,mttr=10m",
        "slurmdbd,mtbf=6h,mttr=5m",
    ]
    plain = fs.run(two, jobs)
    first, again, other = (fs.run(two, jobs, faults=faults, seed=s) for s in (0, 0, 1))
    assert first.fingerprint == again.fingerprint
    assert len({r.fingerprint for r in (plain, first, other)}) == 3
    assert len(first.jobs) == 40
    ids = first.allocations.to_pydict()["jobid"]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    "fault",
    ["controller:z,mtbf=1h,mttr=1m", "node:a,mtbf=1h,mttr=1m", "slurmdbd,mtbf=1ms,mttr=1ms", ""],
)
def test_fault_errors(two, fault):
    jobs = [fs.Job("J1", gpus=1, time="1h")]
    with pytest.raises(fs.InputError, match="^error C069: fault "):
        fs.run(two, jobs, faults=[fault])


def test_horizon_stops(two):
    result = fs.run(two, [fs.Job("J1", gpus=1, time="2h")], horizon="1h")
    assert result.jobs.to_pydict()["state"] == ["RUNNING"]
    assert result.jobs.to_pydict()["end"] == [None]


def test_argument_errors(two):
    with pytest.raises(TypeError, match="unexpected option 'fidelty'; did you mean 'fidelity'"):
        fs.Scenario(two, [], fidelty="ideal")
    with pytest.raises(TypeError, match="Scenario.replace.. got an unexpected option 'sed'"):
        fs.Scenario(two, []).replace(sed=1)
    with pytest.raises(fs.InputError, match="'slrum' is not one of slurm, ideal; did you mean"):
        fs.Scenario(two, [], fidelity="slrum")
    with pytest.raises(fs.InputError, match="seed: -1"):
        fs.Scenario(two, [], seed=-1)
    with pytest.raises(TypeError, match="needs a trace"):
        fs.Scenario(two)
    with pytest.raises(TypeError, match="not a list"):
        fs.Scenario([1], [])
    with pytest.raises(TypeError, match="expected a Job, not a str"):
        fs.Scenario(two, ["J1"])
    with pytest.raises(fs.InputError, match="controller_start: 'c'"):
        fs.Scenario(two, [], controller_start={"c": 0})


def test_spec_errors_come_at_compile(two):
    broken = two.replace(clusters=[two.clusters[0], two.clusters[0].replace(partitions=[])])
    with pytest.raises(fs.InputError) as caught:
        fs.Scenario(broken, [])
    assert all(d.code for d in caught.value.diagnostics)


def test_max_events(busy):
    with pytest.raises(fs.InputError, match="max_events"):
        fs.run(busy.replace(max_events=10))


def test_seed_and_fingerprint(busy):
    first = fs.run(busy)
    assert fs.run(busy).fingerprint == first.fingerprint == int(first.summary["fingerprint"], 16)
    assert fs.run(busy.replace(seed=6)).fingerprint != first.fingerprint


def test_run_forms(two):
    jobs = [fs.Job("J1", gpus=6, time="2h")]
    one = fs.run(two, jobs, seed=3)
    assert one.fingerprint == fs.run(fs.Scenario(two, jobs, seed=3)).fingerprint
    assert one.fingerprint == fs.run(two, fs.Trace.from_jobs(jobs), seed=3).fingerprint
    assert one.scenario.seed == 3 and one.scenario.spec == two
    single = fs.run(two.clusters[0], jobs)
    assert single.populations()["records"] == 1


def test_ideal_policies_differ(busy):
    ideal = busy.replace(fidelity="ideal")
    waits = {p: fs.run(ideal.replace(policy=p)).summary["wait_s"]["mean"] for p in ("fcfs", "easy")}
    assert waits["easy"] != waits["fcfs"]


def test_progress_callable(busy):
    seen = []
    fs.run(busy.replace(audit_every=1), progress=seen.append)
    for p in seen:
        assert set(p) == {"now_s", "last_s", "events", "jobs_done", "jobs", "queued"}
        assert p["jobs"] == 300


def test_progress_exception_ends_the_run():
    class Enough(Exception):
        pass

    def stop(p):
        raise Enough(p["events"])

    machine = fs.machine("m", 8, units=8)
    long = fs.Scenario(machine, fs.synth(jobs=100_000, max_units=64, mean_interarrival_s=30))
    with pytest.raises(Enough):
        fs.run(long, progress=stop)


def test_progress_is_silent_without_terminal(busy, capfd):
    fs.run(busy, progress=True)
    assert capfd.readouterr() == ("", "")


def test_sweep(busy):
    variants = fs.sweep(busy, seed=[1, 2], fidelity=["ideal", "slurm"])
    assert [v.changes for v in variants] == [
        {"seed": s, "fidelity": f} for s in (1, 2) for f in ("ideal", "slurm")
    ]
    for v in variants:
        assert v.result.fingerprint == fs.run(busy.replace(**v.changes)).fingerprint


def test_simulation_steps_and_branches(story):
    sim = fs.Simulation(story)
    assert sim.step() and sim.events == 1
    sim.run_until("1h")
    assert sim.result().jobs.to_pydict()["state"] == ["RUNNING", "RUNNING", "REJECTED"]
    branch = copy.copy(sim)
    other = copy.deepcopy(sim)
    before = (sim.events, sim.fingerprint, sim.now_ns)
    branch.run_to_end()
    assert (sim.events, sim.fingerprint, sim.now_ns) == before
    assert branch.events > sim.events and 7200 <= branch.now < 7260
    other.run_until(timedelta(days=1))
    sim.run_to_end()
    sim.audit()
    assert not sim.step()
    whole = fs.run(story).fingerprint
    assert sim.fingerprint == branch.fingerprint == other.fingerprint == whole
    assert sim.result().populations() == fs.run(story).populations()


def test_simulation_before_its_first_event(story):
    sim = fs.Simulation(story)
    sim.run_until("-1d")
    assert sim.events == 0
    sim.run_until("3000d")
    assert sim.result().populations()["allocations"] == 2


def test_write(story, tmp_path):
    result = fs.run(story.replace(keep_events=True))
    result.write(tmp_path / "out", events=True)
    names = {p.name for p in (tmp_path / "out").iterdir()}
    tables = {"jobs", "records", "allocations", "gpus", "processes", "events"}
    assert {t + ".csv" for t in tables} | {"summary.json", "manifest.json"} <= names
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary == result.summary
    lines = (tmp_path / "out" / "records.csv").read_text().splitlines()
    assert lines[0].split(",") == result.records.columns and len(lines) == 6
    assert "2026" not in lines[1]  # jobs made in Python: relative times
    result.write(tmp_path / "iso", times="iso")
    assert "2026-01-01T" in (tmp_path / "iso" / "jobs.csv").read_text()
    with pytest.raises(fs.InputError, match="'relative' or 'iso'"):
        result.write(tmp_path / "x", times="local")


def test_write_error(story, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError):
        fs.run(story).write(tmp_path / "file" / "out")


def test_manifest_and_pictures(story):
    result = fs.run(story.replace(seed=9))
    assert result.manifest["seed"] == 9 and result.manifest["fedsim"] == fs.__version__
    assert int(result.manifest["fingerprint"], 16) == result.fingerprint
    assert "<svg" in result.timeline_svg()[:200]
    assert result.timeline_png(400)[:8] == b"\x89PNG\r\n\x1a\n"


def test_plot(story, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    result = fs.run(story)
    for rows, lanes in (("gpu", 12), ("node", 2), ("cluster", 2)):
        ax = fs.plot.timeline(result, rows=rows)
        assert len(ax.get_yticks()) == lanes
        ax.figure.savefig(tmp_path / f"{rows}.png")
        matplotlib.pyplot.close(ax.figure)
    with pytest.raises(ValueError, match="rows: 'rack'"):
        fs.plot.timeline(result, rows="rack")
    with pytest.raises(ValueError, match="not a column"):
        fs.plot.timeline(result, color="colour")
