"""Traces: jobs made in Python, readers, generator."""

import gzip

import fedsim as fs
import pytest


def test_jobs():
    job = fs.Job("J1", gpus=6, time="2h", at="a")
    assert repr(job) == "Job('J1', gpus=6, time='2h', at='a')"
    assert eval(repr(job), vars(fs)) == job
    trace = fs.Trace.from_jobs([job, fs.Job("J2", ntasks=4, time="1h", run="10m", submit="5m")])
    first, second = trace[0], trace[-1]
    assert (first["label"], first["gpus"]) == ("J1", 6)
    assert (first["run_s"], first["limit_s"]) == (7200, 7200)
    assert (second["run_s"], second["limit_s"], second["submit_s"]) == (600, 3600, 300)
    assert second["ntasks"] == 4 and first["origin"] == "a"
    with pytest.raises(IndexError):
        trace[2]


def test_job_errors():
    unknown = r"Job\(\) got an unexpected option 'tme'; did you mean 'time'"
    with pytest.raises(TypeError, match=unknown):
        fs.Job("J", gpus="12", tme="2h")
    with pytest.raises(TypeError, match="did you mean 'gpus_per_node'"):
        fs.Job("J", gpu_per_node=2)
    with pytest.raises(ValueError, match="could be seconds or minutes; write '120m' or '120s'"):
        fs.Job("J", time=120)
    with pytest.raises(ValueError, match="length of time"):
        fs.Job("J", time="long")
    with pytest.raises(fs.InputError) as caught:
        fs.Trace.from_jobs([fs.Job("J1", gpus="x:y:z"), fs.Job("J2", nodes="many")])
    # Both jobs are wrong, and both are told.
    messages = [d.message for d in caught.value.diagnostics]
    assert any("J1" in m and "--gpus" in m for m in messages)
    assert any("J2" in m and "--nodes" in m for m in messages)
    with pytest.raises(fs.InputError, match="J: outcome: 'lost' is not one of completed, failed"):
        fs.Trace.from_jobs([fs.Job("J", outcome="lost")])


def test_job_outcomes(two):
    jobs = [
        fs.Job("short", gpus=1, time="1h", run="10m"),
        fs.Job("long", gpus=1, time="10m", run="5h"),
        fs.Job("bad", gpus=1, time="1h", run="10m", outcome="failed"),
        fs.Job("gone", gpus=1, time="1h", cancel="20m"),
        fs.Job("kept", gpus=1, time="1h", hold=True, cancel="5m"),
        fs.Job("raw", time="1h", run="1m", sbatch=["--gres=gpu:a100:2", "-c2"]),
    ]
    rows = {r["label"]: r for r in fs.run(two, jobs).jobs.to_pylist()}
    states = {label: r["state"] for label, r in rows.items()}
    assert states == {
        "short": "COMPLETED",
        "long": "TIMEOUT",
        "bad": "FAILED",
        "gone": "CANCELLED",
        "kept": "CANCELLED",
        "raw": "COMPLETED",
    }
    assert rows["kept"]["start"] is None and rows["raw"]["gpus"] == 2


def test_synth():
    trace = fs.synth(jobs=50, seed=4, users=3, gpu_types={"a100": 1.0}, max_units=8)
    assert len(trace) == 50 and trace[0]["gpus"] >= 1
    assert [trace[i] for i in range(50)] == [
        fs.synth(jobs=50, seed=4, users=3, gpu_types={"a100": 1.0}, max_units=8)[i]
        for i in range(50)
    ]
    assert len({trace[i]["user"] for i in range(50)}) <= 3
    with pytest.raises(TypeError, match="unexpected option 'job'; did you mean 'jobs'"):
        fs.synth(job=3)
    with pytest.raises(fs.InputError, match="synth: jobs"):
        fs.synth(jobs="many")


def test_merge():
    both = fs.merge([fs.synth(jobs=5, seed=1), fs.synth(jobs=7, seed=2)])
    submits = [both[i]["submit_s"] for i in range(len(both))]
    assert len(both) == 12 and submits == sorted(submits)


SACCT = """\
JobID|JobIDRaw|Cluster|State|Submit|Eligible|Start|End|Timelimit|NNodes|NCPUS|AllocTRES|NodeList
1|1|c|COMPLETED|1767225600|1767225600|1767225600|1767226200|01:00:00|1|4|cpu=4,gres/gpu=2|n1
2|2|c|COMPLETED|1767225660|1767225660|1767225700|1767226000|01:00:00|1|4|cpu=4,gres/gpu=1|n1
"""


def test_read_sacct(tmp_path):
    path = tmp_path / "dump.psv"
    path.write_text(SACCT)
    trace = fs.read_sacct(path, utc_offset="+00:00")
    assert len(trace) == 2 and trace.report["rows"] == 2
    assert [trace[i]["run_s"] for i in range(2)] == [600, 300]
    header, *rows = SACCT.splitlines()
    bare = tmp_path / "bare.csv"
    bare.write_text("\n".join(r.replace("|", ";") for r in rows) + "\n")
    again = fs.read_sacct(str(bare), delimiter=";", columns=header.split("|"), utc_offset="UTC")
    assert [again[i]["run_s"] for i in range(2)] == [600, 300]
    assert len(fs.read_trace(path, format="sacct")) == 2
    with pytest.raises(TypeError, match="did you mean 'utc_offset'"):
        fs.read_sacct(path, utc_ofset="+00:00")
    with pytest.raises(FileNotFoundError):
        fs.read_sacct(tmp_path / "none.psv")


def test_read_swf(tmp_path):
    line = "{id} {submit} 0 60 4 -1 -1 4 120 -1 1 1 1 1 1 -1 -1 -1\n"
    text = "; Version: 2.2\n; UnixStartTime: 0\n"
    text += line.format(id=1, submit=0) + line.format(id=2, submit=30)
    path = tmp_path / "load.swf.gz"
    path.write_bytes(gzip.compress(text.encode()))
    trace = fs.read_swf(path)
    assert len(trace) == 2 and trace[1]["submit_s"] - trace[0]["submit_s"] == 30
    result = fs.run(fs.machine("m", 1, units=4), trace, fidelity="ideal", policy="fcfs")
    starts = [row["start"] for row in result.jobs.to_pylist()]
    assert (starts[1] - starts[0]).total_seconds() == 60  # four units: one after the other


def test_read_scenario_errors(tmp_path):
    with pytest.raises((OSError, fs.InputError)):
        fs.read_scenario(tmp_path / "none")
