"""scripts/infer_conf.py: a slurm.conf from a sacct dump, on small dumps whose answer is plain."""
import gzip
import importlib.util
import lzma
import subprocess
import sys

import pytest
from conftest import ROOT, leftovers

SCRIPT = ROOT / "scripts" / "infer_conf.py"
HEADER = "JobID|Cluster|Partition|State|Submit|Start|End|Timelimit|NCPUS|AllocTRES|NodeList|JobName"

spec = importlib.util.spec_from_file_location("infer_conf", SCRIPT)
functions = importlib.util.module_from_spec(spec)
spec.loader.exec_module(functions)


def at(minute):
    """An instant of the dumps: so many minutes after 10 o'clock."""
    return f"2025-03-01T{10 + minute // 60}:{minute % 60:02d}:00"


def row(job, start=0, end=10, *, nodes="n1", tres="cpu=4,mem=8G,node=1", partition="batch",
        limit="01:00:00", cluster="alpha", state="COMPLETED", name="x"):
    """One record that ran from minute `start` to minute `end`."""
    return "|".join([job, cluster, partition, state, at(0), at(start), at(end), limit, "1", tres,
                     nodes, name])


def waiting(job, *, partition="batch", limit="01:00:00", state="PENDING", nodes="None assigned"):
    """One record that never ran."""
    return "|".join([job, "alpha", partition, state, at(0), "Unknown", "Unknown", limit, "4", "",
                     nodes, "x"])


@pytest.fixture
def infer(tmp_path):
    """Runs the script on rows; gives what it printed and the files it wrote, without comments."""

    def run(rows, *more, header=HEADER, file="dump.psv", pack=lambda data: data):
        text = "\n".join([header, *rows] if header else rows) + "\n"
        if file != "-":
            (tmp_path / file).write_bytes(pack(text.encode()))
        out = tmp_path / "conf"
        done = subprocess.run([sys.executable, SCRIPT, file, "--out", out, *more], cwd=tmp_path,
                              input=text.encode(), capture_output=True, timeout=60)
        done.stderr = done.stderr.decode()
        assert "Traceback" not in done.stderr and not done.stdout
        done.conf, done.gres = ([line for line in (out / name).read_text().splitlines()
                                 if not line.startswith("#")] if (out / name).exists() else []
                                for name in ("slurm.conf", "gres.conf"))
        return done

    return run


def lines(done, key):
    """The lines of slurm.conf that begin with `key`."""
    assert done.returncode == 0, done.stderr
    return [line for line in done.conf if line.startswith(key)]


def fails(done, *words):
    """One line on stderr, exit code 2, nothing written."""
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    for word in words:
        assert word in done.stderr
    assert not done.conf and not done.gres


def test_most_held_at_one_time(infer, fedsim, tmp_path):
    # On n1: 4 CPUs in minutes 0 to 10, 8 in 5 to 10, 4 in 10 to 20: job 3 starts as 1 and 2 end.
    # Job 4 has no length and 6 CPUs, less than the 8. On n2: 3 of the 5 CPUs on two nodes.
    done = infer([row("1"), row("2", 5, 10), row("3", 10, 20),
                  row("4", 30, 30, tres="cpu=6,mem=1G,node=1"),
                  row("5", 40, 50, nodes="n[2-3]", tres="cpu=5,mem=3000M,node=2",
                      partition="wide", limit="2-00:00:00")])
    assert done.conf == [
        "ClusterName=alpha",
        "SelectType=select/cons_tres",
        "SelectTypeParameters=CR_Core_Memory",
        "NodeName=n1 CPUs=8 RealMemory=16384",
        "NodeName=n[2-3] CPUs=3 RealMemory=1500",
        "PartitionName=batch Nodes=n1 MaxTime=0-01:00:00 Default=YES",
        "PartitionName=wide Nodes=n[2-3] MaxTime=2-00:00:00",
    ]
    assert not done.gres
    text = (tmp_path / "conf/slurm.conf").read_text().splitlines()
    for i, line in enumerate(text):
        assert line.startswith("#") or text[i - 1].startswith(("# inferred: ", "# assumed: "))
    assert "QOS" in "".join(text[:3]) and "lower bounds" in "".join(text[:3])
    assert fedsim("check", "conf").returncode == 0


