"""Faults of a federation, told: two controllers down at once, a link that flaps for an hour, an
origin lost for good. Nothing starts twice, nothing is lost, and the story says what happened."""
import collections
import csv
import json
import pathlib
import shutil

ROOT = pathlib.Path(__file__).resolve().parents[2]


def scenario(tmp_path, events, end):
    """The three clusters of a recording, with other events."""
    folder = tmp_path / "faults"
    shutil.copytree(ROOT / "traces" / "requeue", folder)
    path = folder / "scenario.json"
    text = json.loads(path.read_text())
    text["events"], text["end"] = events, end
    path.write_text(json.dumps(text))
    return folder


def submit(t, label, at, *args, run=30):
    return {"t": t, "op": "submit", "label": label, "at": at, "run": run,
            "args": ["-n1", "--gres=gpu:8", "-t60", "--mem=1000", *args]}


def records(fedsim, folder, tmp_path):
    done = fedsim("run", folder, "-o", tmp_path / "out", "--quiet")
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "out" / "records.csv", newline="") as file:
        return list(csv.DictReader(file))


def runs_of(rows):
    """Label -> clusters on which the job ran, once per execution."""
    ran = collections.defaultdict(list)
    for row in rows:
        if row["start"] and row["nodes"]:
            ran[row["label"]].append(row["cluster"])
    return ran


def story(fedsim, folder, label):
    done = fedsim("explain", folder, "--job", label)
    assert done.returncode == 0, done.stderr
    return [" ".join(line.split()[1:]) for line in done.stdout.splitlines()]


def test_two_controllers_down_at_once(fedsim, tmp_path):
    folder = scenario(tmp_path, [
        submit(0, "FA", "alpha", "-M", "alpha", run=300),
        submit(1, "FB", "alpha", "-M", "beta", run=300),
        submit(2, "FG", "alpha", "-M", "gamma", run=60),
        {"t": 10, "op": "stop_ctld", "cluster": "beta"},
        {"t": 10, "op": "stop_ctld", "cluster": "gamma"},
        submit(20, "J", "alpha"),
        {"t": 120, "op": "start_ctld", "cluster": "beta"},
        {"t": 120, "op": "start_ctld", "cluster": "gamma"},
    ], 600)
    rows = records(fedsim, folder, tmp_path)
    ran = runs_of(rows)
    assert all(len(where) == 1 for where in ran.values()), ran
    assert set(ran) == {"FA", "FB", "FG", "J"}
    assert ran["J"] == ["gamma"]  # free since 60 s, but nobody knew before 120 s
    start = next(float(r["start"]) for r in rows if r["label"] == "J" and r["start"] and r["nodes"])
    assert start >= 120
    told = story(fedsim, folder, "J")
    assert "alpha cannot reach beta: tries again later" in told
    assert "alpha cannot reach gamma: tries again later" in told
    assert "beta its controller is back" in told and "gamma starts it" in told


def test_a_link_that_flaps_for_an_hour(fedsim, tmp_path):
    flaps = []
    for t in range(0, 3600, 60):
        flaps += [{"t": t + 5, "op": "link_down", "clusters": ["alpha", "beta"]},
                  {"t": t + 35, "op": "link_up", "clusters": ["alpha", "beta"]}]
    jobs = [submit(3 + 45 * k, f"J{k}", ("alpha", "beta")[k % 2], run=70) for k in range(60)]
    events = sorted(flaps + jobs, key=lambda e: e["t"])
    folder = scenario(tmp_path, events, 8000)
    rows = records(fedsim, folder, tmp_path)
    ran = runs_of(rows)
    assert sorted(ran) == sorted(f"J{k}" for k in range(60))
    assert all(len(where) == 1 for where in ran.values()), ran
    states = collections.Counter(r["state"] for r in rows)
    assert states["COMPLETED"] == 60
    # A copy whose revocation met a broken link asks on for the lock of a job that is over, as on
    # real Slurm (recording 09a), or goes with the next list of jobs: it never runs.
    left = [r for r in rows if r["state"] not in ("COMPLETED", "REVOKED")]
    assert all(r["state"] in ("PENDING", "CANCELLED") and not r["start"] for r in left), left
    told = [line for k in (1, 2, 3) for line in story(fedsim, folder, f"J{k}")]
    assert any(line.startswith("alpha its link to beta goes down") for line in told)
    assert any(line.startswith("alpha its link to beta is back") for line in told)


def test_an_origin_lost_for_good(fedsim, tmp_path):
    folder = scenario(tmp_path, [
        submit(0, "FB", "alpha", "-M", "beta", run=100),
        submit(1, "FG", "alpha", "-M", "gamma", run=200),
        submit(2, "FA", "alpha", "-M", "alpha", run=1000),
        submit(10, "J", "alpha"),
        {"t": 30, "op": "stop_ctld", "cluster": "alpha"},
    ], 4000)
    rows = records(fedsim, folder, tmp_path)
    ran = runs_of(rows)
    # Its siblings lock the job among themselves: one of them runs it, once.
    assert ran["J"] in (["beta"], ["gamma"])
    assert ran["FB"] == ["beta"] and ran["FG"] == ["gamma"]
    told = story(fedsim, folder, "J")
    assert "alpha its controller stops" in told
    assert f"{ran['J'][0]} starts it" in told
    assert any("alpha" in line and ("cannot reach" in line or "no connection" in line)
               for line in told), told


def test_a_backup_controller_takes_over(fedsim, tmp_path):
    events = [
        {"t": 30, "op": "stop_ctld", "cluster": "alpha"},
        submit(60, "LOST", "alpha", "-M", "alpha"),
        submit(300, "J", "alpha", "-M", "alpha", run=20),
        {"t": 600, "op": "start_ctld", "cluster": "alpha"},
        submit(700, "K", "alpha", "-M", "alpha", run=20),
    ]
    folder = scenario(tmp_path, [submit(0, "F", "alpha", "-M", "alpha", run=250), *events], 2000)
    conf = folder / "clusters" / "alpha" / "slurm.conf"
    text = conf.read_text()
    alone = runs_of(records(fedsim, folder, tmp_path))
    assert set(alone) == {"F", "K"}  # nobody hears LOST and J
    spare = "SlurmctldHost=localhost\nSlurmctldHost=spare\nSlurmctldTimeout=90"
    conf.write_text(text.replace("SlurmctldHost=localhost", spare))
    rows = records(fedsim, folder, tmp_path)
    ran = runs_of(rows)
    assert set(ran) == {"F", "J", "K"} and all(len(where) == 1 for where in ran.values())
    done = fedsim("run", folder, "-o", tmp_path / "out", "--quiet", "--events")
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "out" / "events.csv", newline="") as file:
        told = [(r["kind"], float(r["at"])) for r in csv.DictReader(file)
                if r["kind"] in ("CONTROLLER_DOWN", "TAKEOVER", "CONTROLLER_UP")]
    assert [kind for kind, _ in told] == ["CONTROLLER_DOWN", "TAKEOVER", "CONTROLLER_DOWN",
                                          "CONTROLLER_UP"]
    failed, took, handed_back, back = (at for _, at in told)
    assert 90 <= took - failed <= 121  # SlurmctldTimeout, and up to a third of it
    assert 0 < back - handed_back < 10
