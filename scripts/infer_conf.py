#!/usr/bin/env python3
"""Writes a slurm.conf inferred from a sacct dump, where the cluster's own is not at hand.

    scripts/infer_conf.py week.psv.xz --cluster alpha --out conf/alpha
    scripts/infer_conf.py phillips.log --columns xdmod --out conf/phillips

A node is as large as the most that jobs of the dump held on it at one time; a partition has the
nodes that its jobs used. Times without an offset are read as UTC: only their order matters.
"""
import argparse
import gzip
import lzma
import math
import os
import pathlib
import re
import sys
import tempfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from itertools import groupby, product

XDMOD = ("JobID,JobIDRaw,Cluster,Partition,QOS,Account,Group,GID,User,UID,Submit,Eligible,Start,"
         "End,Elapsed,ExitCode,State,NNodes,NCPUS,ReqCPUS,ReqMem,ReqTRES,AllocTRES,Timelimit,"
         "NodeList,JobName")
NEEDED = ("JobID", "Partition", "NodeList", "Start", "End")
JOB_ID = re.compile(r"\d+(_\d+|_\[[^\]]+\]|\+\d+)?(\.\w+)?")
NO_VALUE = {"", "unknown", "none", "n/a", "(null)", "none assigned", "partition_limit"}
PER_CPU_BIT = 2.0 ** 31  # ReqMem of old releases with this bit, in MiB, is memory per CPU
MOST_NAMES = 1 << 18
NO_NODES = '""'
HEAD = """\
# Inferred by scripts/infer_conf.py from {runs} runs in {file}; not the site's configuration.
# A dump can't tell: nodes that no job used, limits that no job reached, sockets and threads,
# priorities, weights, preemption, QOS and associations. Sizes of nodes are lower bounds.
"""
Row = dict[str, str]  # column name in lower case -> value
Run = tuple[float, float, Counter[str]]  # start, end, what it holds on each of its nodes
Shapes = dict[tuple[int, int, tuple[tuple[str, int], ...]], list[str]]  # CPUs, MiB, GPUs -> nodes


class InputError(Exception):
    """The user's fault: where it is, what is wrong, and what to do."""

    def __init__(self, file: str, line: int, message: str, remedy: str) -> None:
        super().__init__(f"{file}{f':{line}' if line else ''}: {message}; {remedy}")


@dataclass
class Partition:
    """What the jobs that name a partition tell about it."""

    jobs: int = 0
    minutes: float = 0  # longest time limit; 0: none seen
    nodes: set[str] = field(default_factory=set)


@dataclass
class Cluster:
    """What the dump tells about one cluster."""

    name: str
    runs: dict[str, list[Run]] = field(default_factory=lambda: defaultdict(list))  # by node
    partitions: dict[str, Partition] = field(default_factory=lambda: defaultdict(Partition))
    seen: set[tuple[str, ...]] = field(default_factory=set)
    runs_n: int = 0
    with_memory_n: int = 0


def natural(name: str) -> tuple[list[str | int], str]:
    """Sort key under which n9 comes before n10."""
    parts = re.split(r"(\d+)", name)
    return [int(part) if i % 2 else part for i, part in enumerate(parts)], name


def expand_range(text: str) -> list[str]:
    """The numbers between two brackets: "01-03,7"."""
    numbers: list[str] = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", part)
        if not match or not 0 <= int(match[2] or match[1]) - int(match[1]) < MOST_NAMES:
            raise ValueError(f"[{text}] is no list of numbers and ranges")
        last = int(match[2] or match[1])
        numbers += [f"{i:0{len(match[1])}d}" for i in range(int(match[1]), last + 1)]
    return numbers


