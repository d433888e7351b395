"""fedsim place: which nodes, CPUs, memory and GPU indices, and what is said of bad lines.

The expected placements were seen on real Slurm 22.05.8 with these nodes.
"""
import json

import pytest

SLURM_CONF = """ClusterName=oracle
SlurmctldHost=localhost
GresTypes=gpu,shard
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
NodeName=n[1-2] CPUs=32 Sockets=2 CoresPerSocket=16 RealMemory=512000 Gres=gpu:a100:8
NodeName=n[3-4] CPUs=32 Sockets=2 CoresPerSocket=16 RealMemory=512000 Gres=gpu:h100:4
NodeName=n5 CPUs=16 Sockets=2 CoresPerSocket=8 RealMemory=256000 Gres=gpu:a100:2,gpu:v100:2
NodeName=n[6-7] CPUs=16 Sockets=2 CoresPerSocket=8 RealMemory=128000
NodeName=n8 CPUs=16 Sockets=2 CoresPerSocket=8 RealMemory=64000
NodeName=n9 CPUs=16 Sockets=2 CoresPerSocket=8 RealMemory=128000 Gres=gpu:t4:2,shard:t4:16
PartitionName=batch Nodes=n[1-8] Default=YES MaxTime=2-0 DefaultTime=60 State=UP
PartitionName=share Nodes=n9 DefMemPerCPU=1000 State=UP
PartitionName=excl Nodes=n[1-8] OverSubscribe=EXCLUSIVE State=UP
"""
GRES_CONF = """NodeName=n[1-2] Name=gpu Type=a100 File=/dev/nvidia[0-3] Cores=0-15
NodeName=n[1-2] Name=gpu Type=a100 File=/dev/nvidia[4-7] Cores=16-31
NodeName=n[3-4] Name=gpu Type=h100 File=/dev/nvidia[0-1] Cores=0-15
NodeName=n[3-4] Name=gpu Type=h100 File=/dev/nvidia[2-3] Cores=16-31
NodeName=n5 Name=gpu Type=a100 File=/dev/nvidia[0-1]
NodeName=n5 Name=gpu Type=v100 File=/dev/nvidia[2-3]
NodeName=n9 Name=gpu Type=t4 File=/dev/nvidia[0-1]
NodeName=n9 Name=shard Count=8 File=/dev/nvidia0
NodeName=n9 Name=shard Count=8 File=/dev/nvidia1
"""
HALF = {"type": "occupation", "id": "half", "jobs": [
    {"options": ["-wn1", "--gres=gpu:3", "--mem=1000"],
     "alloc": [{"nodes": "n1", "cpu_ids": "0-3", "mem": 1000, "gres": "gpu:a100:3(IDX:0-2)"}]},
    {"options": ["-wn[6-7]", "-N2", "--exclusive"],
     "alloc": [{"nodes": "n[6-7]", "cpu_ids": "0-15", "mem": 128000, "gres": ""}]}]}


@pytest.fixture
def cluster(tmp_path):
    folder = tmp_path / "conf"
    folder.mkdir()
    (folder / "slurm.conf").write_text(SLURM_CONF)
    (folder / "gres.conf").write_text(GRES_CONF)
    return f"oracle={folder}"


def place(fedsim, cluster, *rows):
    done = fedsim("place", "--cluster", cluster, "-",
                  input="".join(json.dumps(row) + "\n" for row in rows))
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def held(answer):
    return [(a["nodes"], a["cpu_ids"], a["gres"]) for a in answer["alloc"]]


@pytest.mark.parametrize("options, want", [
    ("-n1", [("n5", "0", "")]),
    ("--gpus=1", [("n1", "0", "gpu:a100:1(IDX:0)")]),
    ("--gpus=a100:1", [("n5", "0", "gpu:a100:1(IDX:0)")]),
    ("--gpus=9", [("n1", "0", "gpu:a100:5(IDX:0-4)"), ("n2", "0", "gpu:a100:4(IDX:0-3)")]),
    ("--gpus=12", [("n1", "0", "gpu:a100:8(IDX:0-7)"), ("n2", "0", "gpu:a100:4(IDX:0-3)")]),
    ("--gpus=8 -N2", [("n[1-2]", "0", "gpu:a100:4(IDX:0-3)")]),
    ("--gres=gpu:2 -n1 -c20", [("n1", "0-19", "gpu:a100:2(IDX:0,4)")]),
    ("--mem-per-cpu=8G -n4", [("n8", "0-1,8-9", "")]),
    ("-N3 -n16 -wn[6-8] --mem=9", [("n6", "0-6,8-14", ""), ("n[7-8]", "0", "")]),
    ("-p share --gres=shard:3", [("n9", "0", "shard:t4:3(IDX:0)")]),
])
def test_the_empty_cluster(fedsim, cluster, options, want):
    [got] = place(fedsim, cluster, {"type": "placement", "id": "a", "options": options.split()})
    assert got["started"] and got["reason"] == "None"
    assert held(got) == want


