"""What the tests of the command share: the command itself, and small inputs in plain text."""
import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = pathlib.Path(os.environ.get("FEDSIM_COMMAND", ROOT / "build/release/apps/fedsim"))

SLURM_CONF = """\
ClusterName={name}
SlurmctldHost=localhost
GresTypes=gpu
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
NodeName={node} CPUs=64 Sockets=2 CoresPerSocket=32 ThreadsPerCore=1 RealMemory=512000 \
Gres=gpu:a100:8 State=UNKNOWN
PartitionName=batch Nodes={node} Default=YES MaxTime=INFINITE State=UP
"""
GRES_CONF = "NodeName={node} Name=gpu Type=a100 File=/dev/nvidia[0-7]\n"


@pytest.fixture
def fedsim(tmp_path):
    """Runs the command; gives its exit code, stdout and stderr."""

    def run(*argv, env=None, **more):
        more = {"cwd": tmp_path, "timeout": 120, **more}
        environment = {k: v for k, v in os.environ.items() if k not in ("CI", "NO_COLOR")}
        return subprocess.run([COMMAND, *map(str, argv)], capture_output=True, text=True,
                              env={**environment, **(env or {})}, **more)

    return run


@pytest.fixture
def confdir(tmp_path):
    """A folder with slurm.conf and gres.conf: one node of 64 CPUs and eight GPUs."""

    def make(name="alpha", node="a1", edit=None):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        text = SLURM_CONF.format(name=name, node=node)
        (folder / "slurm.conf").write_text(edit(text) if edit else text)
        (folder / "gres.conf").write_text(GRES_CONF.format(node=node))
        return folder

    return make


@pytest.fixture
def scenario(tmp_path, confdir):
    """A scenario folder in the recordings' format: clusters alpha and beta, eight GPUs each."""

    def make(events, name="scenario"):
        folder = tmp_path / name
        (folder / "clusters").mkdir(parents=True)
        clusters = []
        for cluster, node in (("alpha", "a1"), ("beta", "b1")):
            confdir(cluster, node).rename(folder / "clusters" / cluster)
            clusters.append({"name": cluster, "nodes": [
                {"names": [node], "cpus": 64, "mem": 512000, "gpus": [["a100", 8]]}]})
        (folder / "scenario.json").write_text(json.dumps({
            "name": name, "description": "", "federation": True, "clusters": clusters,
            "events": events, "end": {"max": 7200}}))
        return folder

    return make


def submit(label, gpus, t=0.0, run=60, at="alpha", args=()):
    """One submission of a scenario."""
    return {"t": t, "op": "submit", "label": label, "at": at, "run": run,
            "args": ["-n1", f"--gres=gpu:{gpus}", "-t60", "--mem=1000", *args]}


def swf(jobs):
    """A trace in the Standard Workload Format; jobs are (submit, run, processors, limit)."""
    lines = ["; Version: 2.2", "; MaxProcs: 64", "; UnixStartTime: 1767225600"]
    for i, (at, run, procs, limit) in enumerate(jobs, 1):
        asked = f"{procs} {limit}"
        lines.append(f"{i} {at} -1 {run} {procs} -1 -1 {asked} -1 1 1 1 -1 1 -1 -1 -1")
    return "\n".join(lines) + "\n"


def no_crash(done):
    """An ordinary end: not killed by a signal, no internal error, nothing that looks like one."""
    assert done.returncode >= 0, f"killed by signal {-done.returncode}\n{done.stderr}"
    assert done.returncode != 1, done.stderr
    for word in ("terminate called", "Traceback", "AddressSanitizer", "runtime error"):
        assert word not in done.stderr


def leftovers(folder):
    """Files below `folder`, temporary ones too."""
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())