def test_no_length_and_still_running(infer):
    # Job 1 has no length and the most CPUs; job 2 runs at the dump, and so beside job 3 later.
    running = row("2", state="RUNNING").replace(at(10), "Unknown")
    done = infer([row("1", 5, 5, nodes="n1", tres="cpu=9,mem=1G"),
                  running.replace("|n1|", "|n2|"), row("3", 500, 510, nodes="n2")])
    assert lines(done, "NodeName") == ["NodeName=n1 CPUs=9 RealMemory=1024",
                                       "NodeName=n2 CPUs=8 RealMemory=16384"]


def test_gpus(infer, fedsim):
    # n1: one typed pair and one typed single at once. n2: without type. n3: two types at once.
    # n4: four without type beside one a40, so all five are taken for a40.
    done = infer([row("1", tres="cpu=1,mem=1G,gres/gpu:a100=2,gres/gpu=2"),
                  row("2", tres="cpu=1,mem=1G,gres/gpu:a100=1"),
                  row("3", nodes="n2", tres="cpu=1,mem=1G,gres/gpu=1"),
                  row("4", nodes="n3", tres="cpu=1,mem=1G,gres/gpu=3,gres/gpu:a=2,gres/gpu:b=1"),
                  row("5", nodes="n4", tres="cpu=1,mem=1G,gres/gpu=4"),
                  row("6", nodes="n4", tres="cpu=1,mem=1G,gres/gpu=1,gres/gpu:a40=1")])
    assert lines(done, "GresTypes") == ["GresTypes=gpu"]
    assert [line.split(" Gres=")[1] for line in lines(done, "NodeName")] == [
        "gpu:a100:3", "gpu:1", "gpu:a:2,gpu:b:1", "gpu:a40:5"]
    assert done.gres == ["NodeName=n1 Name=gpu Type=a100 File=/dev/nvidia[0-2]",
                         "NodeName=n2 Name=gpu File=/dev/nvidia0",
                         "NodeName=n3 Name=gpu Type=a File=/dev/nvidia[0-1]",
                         "NodeName=n3 Name=gpu Type=b File=/dev/nvidia2",
                         "NodeName=n4 Name=gpu Type=a40 File=/dev/nvidia[0-4]"]
    assert "0 errors, 0 warnings" in fedsim("check", "conf").stdout


def test_rows_that_never_ran(infer, fedsim, tmp_path):
    rows = [row("12_1"), row("12_2", 20, 30), waiting("12_[3-5]"), waiting("13_[1,4-9%2]"),
            row("12_1.batch", tres="cpu=400,mem=900G"), row("14+0", 40, 50), row("14+1", 40, 50),
            row("14+0.extern", 40, 50, tres="cpu=400"), waiting("15", partition="idle,batch"),
            waiting("16", state="CANCELLED by 1001", nodes="(null)"),
            row("17", 60, 60, nodes="None assigned", tres="cpu=400,mem=900G", state="CANCELLED")]
    done = infer(rows)
    # Components 14+0 and 14+1 run at once: 8 CPUs. Partition idle has jobs and no nodes.
    assert lines(done, "NodeName") == ["NodeName=n1 CPUs=8 RealMemory=16384"]
    assert lines(done, "Partition") == [
        "PartitionName=batch Nodes=n1 MaxTime=0-01:00:00 Default=YES",
        'PartitionName=idle Nodes="" MaxTime=0-01:00:00']
    assert "none ran" in (tmp_path / "conf/slurm.conf").read_text()
    again = fedsim("run", "--cluster", "alpha=conf", "--trace", "dump.psv", "--format", "json")
    assert again.returncode == 0 and '"rejected": 0' in again.stdout


def test_limits(infer):
    done = infer([row("1", partition="a", limit="Partition_Limit"), row("2", partition="a"),
                  row("3", partition="b", limit="UNLIMITED"), row("4", partition="b"),
                  row("5", partition="c", limit="Partition_Limit"),
                  row("6", partition="d", limit="00:00:30"),
                  waiting("7", partition="a", limit="1-06:30:00")])
    assert [line.split("MaxTime=")[1].split()[0] for line in lines(done, "Partition")] == [
        "1-06:30:00", "UNLIMITED", "UNLIMITED", "0-00:01:00"]


