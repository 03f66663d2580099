"""Reads an export by seconds as its users do, and prints what each reader found as one JSON document.

Arguments: the table as CSV, the same table as Parquet. For DuckDB and for pandas, and each of the two files: the names of the
columns, and all rows with the time in seconds since 1970. Nothing is judged here.
"""

import json
import sys

import duckdb
import pandas


def by_duckdb(relation):
    relation = relation.project("* REPLACE (epoch(time::TIMESTAMPTZ) AS time)")
    return {"columns": relation.columns, "rows": relation.fetchall()}


def by_pandas(frame):
    since = pandas.to_datetime(frame["time"], utc=True) - pandas.Timestamp("1970-01-01", tz="UTC")
    frame["time"] = since.dt.total_seconds()
    cells = frame.astype(object).where(frame.notna(), None)
    return {"columns": list(frame.columns), "rows": cells.values.tolist()}


csv, parquet = sys.argv[1:]
document = {
    "duckdb": {
        "csv": by_duckdb(duckdb.read_csv(csv)),
        "parquet": by_duckdb(duckdb.read_parquet(parquet)),
    },
    "pandas": {
        "csv": by_pandas(pandas.read_csv(csv, keep_default_na=False, na_values=[""])),
        "parquet": by_pandas(pandas.read_parquet(parquet)),
    },
}
json.dump(document, sys.stdout, allow_nan=False)
