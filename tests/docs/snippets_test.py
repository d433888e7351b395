#!/usr/bin/env python3
"""Fenced blocks of README.md and docs/ run: `python` as a program, `sh` with the command on PATH.

Blocks of one page run in order, in one folder that has copies of traces/ and docs/examples/;
python blocks of a page share their names. Not run are blocks marked `text`, `console`, `cpp` or
`toml`, and lines that install or build (git, scripts/, cmake, pip).
Skips the python blocks where the module is not built, unless FEDSIM_REQUIRE_PYTHON is set.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOT_RUN = re.compile(r"^\s*(git|scripts/|\.ci/|cmake|ctest|pip|apt|cd |sudo)")


def blocks(page):
    """(line, language, text) of every fenced block."""
    out, start, language, body = [], 0, "", []
    for i, line in enumerate(page.read_text().splitlines(), 1):
        m = re.match(r"```(\w*)", line)
        if m and not start:
            start, language, body = i, m[1], []
        elif m:
            out.append((start, language, "\n".join(body) + "\n"))
            start = 0
        elif start:
            body.append(line)
    return out


def module_there():
    done = subprocess.run([sys.executable, "-c", "import fedsim"], capture_output=True, text=True)
    return done.returncode == 0


def run_page(page, python, environment):
    """Number of blocks that ran, and that failed."""
    ran = failed = 0
    with tempfile.TemporaryDirectory() as tmp:
        for folder in ("traces", "docs/examples"):
            shutil.copytree(ROOT / folder, pathlib.Path(tmp) / folder)
        program = []
        for line, language, text in blocks(page):
            if language == "python" and python:
                program.append(text)
                argv = [sys.executable, "-W", "error", "-c", "\n".join(program)]
            elif language == "sh":
                kept = [l for l in text.splitlines() if not NOT_RUN.match(l)]
                if not any(l.strip() and not l.strip().startswith("#") for l in kept):
                    continue
                argv = ["bash", "-euo", "pipefail", "-c", "\n".join(kept)]
            else:
                continue
            done = subprocess.run(argv, cwd=tmp, env=environment, capture_output=True, text=True,
                                  timeout=300)
            ran += 1
            if done.returncode != 0:
                failed += 1
                print(f"{page.relative_to(ROOT)}:{line}: exit {done.returncode}\n{text}"
                      f"{done.stdout[-1000:]}{done.stderr[-3000:]}")
    return ran, failed


def main():
    command = pathlib.Path(os.environ["FEDSIM_COMMAND"])
    python = module_there()
    if not python and os.environ.get("FEDSIM_REQUIRE_PYTHON"):
        print("the module fedsim can't be imported and FEDSIM_REQUIRE_PYTHON is set")
        return 1
    environment = {**os.environ, "PATH": f"{command.parent}:{os.environ['PATH']}", "CI": "1"}
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    total = bad = 0
    for page in pages:
        ran, failed = run_page(page, python, environment)
        total, bad = total + ran, bad + failed
    skipped = "" if python else "; python blocks skipped: no module"
    print(f"{total} blocks ran, {bad} failed{skipped}")
    return 1 if bad or not total else 0


if __name__ == "__main__":
    sys.exit(main())
