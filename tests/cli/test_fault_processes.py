"""fedsim run --fault: faults that come and go by themselves, drawn from the seed."""
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
STUDY = ROOT / "traces" / "requeue"
FAULTS = [
    "--fault", "controller:*,mtbf=40s,mttr=15s", "--fault", "link:alpha/beta,mtbf=20s,mttr=9s",
    "--fault", "slurmdbd,mtbf=1m,mttr=10s",
]


def run(fedsim, out, *more):
    done = fedsim("run", STUDY, "-o", out, "--quiet", *more)
    assert done.returncode == 0, done.stderr
    return json.loads((out / "summary.json").read_text()), (out / "records.csv").read_bytes()


def test_same_seed_same_faults(fedsim, tmp_path):
    plain, _ = run(fedsim, tmp_path / "plain")
    first, rows = run(fedsim, tmp_path / "a", *FAULTS)
    again, same = run(fedsim, tmp_path / "b", *FAULTS)
    other, _ = run(fedsim, tmp_path / "c", *FAULTS, "--seed", "7")
    assert first["fingerprint"] == again["fingerprint"] and rows == same
    assert len({plain["fingerprint"], first["fingerprint"], other["fingerprint"]}) == 3


def test_a_result_says_which_faults_it_had(fedsim, tmp_path):
    run(fedsim, tmp_path / "out", *FAULTS)
    options = json.loads((tmp_path / "out" / "manifest.json").read_text())["options"]
    assert options["faults"] == [
        "controller:*,mtbf=40s,mttr=15s",
        "link:alpha/beta,mtbf=20s,mttr=9s",
        "slurmdbd,mtbf=60s,mttr=10s",
    ]


def test_bad_faults_are_named(fedsim):
    for text in ("controller:delta,mtbf=1h,mttr=1m", "node:a1,mtbf=1h,mttr=1m", "link:alpha,mtbf=1",
                 "slurmdbd,mtbf=1h", "slurmdbd,mtbf=-1,mttr=2", "slurmdbd,mtbf=1h,mttr=1m,x=2"):
        done = fedsim("run", STUDY, "--fault", text)
        assert done.returncode == 2
        assert "C069" in done.stderr and "write controller:NAME" in done.stderr
