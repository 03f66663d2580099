"""Reads the names of configurations in two files, a table as CSV and one as Parquet, and prints what each reader found.

Arguments: the two files, then the regular expression that finds what was put before a cell that a spreadsheet would run,
and what stands in its place. Nothing is judged here.
"""

import json
import sys

import duckdb
import pandas

csv, parquet, pattern, replacement = sys.argv[1:]


def by_duckdb():
    name = "configuration" if "configuration" in duckdb.read_csv(csv).columns else "name"
    undone = f"regexp_replace({name}, $pattern, $replacement, 'g')"
    given = {"pattern": pattern, "replacement": replacement}
    names = lambda query, given=None: sorted({row[0] for row in duckdb.execute(query, given).fetchall()})
    return {
        "csv": names(f"SELECT {name} FROM '{csv}'"),
        "undone": names(f"SELECT {undone} FROM '{csv}'", given),
        "parquet": names(f"SELECT configuration FROM '{parquet}'"),
    }


def by_pandas():
    frame = pandas.read_csv(csv, keep_default_na=False, na_values=[""])
    column = frame["configuration" if "configuration" in frame.columns else "name"]
    return {
        "csv": sorted(set(column)),
        "undone": sorted(set(column.str.replace(pattern, replacement, regex=True))),
        "parquet": sorted(set(pandas.read_parquet(parquet)["configuration"])),
    }


json.dump({"duckdb": by_duckdb(), "pandas": by_pandas()}, sys.stdout, allow_nan=False)