def expand(text: str) -> list[str]:
    """The names of a host list such as "a[01-03,7]-ib,b2"."""
    names: list[str] = []
    for element in re.split(r",(?![^\[\]]*\])", text) if text else []:
        parts = re.split(r"\[([^\[\]]*)\]", element)
        if any(bracket in literal for literal in parts[::2] for bracket in "[]"):
            raise ValueError("brackets do not match")
        choices = [expand_range(part) if i % 2 else [part] for i, part in enumerate(parts)]
        if math.prod(map(len, choices)) > MOST_NAMES:
            raise ValueError("too many names")
        names += ["".join(chosen) for chosen in product(*choices)]
    return names


def compress(names: Iterable[str]) -> str:
    """A host list of `names`: numbers at their ends become ranges, zeros are kept."""
    out = []
    parts = [re.split(r"(\d*)$", name, maxsplit=1)[:2] for name in sorted(names, key=natural)]
    for (prefix, _), group in groupby(parts, key=lambda part: (part[0], part[1] != "")):
        ranges: list[list[str]] = []
        for _, digits in group:
            if ranges and digits == f"{int(ranges[-1][-1]) + 1:0{len(ranges[-1][0])}d}":
                ranges[-1][1:] = [digits]
            else:
                ranges.append([digits])
        text = ",".join("-".join(r) for r in ranges)
        out.append(prefix + (f"[{text}]" if len(ranges) > 1 or "-" in text else text))
    return ",".join(out)


def instant(text: str) -> float:
    """Seconds since 1970."""
    if text.isdigit():
        return float(text)
    time = datetime.fromisoformat(text)
    return (time if time.tzinfo else time.replace(tzinfo=timezone.utc)).timestamp()


def minutes(text: str) -> float:
    """Minutes of a Timelimit (1-06:00:00) or TimelimitRaw (1800), rounded up."""
    if text.isdigit() or text.upper() == "UNLIMITED":
        return float(text) if text.isdigit() else math.inf
    days, _, clock = text.rpartition("-")
    seconds = 0
    for part in clock.split(":"):
        seconds = seconds * 60 + int(part)
    return math.ceil((int(days or 0) * 86400 + seconds) / 60)


def time_text(limit: float) -> str:
    """Minutes as slurm.conf writes them; none seen is no limit."""
    if not 0 < limit < math.inf:
        return "UNLIMITED"
    return f"{int(limit) // 1440}-{int(limit) // 60 % 24:02d}:{int(limit) % 60:02d}:00"


def mebibytes(text: str) -> float:
    """A size of memory; without a unit it is in MiB."""
    match = re.fullmatch(r"([\d.]+)([KMGTP]?)", text, re.IGNORECASE)
    if not match:
        raise ValueError(f"{text!r} is no size of memory")
    return float(match[1]) * 1024.0 ** ("KMGTP".index(match[2].upper() or "M") - 1)


def asked_memory(text: str, cpus: int, nodes_n: int) -> float:
    """MiB on each node for a ReqMem: 4Gc is per CPU, 4Gn per node, 4G per job; cpus per node."""
    size = mebibytes(text.rstrip("cn"))
    if PER_CPU_BIT <= size < 2 * PER_CPU_BIT:
        return (size - PER_CPU_BIT) * cpus
    return size * cpus if text[-1] == "c" else size if text[-1] == "n" else size / nodes_n


def entries(text: str) -> dict[str, str]:
    """The entries of a TRES list: "cpu=8,mem=4G"."""
    pairs = [entry.partition("=") for entry in text.split(",") if entry]
    if not all(equals for _, equals, _ in pairs):
        raise ValueError(f"{text!r} is no list of TRES")
    return {key: amount for key, _, amount in pairs}


def value(row: Row, *columns: str) -> str:
    """The first of `columns` that says something, or an empty text."""
    values = (row.get(column.lower(), "").strip() for column in columns)
    return next((text for text in values if text.lower() not in NO_VALUE), "")


