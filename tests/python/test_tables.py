"""Tables: columns, NumPy views and their lifetime, Arrow by pyarrow and by ctypes, data frames."""

import ctypes
import gc
import weakref
from datetime import datetime, timedelta, timezone

import fedsim as fs
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

NAMES = ["jobs", "records", "allocations", "gpus", "processes", "events"]
CONTRACT = (
    "label,jobid,array_task,origin,cluster,state,submit,eligible,start,end,nodes,gpu_idx,"
    "partition,qos,user,account,reason"
).split(",")


@pytest.fixture
def result(story):
    return fs.run(story.replace(keep_events=True))


def test_columns(result):
    assert set(CONTRACT) <= set(result.records.columns)
    for name in NAMES:
        table = getattr(result, name)
        assert table.name == name and len(table) > 0
        assert [s["name"] for s in table.schema] == table.columns
        assert all(s["doc"] for s in table.schema)
        assert "jobid" in table and "nothing" not in table


def test_numpy_types(result):
    records = result.records
    assert records["jobid"].dtype == np.int64
    assert records["start"].dtype == np.dtype("datetime64[ns]")
    assert result.allocations["elapsed"].dtype == np.dtype("timedelta64[ns]")
    assert result.allocations["backfilled"].dtype == np.bool_
    assert records["state"].dtype == object and "COMPLETED" in records["state"]
    # J12 was refused and never started.
    refused = records["state"] == "REJECTED"
    assert np.isnat(records["start"][refused]).all() and records["nodes"][refused][0] is None
    assert result.allocations["elapsed"][0] == np.timedelta64(2, "h")


def test_views_are_read_only_and_not_copies(result):
    start = result.records["start"]
    assert not start.flags.writeable and not start.flags.owndata
    with pytest.raises(ValueError):
        start[0] = 0
    with pytest.raises(ValueError):
        start.flags.writeable = True
    address = result.records["jobid"].__array_interface__["data"][0]
    assert result.records["jobid"].__array_interface__["data"][0] == address
    assert not result.records["state"].flags.writeable


def test_views_outlive_the_result(story):
    result = fs.run(story)
    table = result.records
    jobid, start = table["jobid"], table["start"]
    expected, expected_start = jobid.tolist(), start.tolist()
    watch = weakref.ref(jobid)
    del result, table
    gc.collect()
    ballast = [np.zeros(1000) for _ in range(100)]
    assert jobid.tolist() == expected and start.tolist() == expected_start
    del jobid, start, ballast
    gc.collect()
    assert watch() is None


def test_null_mask(result):
    mask = result.records.null_mask("start")
    assert mask.dtype == np.bool_ and mask.tolist() == np.isnat(result.records["start"]).tolist()
    assert not result.records.null_mask("jobid").any()
    assert result.records.null_mask("array_task").all()
    assert result.jobs.null_mask("cluster").tolist() == [False, False, True]


def test_python_values(result):
    rows = result.jobs.to_pylist()
    assert rows[0]["submit"] == datetime(2026, 1, 1, tzinfo=timezone.utc)
    assert rows[0]["timelimit"] == timedelta(hours=2)
    columns = result.jobs.to_pydict()
    assert list(columns) == result.jobs.columns
    assert columns["gpus"] == [6, 6, 0] and columns["cluster"][2] is None


def test_unknown_column(result):
    with pytest.raises(KeyError, match="no column 'strt' in table 'records'; did you mean 'start'"):
        result.records["strt"]


def test_repr(result):
    text = repr(result.records)
    assert text.startswith("<Table 'records': 5 rows") and "J12" in text
    assert max(map(len, text.splitlines())) <= 160
    html = result.records._repr_html_()
    assert html.count("<tr>") == 6
    assert "<svg" in result._repr_html_() and "12 of 16 GPUs" in repr(result)


@pytest.mark.parametrize("name", NAMES)
def test_pyarrow(result, name):
    table = getattr(result, name)
    arrow = pa.table(table)
    arrow.validate(full=True)
    assert arrow.column_names == table.columns and arrow.num_rows == len(table)
    expected = table.to_pydict()
    for column in table.columns:
        if table[column].dtype.kind == "m":  # pyarrow gives pandas' Timedelta for ns
            values = arrow[column].cast(pa.int64()).to_pylist()
            microseconds = [v if v is None else v // 1000 for v in values]
            assert microseconds == [
                v if v is None else v // timedelta(microseconds=1) for v in expected[column]
            ]
        elif table[column].dtype.kind == "M":
            values = arrow[column].cast(pa.timestamp("us", "UTC"), safe=False).to_pylist()
            assert values == expected[column]
        else:
            assert arrow[column].to_pylist() == expected[column]


def test_arrow_types(result):
    schema = pa.table(result.allocations).schema
    assert schema.field("start").type == pa.timestamp("ns", "UTC")
    assert schema.field("elapsed").type == pa.duration("ns")
    assert schema.field("backfilled").type == pa.bool_()
    assert schema.field("gpus").type == pa.int64()
    assert schema.field("cluster").type == pa.string()
    assert schema.field("end").nullable and not schema.field("start").nullable


class Schema(ctypes.Structure):
    pass


Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))),
    ("private_data", ctypes.c_void_p),
]


