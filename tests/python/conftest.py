"""Shared by the Python tests: two-cluster federations, and a skip where the module is not built."""

import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

try:
    import fedsim
except ImportError:
    if os.environ.get("FEDSIM_REQUIRE_PYTHON"):
        raise
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture
def two():
    """Two clusters of one node with eight GPUs each, in one federation."""
    return fedsim.Federation.of(a="1x8 a100", b="1x8 a100")


@pytest.fixture
def story(two):
    """J1 and J2 of six GPUs and six processes, J12 of twelve GPUs, all submitted at a."""
    return fedsim.Scenario(
        two,
        [
            fedsim.Job("J1", gpus=6, ntasks=6, time="2h", at="a"),
            fedsim.Job("J2", gpus=6, ntasks=6, time="2h", at="a"),
            fedsim.Job("J12", gpus=12, time="2h", at="a"),
        ],
    )


@pytest.fixture
def busy():
    """A load that keeps two clusters of CPUs busy, with waiting and backfill."""
    spec = fedsim.Federation.of(a="4x16", b="4x16")
    trace = fedsim.synth(
        jobs=300, seed=3, clusters=["a", "b"], max_units=16, mean_interarrival_s=120
    )
    return fedsim.Scenario(spec, trace, seed=5)


@pytest.fixture(scope="session")
def recordings():
    """The folder of recorded scenarios, or a skip."""
    shared = pathlib.Path(os.environ.get("FEDSIM_SHARED", ROOT.parent / "shared"))
    folder = shared / "slurm-golden"
    if not folder.is_dir():
        pytest.skip("recordings are not here (FEDSIM_SHARED)")
    return folder