def share_of(row: Row, nodes_n: int) -> Counter[str]:
    """cpu, mem (MiB), gpu and gpu:TYPE on each node of a run: totals spread evenly, rounded up."""
    held = entries(value(row, "AllocTRES"))
    cpus = int(held.get("cpu") or value(row, "NCPUS", "AllocCPUS") or 0)
    share = Counter(cpu=max(1, math.ceil(cpus / nodes_n)))
    memory = mebibytes(held.get("mem") or "0") / nodes_n
    if asked := value(row, "ReqMem"):  # exact where AllocTRES is rounded
        memory = max(memory, asked_memory(asked, share["cpu"], nodes_n))
    share["mem"] = math.ceil(memory)
    for key, count in held.items():
        if re.fullmatch(r"gres/gpu(:.+)?", key):
            share[key[5:]] = math.ceil(int(count) / nodes_n)
    share["gpu"] = max(share["gpu"], sum(n for key, n in share.items() if key.startswith("gpu:")))
    return share


def most_held(runs: list[Run]) -> Counter[str]:
    """The most of each resource held at one time; an end comes before a start at its instant."""
    most: Counter[str] = Counter()
    changes: list[tuple[float, int, Counter[str]]] = []
    for start, end, share in runs:
        most |= share  # also of runs that had no length
        if end > start:
            changes += [(start, 1, share), (end, -1, share)]
    held: Counter[str] = Counter()
    for _, sign, share in sorted(changes, key=lambda change: change[:2]):
        for key, amount in share.items():
            held[key] += sign * amount
        most |= held
    return most


def gpus_of(most: Counter[str]) -> tuple[tuple[str, int], ...]:
    """(type, count) of a node; GPUs shown without a type are taken for the type seen most."""
    types = Counter({key[4:]: n for key, n in most.items() if key.startswith("gpu:")})
    untyped = most["gpu"] - sum(types.values())
    if untyped > 0:
        types[max(sorted(types), key=lambda name: types[name], default="")] += untyped
    return tuple(sorted(types.items()))


def read_text(file: str) -> str:
    """The dump as text; gzip and xz are known by their first bytes."""
    try:
        data = sys.stdin.buffer.read() if file == "-" else pathlib.Path(file).read_bytes()
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
        elif data.startswith(b"\xfd7zXZ\x00"):
            data = lzma.decompress(data)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(file, 0, f"can't be read ({reason})",
                         "give a sacct dump, plain, .gz or .xz, or - for stdin") from None
    return data.decode(errors="replace")


def read_rows(file: str, columns: str) -> Iterator[tuple[int, Row]]:
    """The rows of a dump and their lines; a line without a job id goes on with the last column."""
    text = read_text(file).replace("\r\n", "\n")
    lines = [(i, line) for i, line in enumerate(text.split("\n"), 1) if line.strip()]
    number, first = lines[0] if lines else (0, "")
    header = re.search(r"\bJobID\b", first, re.IGNORECASE) and re.match(r"\s*[a-zA-Z]+(\W*)", first)
    delimiter = header[1] if header else "|"
    if not delimiter.strip(" "):
        raise InputError(file, number, "fixed-width output, whose values may be cut",
                         "dump again with sacct --parsable2")
    if header:
        names = first.removesuffix(delimiter).split(delimiter)
    elif columns:
        names = (XDMOD if columns.lower() == "xdmod" else columns).split(",")
    else:
        raise InputError(file, number, "no header row, so the columns are not known",
                         "name them with --columns JobID,State,... or --columns xdmod")
    names = [name.strip().partition("%")[0].lower() for name in names]
    missing = [name for name in NEEDED if name.lower() not in names]
    if missing:
        raise InputError(file, number, f"no column {', '.join(missing)}",
                         "add it to --format of sacct --parsable2, or to --columns")
    joined: list[tuple[int, str]] = []
    for number, line in lines[1:] if header else lines:
        if re.match(r"(sacct|srun): |slurm_", line):
            raise InputError(file, number, "a message of sacct: the dump may be incomplete",
                             "dump again with 2> kept apart, or take the line out")
        begins = names[0] != "jobid" or JOB_ID.fullmatch(line.split(delimiter, 1)[0])
        if begins or not joined:
            joined.append((number, line))
        else:
            joined[-1] = (joined[-1][0], f"{joined[-1][1]} {line}")
    for number, line in joined:
        cells = line.split(delimiter, len(names) - 1 if names[-1] == "jobname" else -1)
        if len(cells) == len(names) + 1 and not cells[-1]:
            cells.pop()  # sacct --parsable ends every row with a delimiter
        if len(cells) != len(names):
            raise InputError(file, number, f"{len(cells)} fields, {len(names)} expected",
                             "dump with sacct --parsable2 and JobName last")
        yield number, dict(zip(names, cells))


