"""fedsim run: what it writes, and what it says when the input is wrong."""
import csv
import json
import re

import pytest

from conftest import leftovers, no_crash, submit, swf

FILES = {"jobs.csv", "records.csv", "allocations.csv", "gpus.csv", "processes.csv", "summary.json",
         "manifest.json"}
RECORD_COLUMNS = ("label,jobid,array_task,origin,cluster,state,submit,eligible,start,end,nodes,"
                  "gpu_idx,partition,qos,user,account,reason").split(",")


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "t.swf"
    path.write_text(swf([(0, 100, 4, 200), (10, 50, 4, 200), (20, 30, 1, 60)]))
    return path


def machine(trace, *more):
    return ["run", "--machine", "4x1", "--trace", trace, "--fidelity", "ideal", *more]


def test_summary_without_output(fedsim, trace, tmp_path):
    before = leftovers(tmp_path)
    done = fedsim(*machine(trace))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert leftovers(tmp_path) == before


def test_fcfs_by_hand(fedsim, trace, tmp_path):
    # Four units: job 1 holds all of them until 100, job 2 until 150, job 3 follows.
    done = fedsim(*machine(trace, "--policy", "fcfs", "-o", "out", "--times", "relative"))
    assert done.returncode == 0, done.stderr
    got = [(float(r["start"]), float(r["end"])) for r in rows(tmp_path / "out" / "records.csv")]
    assert got == [(0, 100), (100, 150), (150, 180)]


def test_files(fedsim, trace, tmp_path):
    done = fedsim(*machine(trace, "-o", "out"))
    assert done.returncode == 0, done.stderr
    written = set(leftovers(tmp_path / "out"))
    assert FILES <= written
    assert not [name for name in written if re.search(r"tmp|part|~$", name)]
    with open(tmp_path / "out" / "records.csv", newline="") as file:
        header = next(csv.reader(file))
    assert [c for c in RECORD_COLUMNS if c not in header] == []
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    for key in ("jobs rejected records allocations gpus_in_fleet gpu_hours naive_gpu_sum processes "
                "makespan_s utilisation wait_s events wall_s fingerprint").split():
        assert key in summary
    assert {"p50", "p90", "p95", "mean"} <= set(summary["wait_s"])
    assert summary["jobs"] == 3


def test_same_inputs_same_bytes(fedsim, trace, tmp_path):
    for out in ("one", "two"):
        assert fedsim(*machine(trace, "--seed", 7, "-o", out)).returncode == 0
    for name in sorted(FILES - {"summary.json", "manifest.json"}):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    a, b = (json.loads((tmp_path / d / "summary.json").read_text()) for d in ("one", "two"))
    a.pop("wall_s"), b.pop("wall_s")
    assert a == b


def test_stdin_is_a_trace(fedsim, trace):
    done = fedsim("run", "--machine", "4x1", "--trace", "-", "--fidelity", "ideal",
                  input=trace.read_text())
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("argv, word", [
    (["run", "no-such-folder"], "no-such-folder"),
    (["run", "--machine", "4x1", "--trace", "no-such.swf"], "no-such.swf"),
    (["run", "--cluster", "a=no-such-conf", "--trace", "t.swf"], "no-such-conf"),
    (["run", "--machine", "4by1", "--trace", "t.swf"], "4by1"),
    (["verify", "no-such-folder"], "no-such-folder"),
    (["trace", "show", "no-such.psv"], "no-such.psv"),
    (["report", "no-such-out", "-o", "r.html"], "no-such-out"),
])
def test_missing_input_is_named(fedsim, trace, tmp_path, argv, word):
    before = leftovers(tmp_path)
    done = fedsim(*argv, *(["-o", "out"] if argv[0] == "run" else []))
    no_crash(done)
    assert done.returncode == 2
    assert word in done.stderr
    assert done.stdout == ""
    assert leftovers(tmp_path) == before


def test_column_missing_in_sacct(fedsim, confdir, tmp_path):
    (tmp_path / "t.psv").write_text("JobID|State|Start|End|AllocTRES\n1|COMPLETED|5|9|cpu=1\n")
    done = fedsim("run", "--cluster", f"alpha={confdir()}", "--trace", "t.psv", "-o", "out")
    no_crash(done)
    assert done.returncode == 2
    assert "Submit" in done.stderr and "t.psv" in done.stderr
    assert not (tmp_path / "out").exists()


def test_configuration_with_errors_stops_the_run(fedsim, confdir, trace, tmp_path):
    folder = confdir(edit=lambda t: t.replace("CPUs=64", "CPUs=many"))
    done = fedsim("run", "--cluster", f"alpha={folder}", "--trace", trace, "-o", "out")
    no_crash(done)
    assert done.returncode == 2
    assert "slurm.conf" in done.stderr and "many" in done.stderr
    assert not (tmp_path / "out").exists()


def test_unknown_partition_is_refused_in_slurms_words(fedsim, scenario, tmp_path):
    folder = scenario([submit("J1", 1, args=["-p", "nope"]), submit("J2", 1, t=1)])
    done = fedsim("run", folder, "-o", "out")
    assert done.returncode == 0, done.stderr
    states = {r["label"]: (r["state"], r["reason"]) for r in rows(tmp_path / "out" / "records.csv")
              if r["state"] != "REVOKED"}
    assert states["J1"] == ("REJECTED", "Invalid partition name specified")
    assert states["J2"][0] == "COMPLETED"


def test_unmodelled_operation_stops_the_run_by_name(fedsim, scenario, tmp_path):
    folder = scenario([submit("J1", 1), {"t": 5, "op": "cmd", "at": "alpha",
                                         "argv": ["frobnicate", "--hard"]}])
    done = fedsim("run", folder, "-o", "out")
    no_crash(done)
    assert done.returncode == 2
    assert "frobnicate" in done.stderr
    assert not (tmp_path / "out").exists()


def test_unknown_sbatch_option_is_named(fedsim, scenario):
    done = fedsim("run", scenario([submit("J1", 1, args=["--no-such-option=3"])]))
    no_crash(done)
    assert done.returncode == 2
    assert "--no-such-option" in done.stderr


def test_scenario_that_is_not_json(fedsim, scenario):
    folder = scenario([])
    (folder / "scenario.json").write_text('{"events": [')
    done = fedsim("run", folder)
    no_crash(done)
    assert done.returncode == 2
    assert "scenario.json" in done.stderr


def test_output_below_a_file(fedsim, trace, tmp_path):
    done = fedsim(*machine(trace, "-o", trace / "out"))
    no_crash(done)
    assert done.returncode == 2
    assert "t.swf" in done.stderr


def test_output_over_an_older_one(fedsim, trace, tmp_path):
    for _ in range(2):
        assert fedsim(*machine(trace, "-o", "out")).returncode == 0
    assert len(rows(tmp_path / "out" / "jobs.csv")) == 3


def test_broken_pipe_is_not_a_crash(fedsim, trace, tmp_path):
    done = fedsim(*machine(trace, "-o", "/dev/full/x"))
    no_crash(done)
    assert done.returncode == 2
