"""fedsim check: inventory and findings of a configuration folder."""
import json

import pytest

from conftest import no_crash


def test_good_configuration(fedsim, confdir):
    done = fedsim("check", confdir(), "--format", "json")
    assert done.returncode == 0, done.stderr
    got = json.loads(done.stdout)
    assert got["cluster"] == "alpha" and got["nodes_n"] == 1
    node = got["nodes"]["a1"]
    assert (node["cpus"], node["sockets"], node["cores_per_socket"], node["threads_per_core"],
            node["memory_mib"], node["weight"], node["gpus"]) == (64, 2, 32, 1, 512000, 1, 8)
    assert node["gres"]["gpu:a100"] == 8
    assert got["partitions"]["batch"]["nodes_n"] == 1
    assert got["partitions"]["batch"]["default"] is True
    assert [d for d in got["diagnostics"] if d["severity"] == "error"] == []


def test_misspelt_key_is_a_warning_with_file_and_line(fedsim, confdir):
    folder = confdir(edit=lambda t: t.replace("SelectTypeParameters=", "SelectTypeParamters="))
    done = fedsim("check", folder, "--format", "json")
    assert done.returncode == 0, done.stderr
    found = [d for d in json.loads(done.stdout)["diagnostics"]
             if "SelectTypeParamters" in d["message"]]
    assert len(found) == 1
    assert found[0]["severity"] == "warning"
    assert found[0]["file"].endswith("slurm.conf") and found[0]["line"] == 5
    assert found[0]["code"]


@pytest.mark.parametrize("old, new, word", [
    ("CPUs=64", "CPUs=many", "many"),
    ("RealMemory=512000", "RealMemory=lots", "lots"),
    ("MaxTime=INFINITE", "MaxTime=soon", "soon"),
    ("NodeName=a1", "NodeName=a[1-", "a[1-"),
])
def test_unreadable_value_is_an_error_with_file_and_line(fedsim, confdir, old, new, word):
    done = fedsim("check", confdir(edit=lambda t: t.replace(old, new)), "--format", "json")
    no_crash(done)
    assert done.returncode == 2
    errors = [d for d in json.loads(done.stdout)["diagnostics"] if d["severity"] == "error"]
    assert any(word in d["message"] and d["line"] in (6, 7) and d["file"].endswith("slurm.conf")
               for d in errors), errors


def test_all_errors_at_once(fedsim, confdir):
    def edit(text):
        return text.replace("CPUs=64", "CPUs=many").replace("MaxTime=INFINITE", "MaxTime=soon")

    done = fedsim("check", confdir(edit=edit), "--format", "json")
    lines = {d["line"] for d in json.loads(done.stdout)["diagnostics"] if d["severity"] == "error"}
    assert {6, 7} <= lines


def test_unknown_node_in_a_partition(fedsim, confdir):
    done = fedsim("check", confdir(edit=lambda t: t.replace("Nodes=a1 ", "Nodes=a1,ghost ")))
    assert done.returncode == 2
    assert "ghost" in done.stdout + done.stderr


def test_text_names_file_line_and_code(fedsim, confdir):
    done = fedsim("check", confdir(edit=lambda t: t.replace("CPUs=64", "CPUs=many")))
    assert done.returncode == 2
    assert "slurm.conf:6" in done.stdout + done.stderr


@pytest.mark.parametrize("name", ["nowhere", "empty"])
def test_no_slurm_conf(fedsim, tmp_path, name):
    (tmp_path / "empty").mkdir()
    done = fedsim("check", tmp_path / name)
    no_crash(done)
    assert done.returncode == 2
    assert name in done.stderr


@pytest.mark.parametrize("content", [b"", b"\0\0\0", b"\xff\xfe\x00", b"=" * 5000, b"A" * 200000,
                                     b"NodeName=a[1-99999999] CPUs=1\n", b"Include slurm.conf\n"])
def test_nonsense_never_crashes(fedsim, tmp_path, content):
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "slurm.conf").write_bytes(content)
    done = fedsim("check", tmp_path / "c", "--format", "json", timeout=60)
    no_crash(done)
    json.loads(done.stdout)
