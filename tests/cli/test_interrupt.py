"""Ctrl-C in a long run: it stops soon, says so, and leaves nothing half-written."""
import os
import signal
import subprocess
import time

import pytest

from conftest import COMMAND, leftovers, swf


@pytest.fixture
def long_run(tmp_path):
    # Far more work than the machine can do, so that the queue grows and every decision is slow.
    path = tmp_path / "long.swf"
    path.write_text(swf([(i, 5000, 1 + i * 7 % 60, 9000) for i in range(150_000)]))
    return [COMMAND, "run", "--machine", "64x1", "--trace", path, "--fidelity", "ideal",
            "--policy", "conservative", "-o", tmp_path / "out"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stops_and_leaves_nothing(long_run, tmp_path, number):
    before = leftovers(tmp_path)
    child = subprocess.Popen(long_run, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, env={**os.environ, "CI": "1"})
    time.sleep(4)
    if child.poll() is not None:
        pytest.skip("the run was over before it could be interrupted")
    asked = time.monotonic()
    child.send_signal(number)
    stdout, stderr = child.communicate(timeout=30)
    assert time.monotonic() - asked < 10
    assert child.returncode == 130, (child.returncode, stderr)
    assert stdout == ""
    assert "interrupted" in stderr.lower() or "stopped" in stderr.lower()
    assert leftovers(tmp_path) == before


def test_an_older_result_survives(long_run, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "jobs.csv").write_text("an older result\n")
    child = subprocess.Popen(long_run, cwd=tmp_path, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    time.sleep(3)
    if child.poll() is not None:
        pytest.skip("the run was over before it could be interrupted")
    child.send_signal(signal.SIGINT)
    child.wait(timeout=30)
    assert (tmp_path / "out" / "jobs.csv").read_text() == "an older result\n"
    assert leftovers(tmp_path / "out") == ["jobs.csv"]
