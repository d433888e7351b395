"""Discrete-event simulator of Slurm federations for GPU clusters.

Text in, tables out, a pure function in between:

    >>> import fedsim as fs
    >>> fed = fs.Federation.of(a="1x8 a100", b="1x8 a100")
    >>> result = fs.run(fed, [fs.Job("J1", gpus=6, time="2h"), fs.Job("J2", gpus=6, time="2h")])
    >>> result.jobs.to_pydict()["state"]
    ['COMPLETED', 'COMPLETED']

Names follow Slurm, units are in names. NumPy, pandas, polars, tqdm and matplotlib are used when
asked for and present; importing the package needs none of them.
"""

import importlib
from typing import Any

from . import jobid
from ._core import (
    UNLIMITED,
    UNSET,
    ClusterSpec,
    Diagnostic,
    FederationSpec,
    GpuDeviceSpec,
    GresSpec,
    InputError,
    InternalError,
    LatencySpec,
    NodeSpec,
    PartitionSpec,
    RecordedScenario,
    Result,
    Scenario,
    Simulation,
    SwitchSpec,
    Table,
    Trace,
    __version__,
    check_config,
    compress_hostlist,
    expand_hostlist,
    machine,
    merge,
    read_sacct,
    read_scenario,
    read_slurm_conf,
    read_swf,
    read_trace,
    synth,
)
from ._jobs import Job
from ._run import Variant, run, sweep

Federation = FederationSpec

__all__ = [
    "UNLIMITED",
    "UNSET",
    "ClusterSpec",
    "Diagnostic",
    "Federation",
    "FederationSpec",
    "GpuDeviceSpec",
    "GresSpec",
    "InputError",
    "InternalError",
    "Job",
    "LatencySpec",
    "NodeSpec",
    "PartitionSpec",
    "RecordedScenario",
    "Result",
    "Scenario",
    "Simulation",
    "SwitchSpec",
    "Table",
    "Trace",
    "Variant",
    "__version__",
    "check_config",
    "compress_hostlist",
    "expand_hostlist",
    "jobid",
    "machine",
    "merge",
    "plot",
    "read_sacct",
    "read_scenario",
    "read_slurm_conf",
    "read_swf",
    "read_trace",
    "run",
    "sweep",
    "synth",
]


def __getattr__(name: str) -> Any:
    # plot needs matplotlib only when it draws; it is loaded at first use.
    if name == "plot":
        return importlib.import_module("fedsim.plot")
    raise AttributeError(f"module 'fedsim' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
