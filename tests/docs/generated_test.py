#!/usr/bin/env python3
"""Pages that restate what the command prints are fresh.

    generated_test.py            exit 1 when a page differs from what would be generated
    generated_test.py --update   writes them (FEDSIM_COMMAND, or the release build)

cli.md holds every --help, slurm-conf.md what `fedsim params` knows, timeline.svg the picture of
the founding example; pages with a block between `<!-- generated: ARGS -->` and
`<!-- generated: end -->` hold the output of `fedsim ARGS`.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("FEDSIM_COMMAND", str(ROOT / "build/release/apps/fedsim"))
CLI = ROOT / "docs/reference/cli.md"
PARAMS = ROOT / "docs/reference/slurm-conf.md"
PICTURE = ROOT / "docs/images/timeline.svg"
BLOCK = re.compile(r"(<!-- generated: (?!end)(.+?) -->\n).*?(<!-- generated: end -->)", re.S)
CLI_HEAD = """# Command line

One command with subcommands. stdout carries data, stderr carries talk.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | internal error: a fault of fedsim; please report it |
| 2 | bad input or usage; every finding is on stderr with file and line ([errors](errors.md)) |
| 3 | infeasible: no destination can run it |
| 4 | unresolved prerequisites, with `--strict` |
| 5 | a comparison or verification failed |
| 130 | interrupted by Ctrl-C; nothing is half-written |

`-` as a file is stdin. `NO_COLOR` and `CI` are honoured; progress shows on a terminal only.
The texts below are what `--help` prints; `tests/docs/generated_test.py --update` writes them.
"""


def fedsim(*argv):
    done = subprocess.run([COMMAND, *argv], capture_output=True, text=True, cwd=ROOT, check=True)
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()) + "\n"


def subcommands(text):
    part = re.search(r"^(?:Sub)?commands:\n((?: +\S.*\n?)+)", text, flags=re.M | re.I)
    return re.findall(r"^  ([a-z][\w-]*)(?= |$)", part[1], flags=re.M) if part else []


def cli_page():
    out = [CLI_HEAD]

    def add(path):
        text = fedsim(*path, "--help").strip()
        level = "##" if len(path) < 2 else "###"
        out.append(f"{level} {' '.join(['fedsim', *path])}\n\n```text\n{text}\n```\n")
        for name in subcommands(text):
            add([*path, name])

    add([])
    return "\n".join(out)


def picture():
    with tempfile.TemporaryDirectory() as tmp:
        file = pathlib.Path(tmp) / "timeline.svg"
        fedsim("run", "docs/examples/founding", "--timeline", str(file), "--quiet")
        return file.read_text()


def wanted(path):
    if path == CLI:
        return cli_page()
    if path == PARAMS:
        return fedsim("params", "--format", "markdown")
    if path == PICTURE:
        return picture()
    return BLOCK.sub(lambda m: m[1] + fedsim(*m[2].split()) + m[3], path.read_text())


def main():
    update = "--update" in sys.argv[1:]
    stale = 0
    blocks = [p for p in sorted((ROOT / "docs").rglob("*.md")) if BLOCK.search(p.read_text())]
    pages = [CLI, PARAMS, PICTURE, *blocks]
    for path in pages:
        text = wanted(path)
        if path.exists() and text == path.read_text():
            continue
        if update:
            path.write_text(text)
            print("wrote", path.relative_to(ROOT))
        else:
            stale += 1
            print(f"{path.relative_to(ROOT)} is stale; run tests/docs/generated_test.py --update")
    print(f"{len(pages)} generated pages, {stale} stale")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
