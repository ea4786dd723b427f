"""DuckDB's side of `./dev bench export`: writes what it reads into one file.

write.py probe
    says `postgres` where DuckDB's extension for Postgres can be had, and `copy` where it cannot.
write.py json|parquet FILE COLUMNS [QUERY]
    COLUMNS is a JSON object of DuckDB's types by column. With QUERY the extension reads it, with libpq's variables in the
    environment saying where; without, the rows come as CSV on standard input.
"""

import json
import sys

import duckdb


def extension():
    duckdb.sql("INSTALL postgres; LOAD postgres; ATTACH '' AS server (TYPE postgres, READ_ONLY)")


def main():
    if sys.argv[1] == "probe":
        try:
            extension()
            print("postgres")
        except duckdb.Error:
            print("copy")
        return
    kind, file, columns, *query = sys.argv[1:]
    if query:
        extension()
        rows = f"SELECT * FROM postgres_query('server', {quoted(query[0])})"
    else:
        types = ", ".join(f"{quoted(name)}: {quoted(of)}" for name, of in json.loads(columns).items())
        rows = f"SELECT * FROM read_csv('/dev/stdin', header = true, parallel = false, columns = {{{types}}})"
    options = {"json": "FORMAT json", "parquet": "FORMAT parquet, COMPRESSION zstd"}[kind]
    duckdb.sql(f"COPY ({rows}) TO {quoted(file)} ({options})")


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


main()
