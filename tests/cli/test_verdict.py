"""fedsim verdict: answers in order, texts and exit codes."""
import json

SLURM_CONF = """ClusterName=one
SlurmctldHost=localhost
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu
NodeName=n[1-2] CPUs=16 Sockets=2 CoresPerSocket=8 RealMemory=64000 Gres=gpu:a100:4 State=UNKNOWN
PartitionName=batch Nodes=ALL Default=YES MaxTime=60 DefaultTime=30 State=UP
"""
GRES_CONF = "NodeName=n[1-2] Name=gpu Type=a100 File=/dev/nvidia[0-3]\n"
SETUP = [["sacctmgr", "-i", "add", "account", "physics", "Cluster=one"],
         ["sacctmgr", "-i", "add", "user", "alice", "Account=physics"]]


def conf(tmp_path):
    folder = tmp_path / "conf"
    folder.mkdir()
    (folder / "slurm.conf").write_text(SLURM_CONF)
    (folder / "gres.conf").write_text(GRES_CONF)
    return f"one={folder}"


def ask(fedsim, cluster, requests, *more):
    text = "".join(json.dumps({"id": i, "options": o}) + "\n" for i, o in enumerate(requests))
    done = fedsim("verdict", "--cluster", cluster, *more, "-", input=text)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_answers_in_order(fedsim, tmp_path):
    got = ask(fedsim, conf(tmp_path), [["--gpus=2", "-t10"], ["--gpus=9"], ["--mem=lots"]])
    assert [row["id"] for row in got] == [0, 1, 2]
    assert [row["rc"] for row in got] == [0, 1, 255]
    assert got[0]["fields"]["TresPerJob"] == "gres:gpu:2"
    assert got[0]["fields"]["TimeLimit"] == "00:10:00"
    assert got[1]["stderr"] == ("sbatch: error: Batch job submission failed: Requested node "
                                "configuration is not available")
    assert got[2]["stderr"] == "sbatch: error: Invalid --mem specification"
    assert "fields" not in got[1]


def test_held_jobs_are_not_tested_against_nodes(fedsim, tmp_path):
    got = ask(fedsim, conf(tmp_path), [["--gpus=9"]], "--held")
    assert got[0]["rc"] == 0
    assert got[0]["fields"]["Reason"] == "JobHeldUser"


def test_accounts_of_the_setup(fedsim, tmp_path):
    cluster = conf(tmp_path)
    path = tmp_path / "conf" / "slurm.conf"
    path.write_text(path.read_text() + "AccountingStorageEnforce=associations\n")
    setup = tmp_path / "setup.jsonl"
    setup.write_text("".join(json.dumps({"argv": argv}) + "\n" for argv in SETUP))
    argv = ["--setup", str(setup), "--user"]
    assert ask(fedsim, cluster, [[]], *argv, "alice")[0]["rc"] == 0
    assert ask(fedsim, cluster, [["-A", "other"]], *argv, "alice")[0]["rc"] == 1
    assert "Invalid account" in ask(fedsim, cluster, [[]], *argv, "bob")[0]["stderr"]


def test_bad_line_is_named(fedsim, tmp_path):
    requests = tmp_path / "requests.jsonl"
    requests.write_text('{"id": 1, "options": []}\n{"id": 2}\n')
    done = fedsim("verdict", "--cluster", conf(tmp_path), str(requests))
    assert done.returncode == 2
    assert f"{requests}:2: error C139" in done.stderr


def test_missing_files(fedsim, tmp_path):
    done = fedsim("verdict", "--cluster", conf(tmp_path), str(tmp_path / "none.jsonl"))
    assert done.returncode == 2
    assert "none.jsonl" in done.stderr
    done = fedsim("verdict", "--cluster", "one=/nowhere", "-", input="")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_sbatch_that_only_prints_something(fedsim, tmp_path):
    got = ask(fedsim, conf(tmp_path), [["--gres=help"]])
    assert got[0]["rc"] == 0
    assert "JobState" not in got[0].get("fields", {})
