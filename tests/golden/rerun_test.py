#!/usr/bin/env python3
"""Same inputs, same seed, same command: same fingerprint.

Runs every recording in traces/ twice. fingerprints.sh compares builds.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def fingerprint(*argv):
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([os.environ["FEDSIM_COMMAND"], "run", *map(str, argv), "--quiet", "-o", out],
                       check=True, stdout=subprocess.DEVNULL, timeout=600)
        summary = json.loads((pathlib.Path(out) / "summary.json").read_text())
    return summary["fingerprint"], summary["events"]


def main():
    bad = 0
    for folder in sorted(p.parent for p in (ROOT / "traces").glob("*/scenario.json")):
        first, second = fingerprint(folder), fingerprint(folder)
        print(folder.name, *first, "same" if first == second else f"then {second}")
        bad += first != second
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
