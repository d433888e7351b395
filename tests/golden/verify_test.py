#!/usr/bin/env python3
"""`fedsim verify` gives the scores of the reference check, per scenario and in total.

Both run over a dozen recorded folders of three releases, driven and not; every printed digit is the
same. The data is found through FEDSIM_SHARED, or as a folder ../shared beside the repository;
skipped without it.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FEDSIM = os.environ["FEDSIM_COMMAND"]
SKIPPED = 77
FOLDERS = ("01c-*", "03b-*", "04-limits-all*", "05b-*", "06a-*", "08-*", "11b-*", "24.11/01a-*",
           "24.11/07-*", "24.11/09a-*", "26.05/02a-*fed", "26.05/06b-*")


def check(script, folders, driven):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run([sys.executable, script, "--fedsim", FEDSIM, "--json", out.name, *driven,
                        *folders], check=True, stdout=subprocess.DEVNULL, timeout=600)
        return json.load(out)


def verify(folders, driven):
    done = subprocess.run([FEDSIM, "verify", "--format", "json", *driven, *folders], check=True,
                          capture_output=True, text=True, timeout=600)
    return json.loads(done.stdout)


def main():
    data = pathlib.Path(os.environ.get("FEDSIM_SHARED") or ROOT.parent / "shared")
    if not (data / "checks" / "compare_golden.py").exists():
        print("skipped: no reference data (FEDSIM_SHARED is not set, ../shared is not there)")
        return SKIPPED
    folders = [next((data / "slurm-golden").glob(pattern)) for pattern in FOLDERS]
    wrong = 0
    for driven in ([], ["--driven"]):
        # The same scenario name stands in several releases: one release at a time.
        for release in ("", "24.11", "26.05"):
            mine = [f for f in folders if f.parent.name == (release or "slurm-golden")]
            theirs = check(data / "checks" / "compare_golden.py", mine, driven)
            ours = verify(mine, driven)
            for row in ours["scenarios"]:
                want = theirs[row["scenario"]]
                got = [f"{row[k]:.4f}" for k in ("score", "all", "self")]
                expected = [f"{want[k]:.4f}" for k in ("score", "all", "self")]
                wrong += got != expected
                print(release or "22.05", " ".join(driven), row["scenario"], *got,
                      "same" if got == expected else f"not {expected}")
            same = f"{ours['mean_score']:.6f}" == f"{theirs['mean_score']:.6f}"
            wrong += not same
            print("mean", ours["mean_score"], "same" if same else f"not {theirs['mean_score']}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
