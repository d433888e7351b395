"""Pictures with matplotlib (``pip install slurm-fedsim[plot]``)."""

from typing import TYPE_CHECKING, Any

from ._core import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["timeline"]

_ROWS = ("gpu", "node", "cluster")


def _lane(gpu: dict[str, Any], rows: str) -> str:
    if rows == "cluster":
        return str(gpu["cluster"])
    node = f"{gpu['cluster']} {gpu['node']}"
    return node if rows == "node" else f"{node} {gpu['index']}"


def timeline(
    result: Result, *, rows: str = "gpu", color: str = "label", ax: "Axes | None" = None
) -> "Axes":
    """Draw who held which GPU when; returns the matplotlib Axes.

    One lane per `rows`: 'gpu', 'node' or 'cluster'. `color` is a column of the jobs table ('label',
    'user', 'account', 'partition', ...); equal values, equal colour. Hours count from the first
    submission. Records that never ran are not drawn: they held nothing. Raises ValueError for an
    unknown `rows` or `color`, ImportError without matplotlib.

    >>> import fedsim as fs  # doctest: +SKIP
    >>> fs.plot.timeline(result, rows="node").figure.savefig("week.png")  # doctest: +SKIP
    """
    if rows not in _ROWS:
        raise ValueError(f"rows: {rows!r} is not one of {', '.join(_ROWS)}")
    if color not in result.jobs.columns:
        raise ValueError(f"color: {color!r} is not a column of jobs: {result.jobs.columns}")
    try:
        from matplotlib import colormaps, patches, pyplot
    except ImportError as error:
        raise ImportError("plot.timeline() needs matplotlib (pip install matplotlib)") from error
    if ax is None:
        ax = pyplot.subplots(layout="constrained")[1]
    jobs = result.jobs.to_pylist()
    group = {job["jobid"]: str(job[color]) for job in jobs}
    names = sorted(set(group.values()))
    palette = {name: colormaps["tab20"](i % 20) for i, name in enumerate(names)}
    gpus = result.gpus.to_pylist()
    lanes = sorted({_lane(gpu, rows) for gpu in gpus}, key=lambda lane: lane.split(" "))
    place = {lane: i for i, lane in enumerate(lanes)}
    first = min((job["submit"] for job in jobs), default=None)
    for gpu in gpus:
        if gpu["end"] is None:
            continue
        begin = (gpu["start"] - first).total_seconds() / 3600
        length = (gpu["end"] - gpu["start"]).total_seconds() / 3600
        lane = place[_lane(gpu, rows)]
        ax.broken_barh([(begin, length)], (lane - 0.4, 0.8), color=palette[group[gpu["jobid"]]])
    ax.set_yticks(range(len(lanes)), lanes)
    ax.set_xlabel("hours since the first submission")
    handles = [patches.Patch(color=palette[name]) for name in names[:20]]
    ax.legend(handles, names[:20], title=color, loc="upper right")
    return ax
