"""--help of every command, --version, and what wrong usage gets."""
import re
import subprocess

import pytest

from conftest import COMMAND, no_crash

CONTRACT = ["run", "verify", "check", "params", "trace", "plan", "report"]


def subcommands(*path):
    """Names under "Subcommands:" of a help text, and theirs, as tuples."""
    argv = [COMMAND, *path, "--help"]
    text = subprocess.run(argv, capture_output=True, text=True, timeout=20).stdout
    part = re.search(r"^(?:Sub)?commands:\n((?: +\S.*\n?)+)", text, flags=re.M | re.I)
    names = re.findall(r"^  ([a-z][\w-]*)(?= |$)", part[1], flags=re.M) if part else []
    out = []
    for name in names:
        out += [(*path, name), *subcommands(*path, name)]
    return out


COMMANDS = [(), *subcommands()] if COMMAND.exists() else [()]


def test_the_list_is_not_empty():
    names = {path[0] for path in COMMANDS if path}
    missing = [c for c in CONTRACT if c not in names]
    assert not missing, f"--help does not list {missing}"


@pytest.mark.parametrize("path", COMMANDS, ids=lambda p: " ".join(p) or "fedsim")
def test_help(fedsim, path):
    done = fedsim(*path, "--help")
    assert done.returncode == 0
    assert done.stderr == ""
    assert "Usage:" in done.stdout and "--help" in done.stdout
    first = done.stdout.splitlines()[0].strip()
    assert first, "the first line says what the command does"


@pytest.mark.parametrize("path", COMMANDS, ids=lambda p: " ".join(p) or "fedsim")
def test_every_option_is_described(fedsim, path):
    text = fedsim(*path, "--help").stdout.split("Options:", 1)[-1]
    bare = [l for l in text.splitlines()
            if re.match(r"^  -\S+( TEXT| INT| FLOAT| UINT)?$", l.rstrip())]
    # CLI11 puts a long option's description on the next line
    lines = text.splitlines()
    bare = [l for l in bare if not re.match(r"^ {20,}\S", (lines + [""])[lines.index(l) + 1])]
    assert not bare


@pytest.mark.parametrize("path", COMMANDS, ids=lambda p: " ".join(p) or "fedsim")
def test_unknown_option(fedsim, path):
    done = fedsim(*path, "--no-such-option")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.strip()


def test_version(fedsim):
    done = fedsim("--version")
    assert done.returncode == 0
    assert re.fullmatch(r"fedsim \d+\.\d+\.\d+\n", done.stdout)


@pytest.mark.parametrize("argv", [[], ["no-such-command"], ["run", "--fidelity", "perfect"]])
def test_wrong_usage(fedsim, argv):
    done = fedsim(*argv)
    no_crash(done)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.strip()


def test_the_message_names_the_accepted_words(fedsim, tmp_path):
    trace = tmp_path / "t.swf"
    trace.write_text("")
    done = fedsim("run", "--machine", "1x1", "--trace", trace, "--fidelity", "perfect")
    assert done.returncode == 2
    assert "slurm" in done.stderr and "ideal" in done.stderr
