"""Reads an export as its users do, and prints what each reader found as one JSON document.

Arguments: the table as CSV, the same table as Parquet. For DuckDB and for pandas, and each of the two files: the names and
types of the columns, and all rows. Besides, DuckDB's counts. Nothing is judged here.
"""

import json
import sys

import duckdb
import pandas


def by_duckdb(relation):
    rows = relation.fetchall()
    columns = [[name, str(kind)] for name, kind in zip(relation.columns, relation.types)]
    return {"columns": columns, "rows": rows}


def by_pandas(frame):
    columns = [[name, str(kind)] for name, kind in frame.dtypes.items()]
    cells = frame.astype(object).where(frame.notna(), None)
    return {"columns": columns, "rows": cells.values.tolist()}


def counts(table):
    """Of each metric: its name, all rows, valid rows."""
    counted = table.aggregate("metric, count(*), count(*) FILTER (WHERE valid)", "metric")
    return counted.order("metric").fetchall()


csv, parquet = sys.argv[1:]
tables = {"csv": duckdb.read_csv(csv), "parquet": duckdb.read_parquet(parquet)}
frames = {
    "csv": pandas.read_csv(csv, keep_default_na=False, na_values=[""]),
    "parquet": pandas.read_parquet(parquet),
}
document = {
    "duckdb": {form: by_duckdb(table) for form, table in tables.items()},
    "pandas": {form: by_pandas(frame) for form, frame in frames.items()},
    "counts": {form: counts(table) for form, table in tables.items()},
}
json.dump(document, sys.stdout, allow_nan=False)
