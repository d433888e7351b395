"""Specs are immutable values: replace(), short forms, what-ifs, reading folders, pickle."""

import pickle
from datetime import timedelta

import fedsim as fs
import pytest


def test_machine_and_of():
    flat = fs.machine("flat", 3, units=2)
    assert [n.name for n in flat.nodes] == ["n1", "n2", "n3"]
    assert flat.nodes[0].cpus == 2 and flat.nodes[0].gpus == ()
    fed = fs.Federation.of(a="2x8 a100", b="1x4 h100", c="3x16")
    assert fed.federated and fed.gpus_n == 2 * 8 + 4
    assert [n.name for n in fed.clusters[0].nodes] == ["a1", "a2"]
    assert fed.clusters[0].partitions[0].nodes == ("a1", "a2")
    assert fed.clusters[1].nodes[0].gpus[0].type == "h100"
    assert not fs.Federation.of(a="1x8").federated
    assert fs.Federation is fs.FederationSpec


def test_values_do_not_change():
    spec = fs.machine("m", 2, units=4)
    with pytest.raises(AttributeError):
        spec.name = "other"
    with pytest.raises(TypeError):
        spec.options["KillWait"] = "1"
    other = spec.replace(name="other", options={**spec.options, "KillWait": 1 and "1"})
    assert (spec.name, other.name) == ("m", "other")
    assert "KillWait" not in spec.options and other.options["KillWait"] == "1"
    assert other != spec and other.replace(name="m", options=spec.options) == spec


def test_nested_fields():
    node = fs.NodeSpec(name="n1", cpus=8, gpus=[fs.GpuDeviceSpec(type="a100")] * 2)
    part = fs.PartitionSpec(name="gpu", nodes=["n1"], is_default=True, oversubscribe="force")
    cluster = fs.ClusterSpec(name="c", release="24.11", nodes=[node], partitions=[part])
    assert cluster.release == "24.11" and cluster.partitions[0].oversubscribe == "force"
    assert cluster.partitions[0].max_time_s == fs.UNLIMITED
    latency = fs.LatencySpec(launch="1.5s", epilog=timedelta(milliseconds=2))
    fed = fs.FederationSpec(clusters=[cluster], latency=latency)
    assert fed.latency.launch == timedelta(seconds=1.5)
    assert "2 items" not in repr(cluster) and "name='c'" in repr(cluster)


def test_wrong_fields_are_named():
    with pytest.raises(TypeError, match="unexpected option 'nmae'; did you mean 'name'"):
        fs.ClusterSpec(nmae="x")
    with pytest.raises(TypeError, match="NodeSpec.features"):
        fs.NodeSpec(features="a100")  # a text is not a list of texts
    with pytest.raises(TypeError, match="NodeSpec.cpus"):
        fs.NodeSpec(cpus="many")
    with pytest.raises(fs.InputError, match="PartitionSpec.oversubscribe: 'maybe' is not one of"):
        fs.PartitionSpec(oversubscribe="maybe")
    with pytest.raises(fs.InputError, match="'22.05'"):
        fs.ClusterSpec(release="new")


@pytest.mark.parametrize("short", ["8 a100", "1x", "x8", "1x8a100", "0x8", "1x8 a100 b", "1x8:2"])
def test_short_form_errors(short):
    with pytest.raises(fs.InputError, match="NODESxGPUS TYPE"):
        fs.Federation.of(a=short)


def test_with_cluster(two):
    three = two.with_cluster("c", like="b", nodes=3)
    assert [c.name for c in three.clusters] == ["a", "b", "c"] and len(two.clusters) == 2
    assert [n.name for n in three.clusters[2].nodes] == ["c1", "c2", "c3"]
    assert three.clusters[2].partitions[0].nodes == ("c1", "c2", "c3")
    assert two.with_cluster(fs.machine("m", 1, units=8, gpu_type="h100")).gpus_n == 24
    with pytest.raises(fs.InputError, match="'bb' is not a cluster of this federation"):
        two.with_cluster("c", like="bb")
    with pytest.raises(TypeError, match="like=CLUSTER"):
        two.with_cluster("c")