def test_what_is_held_is_not_given_again(fedsim, cluster):
    ask = {"type": "placement", "id": 1, "occupation": "half"}
    four, cores, empty = place(
        fedsim, cluster, HALF, {**ask, "options": ["-wn1", "--gres=gpu:4", "--mem=9"]},
        {**ask, "options": ["-wn6"]}, {**ask, "occupation": "", "options": ["-wn6"]})
    assert held(four) == [("n1", "16", "gpu:a100:4(IDX:4-7)")]  # the socket that has four free
    assert not cores["started"] and cores["alloc"] == [] and cores["nodelist"] == ""
    assert cores["reason"] == "Resources"
    assert empty["nodelist"] == "n6"


def test_an_exclusive_partition_gives_whole_nodes(fedsim, cluster):
    [got] = place(fedsim, cluster,
                  {"type": "placement", "id": 1, "options": ["-pexcl", "-n1", "--mem=100"]})
    assert held(got) == [("n5", "0-15", "gpu:a100:2(IDX:0-1),gpu:v100:2(IDX:2-3)")]
    assert got["alloc"][0]["mem"] == 100


def test_a_refused_job_has_sbatchs_words(fedsim, cluster):
    [got] = place(fedsim, cluster, {"type": "placement", "id": 1, "options": ["--gres=gpu:9"]})
    assert (got["started"], got["rc"], got["alloc"]) == (False, 1, [])
    assert "Requested node configuration is not available" in got["stderr"]


@pytest.mark.parametrize("line, said", [
    ("no json", "no JSON object"),
    ('{"type": "placement", "id": 1}', "no options"),
    ('{"type": "placement", "options": [1]}', "an option that is no text"),
    ('{"type": "occupation", "id": 1}', "an occupation without jobs"),
    ('{"type": "occupation", "id": 1, "jobs": [{"options": []}]}', "without alloc"),
    ('{"type": "placement", "occupation": "full", "options": []}', "full was not given before"),
])
def test_a_bad_line_is_named(fedsim, cluster, line, said):
    done = fedsim("place", "--cluster", cluster, "-", input="\n" + line + "\n")
    assert done.returncode == 2
    assert said in done.stderr and "stdin:2" in done.stderr and "C142" in done.stderr


@pytest.mark.parametrize("alloc, said", [
    ({"nodes": "n77", "cpu_ids": "0"}, "holds node n77, which the cluster lacks"),
    ({"nodes": "n[6"}, "is no host list"),
    ({"nodes": "n6", "cpu_ids": "99"}, "n6 has no CPU 99"),
    ({"nodes": "n6", "cpu_ids": "2-0"}, "is no range of indices"),
    ({"nodes": "n6", "cpu_ids": "0", "gres": "gpu:1(IDX:0)"}, "n6 has no gres gpu"),
    ({"nodes": "n5", "cpu_ids": "0", "gres": "gpu:1(IDX:4)"}, "n5 has no gpu 4"),
])
def test_an_occupation_the_cluster_can_not_hold(fedsim, cluster, alloc, said):
    rows = [{"type": "occupation", "id": "o", "jobs": [{"options": [], "alloc": [alloc]}]},
            {"type": "placement", "occupation": "o", "options": []}]
    done = fedsim("place", "--cluster", cluster, "-", input="".join(map(json.dumps, rows)).replace(
        "}{", "}\n{"))
    assert done.returncode == 2
    assert said in done.stderr and "C142" in done.stderr


def test_a_file_that_is_not_there(fedsim, cluster):
    done = fedsim("place", "--cluster", cluster, "nowhere.jsonl")
    assert done.returncode == 2 and "nowhere.jsonl" in done.stderr


def test_sbatch_that_only_prints_something_starts_nothing(fedsim, cluster):
    answer, = place(fedsim, cluster, {"id": 1, "options": ["--gres=help"]})
    assert not answer["started"]
    assert answer["alloc"] == []
