#!/usr/bin/env python3
"""Dumps of two pairs of real clusters, each pair replayed as a federation.

Every job that was read is in jobs.csv and ended, waits or was rejected; GPU-hours of the summary
are those of the allocations; all invariants hold after every event (with the Python module). The
pair of 2016 runs on what scripts/infer_conf.py makes of its dumps, the pair of 2025 on
configurations that lie beside it. The data is found through FEDSIM_SHARED, or as a folder
../shared beside the repository; skipped without it.
"""
import collections
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FEDSIM = os.environ["FEDSIM_COMMAND"]
SKIPPED = 77
# Jobs in the dumps, by their SOURCES.md, and jobs that must still wait at the end, by partition:
# gpu-10, the only node of mig, has Count= without File= in gres.conf, so that Slurm drains it.
PAIRS = [
    {"folder": "xdmod-two-clusters-2016", "file": "{}.log.xz", "columns": ["--columns", "xdmod"],
     "jobs": {"phillips": 4285, "pozidriv": 11704}, "waiting": {}},
    {"folder": "two-clusters-2025", "file": "{}.sacct.psv.xz", "columns": [],
     "jobs": {"alpha": 1282, "beta": 3910}, "waiting": {"mig": 154}},
]


def output_of(*argv):
    return subprocess.run([*map(str, argv)], check=True, stdout=subprocess.PIPE, text=True,
                          timeout=600).stdout


def table(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def replay(confs, traces, columns, out):
    """Runs the pair through the command; gives jobs.csv, allocations.csv and the summary."""
    clusters = [word for name, path in confs.items() for word in ("--cluster", f"{name}={path}")]
    dumps = [word for name, path in traces.items() for word in ("--trace", f"{name}={path}")]
    output_of(FEDSIM, "--quiet", "run", *clusters, *dumps, *columns, "-o", out)
    summary = json.loads((out / "summary.json").read_text())
    return table(out / "jobs.csv"), table(out / "allocations.csv"), summary


def check(pair, jobs, allocations, summary, read):
    """Prints one line of figures; gives what is wrong."""
    states = collections.Counter(job["state"] for job in jobs)
    waiting = collections.Counter(job["partition"] for job in jobs if job["state"] == "PENDING")
    refusals = collections.Counter(job["reason"] for job in jobs if job["state"] == "REJECTED")
    ended = sum(bool(job["end"]) for job in jobs if job["state"] != "REJECTED")
    gpu_hours = sum(int(a["gpus"]) * float(a["elapsed"]) for a in allocations) / 3600
    print(f"{pair['folder']}: {sum(read.values())} jobs read, {ended} ended, "
          f"{waiting.total()} wait, {refusals.total()} rejected ({dict(states)}); "
          f"{gpu_hours:.6f} GPU-hours; {summary['events']} events in {summary['wall_s']:.2f} s")
    claims = {
        f"read {read}, the dumps have {pair['jobs']}": read == pair["jobs"],
        f"{len(jobs)} rows in jobs.csv": len(jobs) == sum(read.values()),
        f"{summary['jobs']} jobs and {summary['rejected']} rejected in the summary":
            (summary["jobs"], summary["rejected"]) == (len(jobs) - refusals.total(),
                                                       refusals.total()),
        f"rejected: {dict(refusals)}": not refusals,
        f"waiting: {dict(waiting)}": waiting == pair["waiting"],
        f"{ended} ended": ended + waiting.total() + refusals.total() == len(jobs),
        f"{summary['gpu_hours']} GPU-hours in the summary":
            gpu_hours > 0 and abs(gpu_hours - summary["gpu_hours"]) < 1e-6,
    }
    return [claim for claim, holds in claims.items() if not holds]


def audit(confs, traces, columns):
    """The same run with every invariant audited after every event."""
    try:
        import fedsim
    except ImportError:
        if os.environ.get("FEDSIM_REQUIRE_PYTHON"):
            raise
        print("  not audited: the module fedsim is not built")
        return
    trace = fedsim.merge([fedsim.read_trace(path, cluster=name, columns="".join(columns[1:]))
                          for name, path in traces.items()])
    result = fedsim.run(fedsim.read_slurm_conf(confs), trace, audit_every=1)
    print(f"  audited after each of {result.summary['events']} events")


def main():
    data = pathlib.Path(os.environ.get("FEDSIM_SHARED") or ROOT.parent / "shared") / "data"
    if not all((data / pair["folder"]).is_dir() for pair in PAIRS):
        print("skipped: no reference data (FEDSIM_SHARED is not set, ../shared is not there)")
        return SKIPPED
    bad = []
    for pair in PAIRS:
        folder, columns = data / pair["folder"], pair["columns"]
        traces = {name: folder / pair["file"].format(name) for name in pair["jobs"]}
        read = {name: json.loads(output_of(FEDSIM, "trace", "info", dump, *columns, "--format",
                                           "json"))["summary"]["replayed"]
                for name, dump in traces.items()}
        with tempfile.TemporaryDirectory() as scratch:
            given = (folder / "inferred").is_dir()
            confs = {name: (folder / "inferred" if given else pathlib.Path(scratch)) / name
                     for name in traces}
            for name in [] if given else traces:
                output_of(sys.executable, ROOT / "scripts/infer_conf.py", traces[name], *columns,
                          "--out", confs[name])
            found = replay(confs, traces, columns, pathlib.Path(scratch) / "out")
            bad += check(pair, *found, read)
            audit(confs, traces, columns)
    for claim in bad:
        print("WRONG:", claim)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