def test_with_options(two):
    both = two.with_options(SchedulerParameters="bf_interval=10", KillWait=60)
    assert {c.options["KillWait"] for c in both.clusters} == {"60"}
    one = two.with_options("a", SchedulerType="sched/builtin")
    assert "SchedulerType" not in one.clusters[1].options
    with pytest.raises(fs.InputError, match="not a cluster"):
        two.with_options("x", KillWait=60)


def test_html_escapes():
    fed = fs.FederationSpec(clusters=[fs.machine("<b>", 1, units=1)])
    assert "&lt;b&gt;" in fed._repr_html_() and "<b>" not in fed._repr_html_()


def test_pickle(two):
    again = pickle.loads(pickle.dumps(two))
    assert again == two and again is not two
    with pytest.raises(ValueError, match="end early|damaged|another fedsim"):
        two.__class__.__new__(two.__class__).__setstate__(b"nonsense of another kind")


def _write_conf(folder, name, extra=""):
    folder.mkdir()
    (folder / "slurm.conf").write_text(
        f"ClusterName={name}\nSelectType=select/cons_tres\nGresTypes=gpu\n"
        "NodeName=g[1-2] CPUs=8 RealMemory=1000 Gres=gpu:a100:4 Weight=3 Feature=big\n"
        "PartitionName=gpu Nodes=g[1-2] Default=YES MaxTime=1-00:00:00\n" + extra
    )
    (folder / "gres.conf").write_text("NodeName=g[1-2] Name=gpu Type=a100 Count=4\n")
    return folder


def test_read_slurm_conf(tmp_path):
    folders = {name: _write_conf(tmp_path / name, name) for name in ("beta", "alpha")}
    spec = fs.read_slurm_conf(folders)
    assert [c.name for c in spec.clusters] == ["beta", "alpha"]  # in the order given
    assert spec.federated and spec.gpus_n == 16
    assert spec.clusters[0].nodes[0].features == ("big",)


def test_check_config(tmp_path):
    inventory, diagnostics = fs.check_config(_write_conf(tmp_path / "c", "c", "NoSuchKey=1\n"))
    assert inventory["cluster"] == "c" and inventory["nodes_n"] == 2
    node = inventory["nodes"]["g1"]
    assert node["gpus"] == 4 and node["gres"] == {"gpu:a100": 4} and node["weight"] == 3
    assert inventory["partitions"]["gpu"]["max_time_s"] == 86400
    found = [d for d in diagnostics if "NoSuchKey" in d.message]
    assert found and found[0].severity == "warning" and found[0].line > 0
    assert str(found[0]).startswith(found[0].file)


def test_all_errors_at_once(tmp_path):
    bad = _write_conf(tmp_path / "bad", "bad", "NodeName=x[2-1\nPartitionName=p Nodes=nowhere\n")
    with pytest.raises(fs.InputError) as caught:
        fs.read_slurm_conf({"bad": bad})
    assert len([d for d in caught.value.diagnostics if d.severity == "error"]) >= 1
    assert isinstance(caught.value, ValueError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.diagnostics == caught.value.diagnostics


def test_missing_folder(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        fs.check_config(tmp_path / "none")
    assert "none" in caught.value.filename
    with pytest.raises(OSError):
        fs.read_slurm_conf({"a": tmp_path / "none"})


def test_hostlists():
    assert fs.expand_hostlist("n[1-3,7],x") == ["n1", "n2", "n3", "n7", "x"]
    assert fs.compress_hostlist(["n1", "n2", "n3", "n7"]) == "n[1-3,7]"
    with pytest.raises(fs.InputError):
        fs.expand_hostlist("n[3-1]")
