#!/usr/bin/env python3
"""`fedsim verify --driven` on every recording in traces/: the share of records equal to what real
Slurm did, passes and submissions at their recorded instants. Without them one recording is one draw
of many (which cluster's pass comes first) and its score says little.

minimum.json holds the least share per recording; it is raised when the simulator gets better and
lowered only with a note in docs/changes/ that says why the lower figure is truer.
"""
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MINIMUM = json.loads((ROOT / "tests/golden/minimum.json").read_text())["traces"]


def main():
    recordings = sorted(p.parent for p in (ROOT / "traces").glob("*/scenario.json"))
    if not recordings:
        print("traces/ has no recording")
        return 1
    bad = []
    for folder in recordings:
        least = MINIMUM.get(folder.name, MINIMUM["*"])
        done = subprocess.run([os.environ["FEDSIM_COMMAND"], "verify", "--driven", folder, "--min",
                               str(least)], capture_output=True, text=True, timeout=300)
        print(f"{folder.name}: at least {least}, exit {done.returncode}")
        print(done.stdout + done.stderr)
        if done.returncode != 0:
            bad.append(folder.name)
    unknown = sorted(set(MINIMUM) - {f.name for f in recordings} - {"*"})
    if unknown:
        print("minimum.json names recordings that are not there:", *unknown)
    return 1 if bad or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
