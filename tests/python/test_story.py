"""Six and six are two jobs on two clusters, twelve is none: what the README says, in numbers."""

import datetime

import fedsim as fs
import pytest


def test_readme_example():
    fed = fs.Federation.of(a="1x8 a100", b="1x8 a100")
    jobs = [fs.Job("J1", gpus=6, time="2h"), fs.Job("J2", gpus=6, time="2h")]
    result = fs.run(fs.Scenario(fed, jobs + [fs.Job("J12", gpus=12, time="2h")]))
    # 16 GPUs, two jobs of 6 run at once on different clusters; 12 fit no cluster.
    assert result.populations()["naive_gpu_sum"] == 18
    assert result.summary["jobs"] == 2 and result.summary["rejected"] == 1


def test_populations(story):
    populations = fs.run(story).populations()
    # Each accepted job has an origin and one sibling record: 2 x 2. One of the two runs.
    assert populations == {
        "jobs": 2,
        "rejected": 1,
        "records": 4,
        "records_by_state": {"COMPLETED": 2, "REVOKED": 2},
        "allocations": 2,
        "distinct_gpus": 12,
        "gpus_in_fleet": 16,
        "processes": 12,
        "process_groups": 2,
        "largest_group": 6,
        # 6 + 6 that ran, and the 6 of the one sibling row that was shown with a start.
        "naive_gpu_sum": 18,
    }


def test_jobs_run_one_on_each_cluster(story):
    jobs = {row["label"]: row for row in fs.run(story).jobs.to_pylist()}
    assert {jobs["J1"]["cluster"], jobs["J2"]["cluster"]} == {"a", "b"}
    assert jobs["J1"]["start"] < jobs["J2"]["end"] and jobs["J2"]["start"] < jobs["J1"]["end"]
    assert jobs["J1"]["jobid"] == fs.jobid.encode(1, 1)  # origin a is cluster 1
    assert jobs["J12"]["state"] == "REJECTED"
    assert jobs["J12"]["cluster"] is None and jobs["J12"]["start"] is None
    assert jobs["J12"]["reason"] == "Requested node configuration is not available"


def test_process_groups_do_not_span_jobs(story):
    groups = fs.run(story).processes.to_pylist()
    assert [group["world_size"] for group in groups] == [6, 6]
    assert len({group["cluster"] for group in groups}) == 2


def test_four_gpus_stay_outside(story):
    result = fs.run(story)
    held = {(g["cluster"], g["node"], g["index"]) for g in result.gpus.to_pylist()}
    assert len(held) == len(result.gpus) == 12
    assert fs.Federation.of(a="1x8 a100", b="1x8 a100").gpus_n - len(held) == 4


def test_third_cluster_of_eight_changes_nothing_for_twelve(story):
    wider = story.replace(spec=story.spec.with_cluster("c", like="b"))
    assert wider.spec.gpus_n == 24
    jobs = {row["label"]: row for row in fs.run(wider).jobs.to_pylist()}
    assert jobs["J12"]["state"] == "REJECTED"


def test_third_six_gpu_job_waits_on_both(two):
    jobs = [fs.Job(f"J{i}", gpus=6, time="2h", at="a", submit=10 * i) for i in (1, 2, 3)]
    sim = fs.Simulation(fs.Scenario(two, jobs))
    sim.run_until("10m")
    records = [r for r in sim.result().records.to_pylist() if r["label"] == "J3"]
    assert [(r["cluster"], r["state"]) for r in records] == [("a", "PENDING"), ("b", "PENDING")]
    assert {r["start"] for r in records} == {None}


def test_local_rejection_is_final_though_a_sibling_could_run_it():
    fed = fs.Federation.of(a="1x8 a100", b="1x16 a100")
    refused = fs.run(fed, [fs.Job("J12", gpus=12, time="2h", at="a")])
    assert refused.jobs.to_pydict()["state"] == ["REJECTED"]
    assert refused.populations()["allocations"] == 0
    elsewhere = fs.run(fed, [fs.Job("J12", gpus=12, time="2h", at="b")]).jobs.to_pylist()[0]
    assert elsewhere["state"] == "COMPLETED" and elsewhere["cluster"] == "b"
    assert fs.jobid.decode(elsewhere["jobid"])[0] == 2


def test_recorded_two_jobs(recordings):
    recorded = fs.read_scenario(recordings / "03a-two-jobs-2")
    assert recorded.name == "03a-two-jobs-2"
    assert [c.name for c in recorded.spec.clusters] == ["alpha", "beta"]
    records = fs.run(recorded).records.to_pylist()
    ran = {r["label"]: r["cluster"] for r in records if r["state"] == "COMPLETED"}
    assert set(ran) == {"J1", "J2"} and set(ran.values()) == {"alpha", "beta"}
    assert sum(r["state"] == "REVOKED" for r in records) == 2


def test_populations_at_an_instant(story):
    result = fs.run(story)
    early = result.populations(at=1800)
    assert early["jobs"] == 2 and early["allocations"] == 2 and early["distinct_gpus"] == 12
    assert early["records_by_state"] == {"REVOKED": 2, "RUNNING": 2}
    late = result.populations(at=datetime.timedelta(days=2))
    assert late["jobs"] == 0 and late["allocations"] == 0 and late["distinct_gpus"] == 0
    assert late["records"] == 4
    with pytest.raises((TypeError, ValueError)):
        result.populations(at="soon")


def test_explain(story):
    result = fs.run(story, keep_events=True)
    text = result.explain("J1")
    assert "takes the submission" in text and "allocations:" in text
    assert text == result.explain(fs.jobid.encode(1, 1))
    with pytest.raises(KeyError, match="nobody"):
        result.explain("nobody")
    with pytest.raises(ValueError, match="keep_events"):
        fs.run(story).explain("J1")