class Array(ctypes.Structure):
    pass


Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))),
    ("private_data", ctypes.c_void_p),
]


class Stream(ctypes.Structure):
    pass


Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(Stream))),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))),
    ("private_data", ctypes.c_void_p),
]


def stream_of(capsule):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return Stream.from_address(get(capsule, b"arrow_array_stream"))


def test_arrow_with_ctypes(story):
    """The stream walked by hand: no Arrow library has a say in what is right here."""
    table = fs.run(story).allocations
    jobids, names = table["jobid"].tolist(), table.columns
    clusters = table.to_pydict()["cluster"]
    capsule = table.__arrow_c_stream__()
    del table
    gc.collect()
    stream, schema, batch = stream_of(capsule), Schema(), Array()
    assert stream.get_schema(stream, schema) == 0
    assert schema.format == b"+s" and schema.n_children == len(names)
    assert [schema.children[i][0].name.decode() for i in range(len(names))] == names
    assert stream.get_next(stream, batch) == 0
    assert batch.length == len(jobids) == 2 and batch.n_children == len(names)
    ints = batch.children[names.index("jobid")][0]
    values = ctypes.cast(ints.buffers[1], ctypes.POINTER(ctypes.c_int64))
    assert values[0 : ints.length] == jobids
    texts = batch.children[names.index("cluster")][0]
    offsets = ctypes.cast(texts.buffers[1], ctypes.POINTER(ctypes.c_int32))[0 : texts.length + 1]
    raw = ctypes.string_at(texts.buffers[2], offsets[-1]).decode()
    assert [raw[a:b] for a, b in zip(offsets, offsets[1:])] == clusters
    end = Array()
    assert stream.get_next(stream, end) == 0 and not end.release  # one batch, then the end
    stream.release(stream)
    assert not stream.release
    del capsule  # must not release a second time
    gc.collect()
    assert values[0 : batch.length] == jobids  # the batch keeps its memory
    batch.release(batch)
    schema.release(schema)
    assert not batch.release and not schema.release


def test_capsule_that_nobody_reads(result):
    for _ in range(3):
        result.records.__arrow_c_stream__(None)
    gc.collect()


def test_pandas(result):
    frame = result.records.to_pandas()
    assert list(frame.columns) == result.records.columns and len(frame) == 5
    assert str(frame["start"].dtype) == "datetime64[ns, UTC]"
    assert frame["array_task"].isna().all() and frame["array_task"].dtype == "Int64"
    assert frame["jobid"].tolist() == result.records["jobid"].tolist()
    assert frame["start"].isna().tolist() == np.isnat(result.records["start"]).tolist()
    assert frame.groupby("state").size().to_dict() == {"COMPLETED": 2, "REJECTED": 1, "REVOKED": 2}
    assert pd.isna(frame["nodes"].iloc[2])


def test_polars(result):
    frame = result.records.to_polars()
    assert frame.equals(pl.DataFrame(result.records))
    assert frame.filter(pl.col("state") == "COMPLETED")["cluster"].to_list() == ["a", "b"]
    assert frame.schema["start"] == pl.Datetime("ns", "UTC")


def test_duckdb(result):
    duckdb = pytest.importorskip("duckdb")
    jobs = pa.table(result.jobs)
    assert jobs.num_rows == 3
    query = "select state, count(*) from jobs group by state order by state"
    assert duckdb.sql(query).fetchall() == [("COMPLETED", 2), ("REJECTED", 1)]


def test_empty_tables(two):
    result = fs.run(two, [])
    assert len(result.jobs) == 0 and result.jobs["jobid"].shape == (0,)
    assert result.jobs["start"].dtype == np.dtype("datetime64[ns]")
    assert pa.table(result.jobs).num_rows == 0 and len(result.jobs.to_pandas()) == 0
    assert result.jobs.to_pylist() == [] and "0 rows" in repr(result.jobs)
