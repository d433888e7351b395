#!/usr/bin/env python3
"""Races between idle clusters: who wins, over many seeds, beside what real Slurm's runs show.

races_test.py [SEEDS]: runs the recorded scenarios 01c (fourteen jobs, three idle clusters) and 03a
(two jobs at once, two idle clusters) of each release with that many seeds. Every job must start
exactly once in each run. A cluster's share of wins must lie within the recorded runs' spread, or
within three standard errors of all runs together: the runs are few and each is a draw, too.
The data is found through FEDSIM_SHARED, or as a folder ../shared beside the repository; skipped
without it.
"""
import collections
import concurrent.futures
import csv
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FEDSIM = os.environ["FEDSIM_COMMAND"]
SKIPPED = 77
SCENARIOS = ("01c-idle-which-cluster", "03a-two-jobs-2")
RAN = ("COMPLETED", "TIMEOUT", "FAILED", "RUNNING")


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def winners(records, nodes):
    """Label -> clusters whose record of the job ran."""
    ran = collections.defaultdict(list)
    for record in records:
        if record["state"] in RAN and record[nodes]:
            ran[record["label"]].append(record["cluster"])
    return ran


def bare_copy(scenario, run, folder):
    """The scenario without its outcome, elapsed times of the jobs that ran once as inputs."""
    shutil.copytree(scenario / "clusters", folder / "clusters")
    shutil.copy(scenario / "setup.jsonl", folder / "setup.jsonl")
    (folder / "run1").mkdir()
    meta = json.loads((run / "meta.json").read_text())
    kept = {k: meta[k] for k in ("t0_epoch", "slurmctld_start", "version") if k in meta}
    (folder / "run1/meta.json").write_text(json.dumps(kept))
    text = json.loads((scenario / "scenario.json").read_text())
    ran = collections.defaultdict(list)
    for record in rows(run / "expected.csv"):
        if record["nodes"] and record["start"] and record["end"]:
            ran[record["label"]].append(float(record["end"]) - float(record["start"]))
    for event in text["events"]:
        if event["op"] == "submit" and len(ran[event.get("label")]) == 1:
            event["run"], event["elapsed"] = ran[event["label"]][0], True
    (folder / "scenario.json").write_text(json.dumps(text))


def simulate(folder, seed):
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([FEDSIM, "run", folder, "--seed", str(seed), "-o", out, "--quiet"],
                       check=True, stdout=subprocess.DEVNULL, timeout=120)
        return winners(rows(pathlib.Path(out) / "records.csv"), "nodes")


def share(counts, clusters):
    total = sum(counts.values())
    return {c: counts[c] / total for c in clusters}


def check(scenario, seeds):
    """Prints one line per cluster; gives what is wrong."""
    runs = sorted(r for r in scenario.glob("run*") if (r / "expected.csv").exists())
    recorded = [collections.Counter(c for won in winners(rows(r / "expected.csv"), "nodes").values()
                                    for c in won) for r in runs]
    everything = sum(recorded, collections.Counter())
    clusters = sorted(c.name for c in (scenario / "clusters").iterdir())
    wrong, wins = [], collections.Counter()
    with tempfile.TemporaryDirectory() as top:
        folders = []
        for run in runs:
            folder = pathlib.Path(top) / run.name / scenario.name
            folder.mkdir(parents=True)
            bare_copy(scenario, run, folder)
            folders.append(folder)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            outcomes = pool.map(simulate, [folders[s % len(folders)] for s in range(seeds)],
                                range(1, seeds + 1))
            for seed, outcome in enumerate(outcomes, 1):
                twice = {label: won for label, won in outcome.items() if len(won) != 1}
                if twice:
                    wrong.append(f"{scenario.name}: seed {seed}: {twice}")
                wins.update(won[0] for won in outcome.values())
    simulated, all_runs = share(wins, clusters), share(everything, clusters)
    for c in clusters:
        shares = [share(r, clusters)[c] for r in recorded]
        error = math.sqrt(all_runs[c] * (1 - all_runs[c]) / sum(everything.values()))
        inside = min(shares) <= simulated[c] <= max(shares)
        near = abs(simulated[c] - all_runs[c]) <= 3 * error
        print(f"{scenario.parent.name:14} {scenario.name:24} {c:6} simulated {simulated[c]:6.1%} "
              f"of {wins.total()}, recorded {all_runs[c]:6.1%} of {everything.total()} "
              f"({', '.join(f'{s:.0%}' for s in shares)}): "
              f"{'within the runs' if inside else 'within 3 errors' if near else 'outside'}",
              flush=True)
        if not inside and not near:
            wrong.append(f"{scenario}: {c}")
    return wrong


def main():
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    data = pathlib.Path(os.environ.get("FEDSIM_SHARED") or ROOT.parent / "shared") / "slurm-golden"
    if not data.exists():
        print("skipped: no reference data (FEDSIM_SHARED is not set, ../shared is not there)")
        return SKIPPED
    wrong = []
    for release in (data, data / "24.11", data / "26.05"):
        for name in SCENARIOS:
            if (release / name).exists():
                wrong += check(release / name, seeds)
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
