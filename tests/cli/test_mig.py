"""fedsim mig: answers, exit codes, and what is said of unknown GPUs and profiles."""
import json

import pytest


def test_profiles(fedsim):
    done = fedsim("mig", "profiles", "--gpu", "a100-80", "--format", "json")
    names = [row["profile"] for row in json.loads(done.stdout)["profiles"]]
    assert names == ["1g.10gb", "1g.10gb+me", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"]
    assert "3g.20gb" in fedsim("mig", "profiles").stdout


def test_fits(fedsim):
    done = fedsim("mig", "fits", "3g", "2g", "1g:2")
    assert done.returncode == 0
    assert done.stdout == "fits: 2g.10gb at 0-1, 1g.5gb at 2, 1g.5gb at 3, 3g.20gb at 4-7\n"
    done = fedsim("mig", "fits", "2x3g", "1g")
    assert done.returncode == 3
    assert done.stdout == "does not fit: memory: 9 slices asked for, a GPU has 8\n"


def test_plan(fedsim):
    done = fedsim("mig", "plan", "--demand", "3g:3", "--format", "json")
    plan = json.loads(done.stdout)
    assert plan["gpus"] == plan["at_least"] == 2
    assert sum(len(layout) for layout in plan["layouts"]) == 3


@pytest.mark.parametrize("argv, message", [
    (["fits", "--gpu", "v100", "1g"], '"v100" is no GPU with MIG, or not one alone'),
    (["fits", "5g"], 'A100-40GB has no profile "5g"'),
    (["plan", "--demand", "3g:many"], '"3g:many": can\'t read the count'),
])
def test_mistakes(fedsim, argv, message):
    done = fedsim("mig", *argv)
    assert done.returncode == 2
    assert f"error C143: {message}" in done.stderr
    assert done.stdout == ""
