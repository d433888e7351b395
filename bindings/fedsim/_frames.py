"""Tables as data frames of packages that are imported only here."""

import importlib
from typing import Any

from ._core import Table


def _need(package: str) -> Any:
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise ImportError(
            f"Table.to_{package}() needs {package} (pip install {package}); "
            "Table.to_pydict() works without it"
        ) from error


def to_polars(table: Table) -> Any:
    """A polars DataFrame, through the Arrow stream."""
    return _need("polars").DataFrame(table)


def _texts(table: Table, pandas: Any) -> dict[str, Any]:
    """Text columns; with pyarrow they are handed over without making a str of each value."""
    names = [schema["name"] for schema in table.schema if schema["type"] == "text"]
    try:
        arrow = importlib.import_module("pyarrow")
    except ImportError:
        return {name: pandas.array(table[name], dtype="str") for name in names}
    frame = arrow.table(table).select(names).to_pandas()
    return {name: frame[name] for name in names}


def to_pandas(table: Table) -> Any:
    """A pandas DataFrame; integers with missing values become Int64, times UTC."""
    pandas = _need("pandas")
    texts = _texts(table, pandas)
    columns: dict[str, Any] = {}
    for schema in table.schema:
        name = schema["name"]
        if name in texts:
            columns[name] = texts[name]
            continue
        values = table[name]
        if schema["type"] == "int64" and table.null_mask(name).any():
            columns[name] = pandas.arrays.IntegerArray(values, table.null_mask(name))
        elif schema["type"] == "datetime64[ns]":
            columns[name] = pandas.Series(values, copy=False).dt.tz_localize("UTC")
        else:
            columns[name] = pandas.Series(values, copy=False)
    return pandas.DataFrame(columns, copy=False)