def add_job(cluster: Cluster, row: Row) -> None:
    """Takes what one record of a job tells; a record that is there twice counts once."""
    start, end = value(row, "Start"), value(row, "End")
    key = (value(row, "JobIDRaw", "JobID"), value(row, "Submit"), start, end)
    if key in cluster.seen:
        return
    cluster.seen.add(key)
    partitions = [cluster.partitions[name] for name in value(row, "Partition").split(",") if name]
    limit = value(row, "Timelimit", "TimelimitRaw")
    for partition in partitions:
        partition.jobs += 1
        partition.minutes = max(partition.minutes, minutes(limit) if limit else 0)
    nodes = expand(value(row, "NodeList"))
    if not nodes or not start:
        return  # it never ran
    share = share_of(row, len(nodes))
    run = (instant(start), instant(end) if end else math.inf, share)
    cluster.runs_n += 1
    cluster.with_memory_n += share["mem"] > 0
    for node in nodes:
        cluster.runs[node].append(run)
    for partition in partitions:
        partition.nodes.update(nodes)


def read_cluster(file: str, name: str, columns: str) -> Cluster:
    """What the dump tells about cluster `name`, or about the only one in it."""
    cluster = Cluster(name)
    others: set[str] = set()
    for line, row in read_rows(file, columns):
        job, other = row["jobid"], value(row, "Cluster")
        if not JOB_ID.fullmatch(job):
            raise InputError(file, line, f'"{job[:60]}" is no job id',
                             "take the line out, or dump with sacct --parsable2, JobName last")
        cluster.name = cluster.name or other
        if other and other != cluster.name and not name:
            raise InputError(file, line, f"cluster {other} beside {cluster.name}",
                             "choose one with --cluster NAME")
        if other and other != cluster.name:
            others.add(other)
            continue
        if "." in job:  # a step
            continue
        try:
            add_job(cluster, row)
        except ValueError as error:
            raise InputError(file, line, f"job {job}: {error}",
                             "repair the row or take it out") from None
    if not cluster.name:
        raise InputError(file, 0, "the cluster's name is not in it", "give --cluster NAME")
    if not cluster.runs:
        raise InputError(file, 0, f"no job of cluster {cluster.name} ran on a node",
                         f"the dump has {', '.join(sorted(others))}" if others else
                         "dump a longer time, with the columns Start and NodeList")
    return cluster


