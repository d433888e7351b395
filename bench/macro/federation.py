#!/usr/bin/env python3
"""The largest federation Slurm knows: 63 clusters of 100 nodes with 8 GPUs, 100,000 jobs.

    python3 bench/macro/federation.py                     the whole of it
    python3 bench/macro/federation.py --clusters 3 --jobs 10000

Every job gets a copy on every cluster; origins are drawn evenly. Prints what the run took: events a
CPU second, CPU seconds, peak bytes a queue record. Offered load is --load of all GPUs.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from macro import BUILD, measure

NODES = 100
GPUS = 8
SLURM_CONF = f"""ClusterName={{name}}
SlurmctldHost=localhost
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
NodeName=n[001-{NODES}] CPUs=64 Sockets=2 CoresPerSocket=32 RealMemory=512000 Gres=gpu:a100:{GPUS}
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
GRES_CONF = f"Name=gpu Type=a100 File=/dev/nvidia[0-{GPUS - 1}]\n"
# GPU-seconds of a job of the generator with these options, mean over 100,000 jobs.
WORK = 20_900


def write_clusters(top: Path, names: list[str]) -> None:
    for name in names:
        folder = top / name
        folder.mkdir()
        (folder / "slurm.conf").write_text(SLURM_CONF.format(name=name))
        (folder / "gres.conf").write_text(GRES_CONF)


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--clusters", type=int, default=63)
    p.add_argument("--jobs", type=int, default=100_000)
    p.add_argument("--load", type=float, default=0.9)
    p.add_argument("--build", type=Path, default=BUILD)
    a = p.parse_args()
    command = a.build / "apps" / "fedsim"
    names = [f"c{i:02}" for i in range(1, a.clusters + 1)]
    gap_s = WORK / (a.clusters * NODES * GPUS * a.load)
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        write_clusters(top, names)
        load = top / "load.psv"
        measure([str(command), "trace", "synth", "-n", str(a.jobs), "--clusters", ",".join(names),
                 "--gpu-type", "a100", "--max-units", "32", "--mean-interarrival-s", repr(gap_s),
                 "--seed", "1", "-o", str(load)])
        clusters = [word for n in names for word in ("--cluster", f"{n}={top / n}")]
        cost = measure([str(command), "run", *clusters, "--trace", str(load), "--format", "json",
                        "--quiet"])
    summary = json.loads(cost.output)
    records = sum(summary["records"].values())
    print(f"{a.clusters} clusters x {NODES} nodes x {GPUS} GPUs, {summary['jobs']} jobs, "
          f"{records} records, {summary['allocations']} allocations")
    print(f"{summary['events']} events in {cost.cpu_s:.2f} CPU s, "
          f"{summary['events'] / cost.cpu_s / 1e6:.2f} M events/s, "
          f"{cost.peak_bytes / records:.0f} bytes a record at the peak, "
          f"fingerprint {summary['fingerprint']}")


if __name__ == "__main__":
    main()
