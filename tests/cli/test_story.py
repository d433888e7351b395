"""The founding example through the command: six and six are two jobs, twelve is none."""
import csv
import json

import pytest

from conftest import submit


@pytest.fixture
def out(fedsim, scenario, tmp_path):
    folder = scenario([submit("J1", 6, 0.0, 600), submit("J2", 6, 0.2, 600),
                       submit("J12", 12, 0.4, 600)])
    done = fedsim("run", folder, "-o", "out")
    assert done.returncode == 0, done.stderr
    return tmp_path / "out"


def table(out, name):
    with open(out / f"{name}.csv", newline="") as file:
        return list(csv.DictReader(file))


def test_two_jobs_four_records_two_allocations(out):
    summary = json.loads((out / "summary.json").read_text())
    assert summary["jobs"] == 2 and summary["rejected"] == 1
    # A refusal may leave a FAILED record at the origin, as sacct shows it; nothing is pending.
    records = summary["records"]
    assert (records["COMPLETED"], records["REVOKED"]) == (2, 2)
    assert set(records) <= {"COMPLETED", "REVOKED", "REJECTED", "FAILED"}
    assert summary["allocations"] == 2
    assert summary["gpus_in_fleet"] == 16
    assert summary["naive_gpu_sum"] == 18
    assert summary["gpu_hours"] == pytest.approx(2 * 6 * 600.8 / 3600, rel=0.01)


def test_twelve_distinct_gpus(out):
    held = [(r["cluster"], r["node"], r["index"]) for r in table(out, "gpus")]
    assert len(held) == len(set(held)) == 12


def test_each_runs_whole_on_one_cluster(out):
    ran = {r["label"]: r for r in table(out, "records") if r["state"] == "COMPLETED"}
    assert {ran["J1"]["cluster"], ran["J2"]["cluster"]} == {"alpha", "beta"}
    for r in ran.values():
        assert r["gpu_idx"] == f"{r['nodes']}:gpu:a100[0-5]"


def test_twelve_is_refused_at_the_origin(out):
    mine = [r for r in table(out, "records") if r["label"] == "J12"]
    assert [(r["cluster"], r["state"], r["reason"]) for r in mine] == [
        ("alpha", "REJECTED", "Requested node configuration is not available")]


def test_federated_job_ids(out):
    ids = {r["label"]: r["jobid"] for r in table(out, "records")}
    assert ids["J1"] == "67108865" and ids["J2"] == "67108866"