def slurm_conf(cluster: Cluster, shapes: Shapes, file: str) -> str:
    """The text of slurm.conf, with a comment above every inferred line."""
    text = HEAD.format(runs=cluster.runs_n, file=file)

    def add(source: str, line: str) -> None:
        nonlocal text
        text += f"# inferred: {source}\n{line}\n"

    tracked = cluster.with_memory_n == cluster.runs_n
    add("the column Cluster, or --cluster", f"ClusterName={cluster.name}")
    text += "# assumed: CPUs of a node are shared by jobs\nSelectType=select/cons_tres\n"
    add(f"memory is known of {cluster.with_memory_n} of {cluster.runs_n} runs",
        f"SelectTypeParameters={'CR_Core_Memory' if tracked else 'CR_Core'}")
    if any(gpus for _, _, gpus in shapes):
        add("gres/gpu in AllocTRES", "GresTypes=gpu")
    for (cpus, memory, gpus), nodes in shapes.items():
        line = f"NodeName={compress(nodes)} CPUs={cpus}"
        if memory:
            line += f" RealMemory={memory}"
        if gpus:
            line += " Gres=" + ",".join(f"gpu:{t}:{n}" if t else f"gpu:{n}" for t, n in gpus)
        add("the most that running jobs held at one time on each of these nodes", line)
    names = sorted(cluster.partitions, key=natural)
    busiest = max(names, key=lambda name: cluster.partitions[name].jobs, default="")
    for name in names:
        partition = cluster.partitions[name]
        source = f"NodeList of {partition.jobs} jobs"
        source += "" if partition.nodes else " (none ran: its nodes are not known)"
        source += ", their longest Timelimit" if partition.minutes else ", none with a Timelimit"
        source += ", more jobs than any other" if name == busiest else ""
        add(source, f"PartitionName={name} Nodes={compress(partition.nodes) or NO_NODES} "
            f"MaxTime={time_text(partition.minutes)}{' Default=YES' if name == busiest else ''}")
    return text


def gres_conf(shapes: Shapes) -> str:
    """The text of gres.conf; empty without GPUs."""
    lines = []
    for (_, _, gpus), nodes in shapes.items():
        first = 0
        for name, count in gpus:
            device = f"[{first}-{first + count - 1}]" if count > 1 else f"{first}"
            lines.append("# inferred: the count in slurm.conf; the devices are assumed\n"
                         f"NodeName={compress(nodes)} Name=gpu {f'Type={name} ' if name else ''}"
                         f"File=/dev/nvidia{device}\n")
            first += count
    return "".join(lines)


def write_files(out: pathlib.Path, texts: dict[str, str], force: bool) -> None:
    """All files or none; with `force` also instead of those of an earlier run."""
    old = [out / name for name in ("slurm.conf", "gres.conf") if (out / name).exists()]
    if old and not force:
        raise InputError(str(old[0]), 0, "is there already", "choose another --out, or add --force")
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out) as staged:
            for name, text in texts.items():
                (pathlib.Path(staged) / name).write_text(text, encoding="utf-8")
            for path in old:
                path.unlink()
            for name in texts:
                os.replace(pathlib.Path(staged) / name, out / name)
    except OSError as error:
        raise InputError(str(out), 0, f"can't be written ({error.strerror})",
                         "choose another --out") from None


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Infer slurm.conf and gres.conf of one cluster from a sacct dump.")
    parser.add_argument("file", help="sacct --parsable2 dump; .gz and .xz are unpacked, - is stdin")
    parser.add_argument("--out", required=True, type=pathlib.Path, metavar="DIR",
                        help="folder for slurm.conf and, with GPUs, gres.conf")
    parser.add_argument("--cluster", default="", metavar="NAME",
                        help="name of the cluster; of several in the dump, the one to take")
    parser.add_argument("--columns", default="", metavar="NAME,NAME,...",
                        help="column names of a dump without header; xdmod: Open XDMoD's 26")
    parser.add_argument("--force", action="store_true", help="overwrite the files in DIR")
    args = parser.parse_args()
    try:
        cluster = read_cluster(args.file, args.cluster, args.columns)
        shapes: Shapes = defaultdict(list)
        for node in sorted(cluster.runs, key=natural):
            most = most_held(cluster.runs[node])
            shapes[most["cpu"], most["mem"], gpus_of(most)].append(node)
        file = "stdin" if args.file == "-" else pathlib.PurePath(args.file).name
        texts = {"slurm.conf": slurm_conf(cluster, shapes, file)}
        if devices := gres_conf(shapes):
            texts["gres.conf"] = devices
        write_files(args.out, texts, args.force)
    except InputError as error:
        print(f"infer_conf.py: {error}", file=sys.stderr)
        return 2
    print(f"wrote {', '.join(texts)} to {args.out}: {len(cluster.runs)} nodes and "
          f"{len(cluster.partitions)} partitions from {cluster.runs_n} runs", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
