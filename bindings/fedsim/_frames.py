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


def to_pandas(table: Table) -> Any:
    """A pandas DataFrame; integers with missing values become Int64, times UTC."""
    pandas = _need("pandas")
    columns: dict[str, Any] = {}
    for schema in table.schema:
        name, values = schema["name"], table[schema["name"]]
        if schema["type"] == "int64" and table.null_mask(name).any():
            columns[name] = pandas.arrays.IntegerArray(values, table.null_mask(name))
        elif schema["type"] == "datetime64[ns]":
            columns[name] = pandas.Series(values, copy=False).dt.tz_localize("UTC")
        elif schema["type"] == "text":
            columns[name] = pandas.array(values, dtype="str")
        else:
            columns[name] = pandas.Series(values, copy=False)
    return pandas.DataFrame(columns, copy=False)
