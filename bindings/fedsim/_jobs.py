"""Jobs written in Python: sbatch's words as keyword arguments."""

import difflib
import math
from collections.abc import Iterable
from typing import Any

from ._core import Trace, _duration_s

# Options that sbatch has, by its long name with underscores; the value is the kind of argument.
_SBATCH = {
    "account", "cluster_constraint", "clusters", "constraint", "cpus_per_gpu", "cpus_per_task",
    "exclude", "gpus", "gpus_per_node", "gpus_per_socket", "gpus_per_task", "gres", "mem",
    "mem_per_cpu", "mem_per_gpu", "nice", "nodelist", "nodes", "ntasks", "ntasks_per_gpu",
    "ntasks_per_node", "partition", "qos", "sockets_per_node",
}  # fmt: skip
_FLAGS = {"contiguous", "exclusive", "hold", "no_requeue", "overcommit", "use_min_nodes"}
_EXTRAS = {"at", "cancel", "outcome", "run", "sbatch", "submit", "time", "user"}


def _limit(value: Any) -> str:
    """Slurm's D-HH:MM:SS of a length of time; a bare number could be seconds or minutes."""
    if isinstance(value, (int, float)) or (isinstance(value, str) and value.isdigit()):
        raise ValueError(
            f"Job(time): {value!r} could be seconds or minutes; write '{value}m' or '{value}s'"
        )
    seconds = math.ceil(_duration_s(value, "Job(time)"))
    if seconds <= 0:
        raise ValueError(f"Job(time): {value!r} is not longer than 0")
    days, rest = divmod(seconds, 86400)
    return f"{days}-{rest // 3600:02}:{rest % 3600 // 60:02}:{rest % 60:02}"


class Job:
    """One job: a name and sbatch's options as keywords, as ``gpus=6``, ``ntasks=6``, ``mem='8G'``.

    Besides those of sbatch: `at`, the cluster where it is submitted (default: the first); `submit`,
    when, from the start ('10m', timedelta, seconds; default 0); `run`, how long the script takes
    (default: exactly `time`); `cancel`, when its user withdraws it; `user`; `outcome` ('completed',
    'failed', 'cancelled', 'node_fail', 'out_of_memory', 'timeout'); `sbatch`, further words as a
    list. `time` is the limit ('2h', '30m', '1-00:00:00', timedelta). A Job without `time` and `run`
    runs 0 s.

    Raises TypeError naming an unknown option; values are checked when a Scenario or Trace is made.

    >>> Job("J1", gpus=6, time="2h", at="a")
    Job('J1', gpus=6, time='2h', at='a')
    """

    __slots__ = ("name", "options")
    name: str
    options: dict[str, Any]

    def __init__(self, name: str, **options: Any) -> None:
        known = _SBATCH | _FLAGS | _EXTRAS
        for option in options:
            if option not in known:
                close = difflib.get_close_matches(option, sorted(known), 1)
                hint = f"; did you mean {close[0]!r}?" if close else ""
                raise TypeError(f"Job() got an unexpected option {option!r}{hint}")
        if "time" in options:
            _limit(options["time"])
        self.name = name
        self.options = options

    def request(self) -> dict[str, Any]:
        """What sbatch is told (`argv`) and what it is not; fedsim's own form."""
        argv = ["--job-name=" + self.name]
        for option, value in self.options.items():
            word = "--" + option.replace("_", "-")
            if option in _FLAGS:
                argv += [word] if value else []
            elif option in _SBATCH:
                text = value if isinstance(value, (str, int)) else ",".join(map(str, value))
                argv.append(f"{word}={text}")
        out: dict[str, Any] = {"label": self.name}
        for extra in ("at", "cancel", "outcome", "run", "submit", "user"):
            if self.options.get(extra) is not None:
                out[extra] = self.options[extra]
        if "time" in self.options:
            argv.append("--time=" + _limit(self.options["time"]))
            if "run" not in out:
                # It ends by itself at its limit, launch and clean-up included.
                out["run"], out["run_is_elapsed"] = self.options["time"], True
        out["argv"] = argv + list(self.options.get("sbatch", ()))
        return out

    def __repr__(self) -> str:
        options = "".join(f", {key}={value!r}" for key, value in self.options.items())
        return f"Job({self.name!r}{options})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Job):
            return NotImplemented
        return self.name == other.name and self.options == other.options

    __hash__ = None  # type: ignore[assignment]


def trace_from_jobs(jobs: Iterable[Job]) -> Trace:
    """A Trace of `jobs`; what Trace.from_jobs() calls."""
    requests = []
    for job in jobs:
        if not isinstance(job, Job):
            raise TypeError(f"expected a Job, not a {type(job).__name__}: {job!r}")
        requests.append(job.request())
    return Trace._from_requests(requests)