def test_raw_limits_memory_and_counts(infer):
    # Without AllocTRES: NCPUS over the nodes, TimelimitRaw in minutes, ReqMem by its letter. The
    # last is 2 GiB per CPU in the form of old releases: 2^31 + 2048.
    header = "JobIDRaw|JobID|Partition|Start|End|TimelimitRaw|NCPUS|ReqMem|NodeList"
    rows = [f"{i}|{i}|p|{i}740000000|{i}740000600|90|6|{memory}|m[{2 * i}-{2 * i + 1}]"
            for i, memory in enumerate(("1Gc", "1Gn", "1G", "2147485696Mn"), 1)]
    done = infer(rows, "--cluster", "old", header=header)
    assert lines(done, "NodeName") == ["NodeName=m[2-3] CPUs=3 RealMemory=3072",
                                       "NodeName=m[4-5] CPUs=3 RealMemory=1024",
                                       "NodeName=m[6-7] CPUs=3 RealMemory=512",
                                       "NodeName=m[8-9] CPUs=3 RealMemory=6144"]
    assert lines(done, "PartitionName") == ["PartitionName=p Nodes=m[2-9] MaxTime=0-01:30:00 "
                                            "Default=YES"]
    assert lines(done, "ClusterName") == ["ClusterName=old"]


def test_memory_of_some_runs_only(infer, tmp_path):
    done = infer([row("1"), row("2", nodes="n2", tres="cpu=2,node=1")])
    assert lines(done, "SelectTypeP") == ["SelectTypeParameters=CR_Core"]
    assert lines(done, "NodeName") == ["NodeName=n1 CPUs=4 RealMemory=8192", "NodeName=n2 CPUs=2"]
    assert "1 of 2 runs" in (tmp_path / "conf/slurm.conf").read_text()


def test_duplicates(infer):
    # A repeated row counts once; the runs of a requeued job count each, and follow each other.
    done = infer([row("1"), row("1"), row("1", 10, 20), row("1", 20, 30)])
    assert lines(done, "NodeName") == ["NodeName=n1 CPUs=4 RealMemory=8192"]


def test_forms_of_dumps(infer):
    rows = [row("1"), row("2", name="a|b\nc"), row("3")]
    wanted = lines(infer(rows), "")
    for file, pack in (("d.gz", gzip.compress), ("d.xz", lzma.compress), ("-", None)):
        assert lines(infer(rows, "--force", file=file, pack=pack), "") == wanted
    crlf = infer(rows, "--force", pack=lambda data: data.replace(b"\n", b"\r\n"))
    assert lines(crlf, "") == wanted
    bare = infer(rows, "--force", "--columns", HEADER.replace("|", ","), header="")
    assert lines(bare, "") == wanted
    marked = infer([line.replace("|", "^|^") for line in (row("1"), row("3"))], "--force",
                   header=HEADER.replace("|", "^|^"))
    assert lines(marked, "NodeName") == ["NodeName=n1 CPUs=8 RealMemory=16384"]
    ended = infer([line + "|" for line in (row("1"), row("3"))], "--force", header=HEADER + "|")
    assert lines(ended, "NodeName") == ["NodeName=n1 CPUs=8 RealMemory=16384"]


def test_xdmod_columns(infer):
    cells = {"JobID": "1", "Cluster": "phillips", "Partition": "black", "Start": at(0),
             "End": at(9), "NCPUS": "8", "AllocTRES": "billing=8,cpu=8,mem=62.50G,node=1",
             "Timelimit": "37-14:00:00", "NodeList": "cpn-f13-42-02"}
    line = "|".join(cells.get(name, "") for name in functions.XDMOD.split(","))
    done = infer([line], "--columns", "XDMoD", header="")
    assert lines(done, "NodeName") == ["NodeName=cpn-f13-42-02 CPUs=8 RealMemory=64000"]
    assert lines(done, "Partition")[0].endswith("MaxTime=37-14:00:00 Default=YES")


def test_several_clusters(infer):
    rows = [row("1"), row("1", cluster="beta", nodes="b1")]
    fails(infer(rows), "dump.psv:3:", "cluster beta beside alpha", "--cluster NAME")
    fails(infer(rows, "--cluster", "gamma"), "no job of cluster gamma ran",
          "the dump has alpha, beta")
    done = infer(rows, "--cluster", "beta")
    assert lines(done, "ClusterName") + lines(done, "NodeName") == [
        "ClusterName=beta", "NodeName=b1 CPUs=4 RealMemory=8192"]


@pytest.mark.parametrize("text, names", [
    ("a1", ["a1"]),
    ("a[01-03,7]", ["a01", "a02", "a03", "a7"]),
    ("a[8-11],b2", ["a8", "a9", "a10", "a11", "b2"]),
    ("r[1-2]n[09-10]", ["r1n09", "r1n10", "r2n09", "r2n10"]),
    ("x[1,3]-ib,login", ["x1-ib", "x3-ib", "login"]),
])
def test_expand(text, names):
    assert functions.expand(text) == names
    assert sorted(functions.expand(functions.compress(names))) == sorted(names)


