#!/usr/bin/env python3
"""The reference data's own checks, with the least scores of minimum.json; skipped without it.

The data is found through FEDSIM_SHARED, or as a folder ../shared beside the repository.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77


def score(argv, pattern):
    done = subprocess.run([sys.executable, *map(str, argv)], capture_output=True, text=True)
    sys.stdout.write(done.stdout[-20000:] + done.stderr[-5000:])
    found = re.findall(pattern, done.stdout)
    if not found:
        print("the check printed no score")
        return 0.0
    return float(found[-1]) / 100


def main():
    check = sys.argv[1]
    data = pathlib.Path(os.environ.get("FEDSIM_SHARED") or ROOT.parent / "shared")
    if not (data / "checks" / "compare_golden.py").exists():
        print("skipped: no reference data (FEDSIM_SHARED is not set, ../shared is not there)")
        return SKIPPED
    fedsim = ["--fedsim", os.environ["FEDSIM_COMMAND"]]
    least = json.loads((ROOT / "tests/golden/minimum.json").read_text())["reference"][check]
    golden = sorted(p.parent for p in (data / "slurm-golden").glob("*/scenario.json"))
    if check == "configurations":
        got = score([data / "checks/check_conf.py", *fedsim, "--golden", data / "slurm-golden-conf",
                     data / "data/slurm-conf", data / "data/slurm-conf/cases"], r"([\d.]+) ?%")
    elif check in ("requests", "placements"):
        files = sorted((data / "slurm-golden-requests").glob("*.jsonl"))
        bulk = [f for f in files if f.stem.split("-")[0] in ("requests", "modes")]
        placed = [f for f in files if f not in bulk]
        got = score([data / "checks/check_requests.py", *fedsim,
                     *(bulk if check == "requests" else placed)],
                    r"verdicts right .*?\(([\d.]+)%\), placements" if check == "requests" else
                    r"placements right .*?\(([\d.]+)%\)")
    else:
        driven = ["--driven"] if check == "driven" else []
        got = score([data / "checks/compare_golden.py", *fedsim, *driven, *golden],
                    r"mean score: ([\d.]+)%")
    print(f"{check}: {got:.1%}, at least {least:.1%}")
    return 0 if got >= least else 1


if __name__ == "__main__":
    sys.exit(main())
