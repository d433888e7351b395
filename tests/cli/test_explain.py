"""fedsim explain: the story of one job."""
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
REQUEUE = ROOT / "traces" / "requeue"


def test_story_of_a_requeued_job(fedsim):
    done = fedsim("explain", REQUEUE, "--job", "J1")
    assert done.returncode == 0, done.stderr
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines[0].startswith("job 67108866 (J1)")
    words = [line.split(" ", 1)[1] for line in lines[1:lines.index("records:")]]
    # In the order in which a federation does it; which sibling wins the race is the seed's.
    order = ["alpha takes the submission", "alpha sends a copy to beta", "starts it",
             "revokes its record", "alpha queues it again", "starts it", "it ends"]
    at = 0
    for word in words:
        at += at < len(order) and order[at] in word
    assert at == len(order), done.stdout
    records = lines[lines.index("records:") + 1:lines.index("allocations:")]
    assert sum("REQUEUED" in r for r in records) == 1
    assert sum("COMPLETED" in r for r in records) == 1
    assert len(lines) - lines.index("allocations:") - 1 == 2  # two executions, one at a time


def test_unknown_job_is_named(fedsim):
    done = fedsim("explain", REQUEUE, "--job", "J1", "--job", "nobody")
    assert done.returncode == 2
    assert "C138" in done.stderr and "nobody" in done.stderr
    assert done.stdout == ""


def test_populations_at_an_instant(fedsim):
    done = fedsim("explain", REQUEUE, "--at", "30", "--at", "10000")
    assert done.returncode == 0, done.stderr
    early, late = done.stdout.split("\n\n")
    assert "job ids      3 submitted and not over" in early
    assert "allocations  2" in early and "GPUs         16 held, of 24 in the fleet" in early
    assert "processes    2 in 2 groups, the largest of 1" in early
    assert "job ids      0 submitted and not over" in late and "allocations  0" in late
    assert "GPUs         0 held" in late


def test_nothing_to_explain(fedsim):
    done = fedsim("explain", REQUEUE)
    assert done.returncode == 2
    assert "C133" in done.stderr and "--job" in done.stderr
    assert "C134" in fedsim("explain", REQUEUE, "--at", "soon").stderr
