"""run() and sweep(): progress on a terminal, variants in any executor."""

import itertools
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any, NamedTuple

from ._core import ClusterSpec, FederationSpec, RecordedScenario, Result, Scenario, Trace, _run
from ._jobs import Job

Source = FederationSpec | ClusterSpec | RecordedScenario | Scenario
ProgressCallback = Callable[[dict[str, Any]], object]


class Variant(NamedTuple):
    """One run of a sweep: what was changed, and its Result."""

    changes: dict[str, Any]
    result: Result


class _Bar:
    """Progress on a terminal: tqdm where it is installed, else one line that is rewritten."""

    def __init__(self) -> None:
        self._tqdm: Any = None
        self._drawn = False
        try:
            from tqdm.auto import tqdm  # type: ignore[import-untyped,unused-ignore]
        except ImportError:
            return
        self._tqdm = tqdm(total=1.0, unit="trace", bar_format="{l_bar}{bar}| {postfix}")

    def __call__(self, p: dict[str, Any]) -> None:
        done = min(1.0, p["now_s"] / p["last_s"]) if p["last_s"] > 0 else 0.0
        text = f"{p['now_s'] / 86400:.1f} d, {p['jobs_done']}/{p['jobs']} jobs, queue {p['queued']}"
        if self._tqdm is not None:
            self._tqdm.n = done
            self._tqdm.set_postfix_str(text)
        else:
            self._drawn = True
            print(f"\rreplay {done:4.0%}  {text}\x1b[K", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._tqdm is not None:
            self._tqdm.close()
        elif self._drawn:
            print(file=sys.stderr)


def _terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty() and not os.environ.get("CI")


def run(
    source: Source,
    trace: Trace | Sequence[Job] | None = None,
    *,
    progress: bool | ProgressCallback | None = None,
    **options: Any,
) -> Result:
    """Run a Scenario to its end, or make one of a federation and jobs first.

    `source` and `trace` are as for Scenario(), and so are the `options` (seed, fidelity, policy,
    horizon, ...). `progress`: True shows a bar when stderr is a terminal; a callable gets a dict
    (now_s and last_s, seconds from the first submission; events, jobs_done, jobs, queued) at most
    20 times a second, and an exception that it raises ends the run.

    The GIL is released: threads run in parallel. Ctrl-C ends the run with KeyboardInterrupt. Raises
    InputError for a trace that does not fit, InternalError for a bug of fedsim.

    >>> import fedsim as fs
    >>> fed = fs.Federation.of(a="1x8 a100", b="1x8 a100")
    >>> len(fs.run(fed, [fs.Job("J1", gpus=6, time="2h")], seed=7).jobs)
    1
    """
    if isinstance(source, Scenario) and trace is None and not options:
        scenario = source
    else:
        scenario = Scenario(source, trace, **options)
    if callable(progress):
        return _run(scenario, progress)
    if not progress or not _terminal():
        return _run(scenario)
    bar = _Bar()
    try:
        return _run(scenario, bar)
    finally:
        bar.close()


def sweep(
    base: Scenario, *, executor: Executor | None = None, **grid: Iterable[Any]
) -> list[Variant]:
    """Run the cross product of changes to `base`, in parallel.

    Each keyword is one of Scenario.replace() with the values to try; the last one varies fastest.
    `executor` is any concurrent.futures.Executor (threads by default: one per CPU). Results come in
    the order of the product whatever finishes first, and do not depend on the executor.

    >>> import fedsim as fs
    >>> base = fs.Scenario(fs.machine("m", 4, units=8), fs.synth(jobs=20, max_units=8))
    >>> [v.changes["seed"] for v in fs.sweep(base, seed=range(3))]
    [0, 1, 2]
    """
    names = list(grid)
    changes = [dict(zip(names, values)) for values in itertools.product(*grid.values())]
    scenarios = [base.replace(**change) for change in changes]
    if executor is not None:
        results = list(executor.map(run, scenarios))
    else:
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            results = list(pool.map(run, scenarios))
    return [Variant(change, result) for change, result in zip(changes, results)]
