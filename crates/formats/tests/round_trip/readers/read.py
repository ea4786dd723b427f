"""Reads a file with somebody else's reader and prints its rows, a JSON array of texts and nulls each.

    read.py READER FILE [LEAVES]

READER is csv or json (Python's own), pyarrow or duckdb. LEAVES is a JSON object that names what cannot be told from a
value itself: {"column": "base64"} for bytes in NDJSON, {"column": "skip"} for what is judged elsewhere. Each text is one
that Postgres reads as the value of the column's type.
"""

import base64
import csv
import datetime
import gzip
import io
import json
import re
import sys

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

csv.field_size_limit(1 << 30)


def main(reader, path, leaves="{}"):
    # Only the part of the name that says what the file is.
    file_format, *_compression = path.rsplit("/", 1)[-1].split(".")[1:]
    rows = globals()[f"{reader}_{file_format}"](path, json.loads(leaves))
    for row in rows:
        print(json.dumps(row))


def plain(path):
    if path.endswith(".gz"):
        return gzip.open(path)
    if path.endswith(".zst"):
        return pa.CompressedInputStream(pa.OSFile(path), "zstd")
    return open(path, "rb")


# --- CSV ----------------------------------------------------------------------------------------------------------


def csv_csv(path, _leaves):
    """Python's reader cannot tell NULL from an empty text: both are the empty one."""
    with plain(path) as file:
        text = io.TextIOWrapper(io.BytesIO(file.read()), encoding="utf-8", newline="")
        return list(csv.reader(text, strict=True))[1:]


def pyarrow_csv(path, _leaves):
    with plain(path) as file:
        content = file.read()
    names = next(csv.reader(io.StringIO(content.decode(), newline="")))
    table = pyarrow.csv.read_csv(
        io.BytesIO(content),
        # A block has to hold the longest record.
        read_options=pyarrow.csv.ReadOptions(use_threads=False, block_size=1 << 24),
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types={name: pa.string() for name in names},
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )
    return [list(row.values()) for row in table.to_pylist()]


def duckdb_csv(path, _leaves):
    return duckdb.sql(
        f"FROM read_csv('{path}', all_varchar = true, header = true, delim = ',', quote = '\"', escape = '\"', "
        "nullstr = '', allow_quoted_nulls = false, max_line_size = 16777216, parallel = false, auto_detect = false, "
        f"columns = {columns_of_csv(path)})"
    ).fetchall()


def columns_of_csv(path):
    with plain(path) as file:
        names = next(csv.reader(io.TextIOWrapper(io.BytesIO(file.read()), encoding="utf-8", newline="")))
    return "{" + ", ".join(f"'{name}': 'VARCHAR'" for name in names) + "}"


# --- NDJSON -------------------------------------------------------------------------------------------------------


class Number(str):
    """The characters of a number: no float ever sees them."""


def refuse(constant):
    raise ValueError(f"{constant} is no JSON")


def json_ndjson(path, leaves):
    with plain(path) as file:
        content = file.read().decode("utf-8")
    assert content.endswith("\n")
    for line in content[:-1].split("\n"):
        row = json.loads(line, parse_int=Number, parse_float=Number, parse_constant=refuse)
        yield [postgres_text(value, leaves.get(name)) for name, value in row.items()]


def duckdb_ndjson(path, leaves):
    """Every member as its JSON text, which DuckDB has taken apart and put together again."""
    with plain(path) as file:
        names = list(json.loads(file.read().split(b"\n", 1)[0]))
    columns = "{" + ", ".join(f"'{name}': 'JSON'" for name in names) + "}"
    relation = duckdb.sql(
        f"FROM read_json('{path}', format = 'newline_delimited', columns = {columns}, maximum_object_size = 16777216)"
    )
    for row in relation.fetchall():
        values = [None if text is None else json.loads(text, parse_int=Number, parse_float=Number) for text in row]
        yield [postgres_text(value, leaves.get(name)) for name, value in zip(names, values)]


# --- Parquet ------------------------------------------------------------------------------------------------------


def pyarrow_parquet(path, _leaves):
    table = pyarrow.parquet.ParquetFile(path).read()
    columns = [exact(column.combine_chunks()) for column in table.columns]
    return [list(row) for row in zip(*columns)]


def exact(array):
    """A column as texts. Python's dates end at 9999 and begin at 1, so those go as the numbers that they are."""
    kind = array.type
    if pa.types.is_list(kind):
        elements = exact(array.values)
        bounds = list(zip(array.offsets.to_pylist(), array.offsets.to_pylist()[1:]))
        return [
            literal(elements[start:end]) if valid else None
            for (start, end), valid in zip(bounds, array.is_valid().to_pylist())
        ]
    if pa.types.is_timestamp(kind):
        zone = "+00" if kind.tz else ""
        return [None if n is None else timestamp(n) + zone + era(n // DAY) for n in array.cast(pa.int64()).to_pylist()]
    if pa.types.is_date(kind):
        return [None if n is None else date(n) + era(n) for n in array.cast(pa.int32()).to_pylist()]
    return [postgres_text(value) for value in array.to_pylist()]


def duckdb_parquet(path, _leaves):
    duckdb.sql("SET TimeZone = 'UTC'")
    relation = duckdb.sql(f"FROM read_parquet('{path}')")
    columns = ", ".join(
        exact_sql(f'"{name}"', str(kind)) for name, kind in zip(relation.columns, relation.types)
    )
    for row in duckdb.sql(f"SELECT {columns} FROM read_parquet('{path}')").fetchall():
        yield [postgres_text(value) for value in row]


def exact_sql(column, kind):
    if kind.endswith("[]"):
        return f"list_transform({column}, lambda x: {exact_sql('x', kind[:-2])})"
    if kind == "BLOB":
        return f"'\\x' || hex({column})"
    # `4714-11-24 (BC) 00:00:00+00`
    return f"regexp_replace({column}::VARCHAR, '^(.*) \\(BC\\)(.*)$', '\\1\\2 BC')"


# --- what Postgres reads ------------------------------------------------------------------------------------------

DAY = 86_400_000_000
ERA_DAYS = 146_097


def date(days):
    eras, of_era = divmod(days, ERA_DAYS)
    day = datetime.date(1970, 1, 1) + datetime.timedelta(of_era)
    year = day.year + 400 * eras
    return f"{year if year > 0 else 1 - year:04}-{day.month:02}-{day.day:02}"


def era(days):
    return " BC" if days < (datetime.date(1, 1, 1) - datetime.date(1970, 1, 1)).days else ""


def timestamp(micros):
    days, of_day = divmod(micros, DAY)
    seconds, fraction = divmod(of_day, 1_000_000)
    return f"{date(days)} {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:06}"


def postgres_text(value, leaf=None):
    if value is None or leaf == "skip":
        return None
    if isinstance(value, list):
        return literal(value, leaf)
    if leaf == "base64":
        value = base64.b64decode(value, validate=True)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes):
        return "\\x" + value.hex()
    # Floats as the shortest digits that are theirs, decimals with all digits.
    return repr(value) if isinstance(value, float) else str(value)


def literal(elements, leaf=None):
    def one(element):
        if element is None:
            return "NULL"
        if isinstance(element, list):
            return literal(element, leaf)
        return '"' + re.sub(r'(["\\])', r"\\\1", postgres_text(element, leaf)) + '"'

    return "{" + ",".join(one(element) for element in elements) + "}"


main(*sys.argv[1:])
