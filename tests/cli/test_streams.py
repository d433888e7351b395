"""stdout carries data, stderr carries talk; CI, NO_COLOR and --quiet are honoured."""
import json

import pytest

from conftest import swf


@pytest.fixture
def argv(tmp_path):
    path = tmp_path / "t.swf"
    path.write_text(swf([(i * 10, 100, 1 + i % 4, 200) for i in range(200)]))
    return ["run", "--machine", "4x1", "--trace", path, "--fidelity", "ideal"]


def test_json_on_stdout(fedsim, argv):
    done = fedsim(*argv, "--format", "json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["jobs"] == 200


def test_quiet(fedsim, argv):
    done = fedsim(*argv, "--quiet")
    assert done.returncode == 0
    assert done.stderr == ""


@pytest.mark.parametrize("env", [{}, {"CI": "1"}, {"NO_COLOR": "1"}])
def test_no_progress_and_no_colour_off_a_terminal(fedsim, argv, env):
    done = fedsim(*argv, env=env)
    assert "\x1b" not in done.stdout + done.stderr
    assert "\r" not in done.stderr


def test_params_table(fedsim):
    done = fedsim("params", "--format", "json")
    assert done.returncode == 0
    got = json.loads(done.stdout)
    keys = {row["key"] for row in got}
    assert {"SelectType", "SchedulerParameters", "PriorityType", "NodeName"} & keys
    assert {row["coverage"] for row in got} <= {"modelled", "simplified", "ignored"}
    assert fedsim("params", "--format", "csv").stdout.count("\n") == len(got) + 1
