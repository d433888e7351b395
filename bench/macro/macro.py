#!/usr/bin/env python3
"""Whole runs against the floor: CPU seconds and memory of `fedsim run` on 100k and 1M jobs.

    python3 bench/macro/macro.py                        100,000 and 1,000,000 jobs, all three runs
    python3 bench/macro/macro.py --jobs 10000 --repeat 3
    python3 bench/macro/macro.py --load my.swf          a load of your own

The load: Poisson arrivals, lognormal run times, sizes 1 to 256, over-estimated limits, offered load
0.92 on 1024 nodes of one CPU, made by `fedsim trace synth`. The floor is fedsim_flat_pool: EASY on
counts. Times are ratios: only figures of one run of this script can be compared. The best of
--repeat runs is taken.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

NODES = 1024
OFFERED_LOAD = 0.92
BUILD = Path(__file__).resolve().parents[2] / "build" / "release"
RUNS = {
    "ideal easy": ["--fidelity", "ideal", "--policy", "easy"],
    "slurm": ["--fidelity", "slurm"],
}


class Cost(NamedTuple):
    """CPU seconds (user and system) and peak resident bytes of one process, and what it printed."""

    cpu_s: float
    peak_bytes: int
    output: str


def measure(command: list[str]) -> Cost:
    """Runs a command to its end in a child of its own, so that its peak memory is its own."""
    code = (
        "import resource, subprocess, sys, json;"
        "p = subprocess.run(sys.argv[1:], capture_output=True, text=True);"
        "r = resource.getrusage(resource.RUSAGE_CHILDREN);"
        "used = [r.ru_utime + r.ru_stime, r.ru_maxrss * 1024];"
        "print(json.dumps([p.returncode, *used, p.stdout, p.stderr]))"
    )
    child = [sys.executable, "-c", code, *command]
    done = subprocess.run(child, capture_output=True, text=True, check=True)
    rc, cpu_s, peak, out, err = json.loads(done.stdout)
    if rc != 0:
        raise SystemExit(f"{' '.join(command)} ended with {rc}:\n{err}")
    return Cost(cpu_s, peak, out)


def offered_work(load: Path) -> tuple[int, float, float]:
    """Jobs, unit-seconds of work and seconds from first to last submission of an SWF file."""
    jobs, work, first, last = 0, 0.0, None, 0.0
    with load.open() as lines:
        for line in lines:
            if line.startswith(";") or not line.strip():
                continue
            field = line.split()
            submit = float(field[1])
            first = submit if first is None else first
            last = submit
            work += float(field[3]) * float(field[7])
            jobs += 1
    return jobs, work, last - (first or 0.0)


def make_load(command: Path, jobs: int, out: Path) -> None:
    """Writes a synthetic load whose offered load on NODES units is OFFERED_LOAD."""

    def synth(mean_interarrival_s: float) -> None:
        options = ["--seed", "1", "--max-units", "256", "--users", "64", "-n", str(jobs)]
        options += ["--mean-interarrival-s", repr(mean_interarrival_s), "-o", str(out)]
        measure([str(command), "trace", "synth", *options])

    synth(60.0)
    _, work, span = offered_work(out)
    synth(60.0 * work / (NODES * OFFERED_LOAD) / span)


def best(command: list[str], repeat: int) -> Cost:
    return min((measure(command) for _ in range(repeat)), key=lambda c: c.cpu_s)


def compare(command: Path, floor: Path, load: Path, repeat: int) -> list[dict[str, object]]:
    """One row a run on `load`; the first is the floor."""
    jobs, work, span = offered_work(load)
    base = best([str(floor), str(load), str(NODES), "easy"], repeat)
    offered = work / span / NODES
    rows: list[dict[str, object]] = [
        {"jobs": jobs, "offered_load": offered, "run": "floor", "cpu_s": base.cpu_s, "ratio": 1.0}
    ]
    run = [str(command), "run", "--machine", f"{NODES}x1", "--trace", str(load), "--format", "json"]
    for name, options in RUNS.items():
        cost = best([*run, *options], repeat)
        summary = json.loads(cost.output)
        rows.append(
            {
                "jobs": jobs,
                "run": name,
                "cpu_s": cost.cpu_s,
                "ratio": cost.cpu_s / base.cpu_s,
                "bytes_per_job": cost.peak_bytes / jobs,
                "events": summary["events"],
                "backfill_passes": summary["backfill_passes"],
                "mean_wait_s": summary["wait_s"]["mean"],
                "fingerprint": summary["fingerprint"],
            }
        )
    return rows


def show(rows: list[dict[str, object]]) -> None:
    for r in rows:
        text = f"{r['jobs']:>9,} jobs  {r['run']:<12}{r['cpu_s']:9.2f} CPU s"
        text += f"  {r['ratio']:7.2f} x floor"
        if "bytes_per_job" in r:
            text += f"  {r['bytes_per_job']:6.0f} B/job  {r['events']:>10,} events"
            text += f"  mean wait {r['mean_wait_s']:.2f} s"
        print(text, flush=True)


def main() -> int:
    command, floor = BUILD / "apps" / "fedsim", BUILD / "bench" / "fedsim_flat_pool"
    sizes = [100_000, 1_000_000]
    raw = argparse.RawDescriptionHelpFormatter
    p = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    p.add_argument("--jobs", type=int, nargs="+", default=sizes, help="sizes of synthetic loads")
    p.add_argument("--load", type=Path, help="an SWF file instead")
    p.add_argument("--repeat", type=int, default=1, help="runs of each, the best counts (1)")
    p.add_argument("--command", type=Path, default=command, help="the fedsim command")
    p.add_argument("--floor", type=Path, default=floor, help="the floor's command")
    p.add_argument("--out", type=Path, help="write the rows as JSON")
    a = p.parse_args()
    for program in (a.command, a.floor):
        if not program.exists():
            p.error(f"{program} is missing: cmake --build --preset release")
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        loads = [a.load] if a.load else []
        for jobs in [] if a.load else a.jobs:
            loads.append(Path(folder) / f"load-{jobs}.swf")
            make_load(a.command, jobs, loads[-1])
        for load in loads:
            rows += (new := compare(a.command, a.floor, load, a.repeat))
            show(new)
    if a.out:
        a.out.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