@pytest.mark.parametrize("names, text", [
    (["n3", "n1", "n2", "n10", "n"], "n,n[1-3,10]"),
    (["n08", "n09", "n10", "n7"], "n[7,08-10]"),
    (["n099", "n100", "n98"], "n[98,099-100]"),
    (["b1", "a10", "a9"], "a[9-10],b1"),
    (["n1-ib", "n2-ib"], "n1-ib,n2-ib"),
    ([], ""),
])
def test_compress(names, text):
    assert functions.compress(names) == text


@pytest.mark.parametrize("rows, words", [
    ([], ["dump.psv: the cluster's name is not in it", "--cluster"]),
    ([waiting("1")], ["dump.psv: no job of cluster alpha ran", "dump a longer time"]),
    ([row("1"), "sacct: error: slurmdbd is away"], ["dump.psv:3: a message of sacct"]),
    ([row("x1")], ["dump.psv:2:", '"x1" is no job id', "--parsable2"]),
    ([row("1"), "2|alpha"], ["dump.psv:3: 2 fields, 12 expected", "JobName last"]),
    ([row("1", nodes="n[1-")], ["dump.psv:2: job 1:", "brackets", "repair"]),
    ([row("1", nodes="n[3-1]")], ["dump.psv:2: job 1:", "[3-1] is no list of numbers"]),
    ([row("1", nodes="n[1-999999999]")], ["dump.psv:2: job 1:", "[1-999999999]"]),
    ([row("1", nodes="n[1-999][1-999]")], ["dump.psv:2: job 1: too many names"]),
    ([row("1", limit="soon")], ["dump.psv:2: job 1:", "'soon'"]),
    ([row("1", tres="cpu8")], ["dump.psv:2: job 1: 'cpu8' is no list of TRES"]),
    ([row("1", tres="cpu=8,mem=4Q")], ["dump.psv:2: job 1: '4Q' is no size of memory"]),
    ([row("1").replace(at(10), "noon")], ["dump.psv:2: job 1:", "'noon'"]),
])
def test_bad_rows(infer, rows, words):
    fails(infer(rows), *words)


def test_bad_dumps(infer, tmp_path):
    fails(infer([row("1")], header=""), "dump.psv:1: no header row", "--columns")
    fails(infer(["1|p"], header="JobID|Partition"), "dump.psv:1: no column NodeList, Start, End")
    fails(infer(["1 x"], header="JobID   JobName"), "dump.psv:1: fixed-width", "--parsable2")
    fails(infer([], header=""), "dump.psv: no header row")
    fails(infer([row("1")], "--columns", "JobID,State", header=""), "no column Partition")
    fails(infer([row("1")], file="d.gz", pack=lambda data: gzip.compress(data)[:40]), "d.gz:")
    fails(infer([row("1")], file="d.xz", pack=lambda data: lzma.compress(data)[:40]), "d.xz:")
    missing = subprocess.run([sys.executable, SCRIPT, "none.psv", "--out", "conf"], cwd=tmp_path,
                             capture_output=True, text=True, timeout=60)
    assert missing.returncode == 2
    assert missing.stderr.startswith("infer_conf.py: none.psv: can't be read (No such file")


def test_whole_files_or_none(infer, tmp_path):
    gpu = row("1", tres="cpu=1,mem=1G,gres/gpu=1")
    assert infer([gpu]).returncode == 0
    before = (tmp_path / "conf/slurm.conf").read_bytes()
    refused = infer([row("1")])
    assert refused.returncode == 2 and "conf/slurm.conf: is there already" in refused.stderr
    assert "--force" in refused.stderr and (tmp_path / "conf/slurm.conf").read_bytes() == before
    assert infer([row("x")], "--force").returncode == 2
    assert (tmp_path / "conf/slurm.conf").read_bytes() == before
    # The devices of an earlier run must not stay beside nodes without GPUs.
    assert infer([row("1")], "--force").returncode == 0
    assert leftovers(tmp_path / "conf") == ["slurm.conf"]
    (tmp_path / "taken").write_text("")
    blocked = infer([row("1")], "--out", "taken")
    assert blocked.returncode == 2 and "taken: can't be written" in blocked.stderr
