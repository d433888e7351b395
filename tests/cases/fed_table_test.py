#!/usr/bin/env python3
"""FED-01 to FED-41 of the conformance list: a case that passes, or a row in fidelity.md.

fed_table_test.py CASE_RUNNER: runs every case of federation/, prints the table, and fails when a
number has neither.
"""
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NUMBERS = range(1, 42)


def main():
    runner = sys.argv[1]
    cases = collections.defaultdict(list)
    for path in sorted((ROOT / "tests/cases/federation").glob("FED-*.case")):
        done = subprocess.run([runner, path], capture_output=True, text=True, timeout=60)
        cases[int(path.name[4:6])].append((path.stem[7:], done.returncode == 0))
    rows = collections.defaultdict(list)
    for line in (ROOT / "docs/reference/fidelity.md").read_text().splitlines():
        if line.startswith("| "):
            for first, last in re.findall(r"FED-(\d\d)(?: to FED-(\d\d))?", line):
                for number in range(int(first), int(last or first) + 1):
                    rows[number].append(line.split("|")[1].strip())
    bad = []
    for number in NUMBERS:
        shown = [f"{name}{'' if good else ' FAILS'}" for name, good in cases[number]]
        if not cases[number]:
            shown = [f"fidelity.md: {row}" for row in rows[number]]
        print(f"FED-{number:02}  {'; '.join(shown) or 'neither a case nor a row'}")
        if not shown or not all(good for _, good in cases[number]):
            bad.append(f"FED-{number:02}")
    print(f"{len(NUMBERS) - len(bad)} of {len(NUMBERS)}: {sum(map(len, cases.values()))} cases")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
