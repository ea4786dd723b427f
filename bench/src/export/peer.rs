//! The others: `psql`, alone and with a program that compresses behind it, and DuckDB.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value};
use waybill_devstack::{Undertaking, cache_dir};

use super::sample::{Account, Sample, Writer};
use super::shape::Shape;
use crate::installation::DATABASE;
use crate::lines::{COLUMNS, Table};
use crate::stack::Stack;

/// Who writes the same files.
pub(crate) struct Peers<'run> {
    stack: &'run Stack,
    tenant_id: String,
    /// DuckDB, or why there is none.
    duckdb: Result<DuckDb, String>,
}

/// A Python with DuckDB.
struct DuckDb {
    python: PathBuf,
    script: PathBuf,
    /// Whether its own extension reads Postgres; otherwise COPY feeds it.
    reads_postgres: bool,
}

impl<'run> Peers<'run> {
    /// Finds out what there is. Without DuckDB the rest is measured all the same.
    pub(crate) fn prepare(stack: &'run Stack, undertaking: &Undertaking, tenant_id: &str) -> Self {
        let duckdb = DuckDb::prepare(stack, undertaking);
        match &duckdb {
            Ok(duckdb) if duckdb.reads_postgres => eprintln!("DuckDB reads Postgres by its extension"),
            Ok(_) => eprintln!("DuckDB's extension for Postgres cannot be had: COPY feeds it"),
            Err(error) => eprintln!("DuckDB cannot be had: {error:#}"),
        }
        Self { stack, tenant_id: tenant_id.to_owned(), duckdb: duckdb.map_err(|error| format!("{error:#}")) }
    }

    /// Writes the table as a file of this shape.
    pub(crate) fn write(&self, table: &Table, shape: Shape) -> Result<Sample> {
        let query = table.query(&self.tenant_id);
        let file = self.stack.dir().join("peer");
        let account = Account::open(self.stack, Writer::Children)?;
        let through = |program: &str, arguments: &[&str]| {
            let mut compressor = Command::new(program);
            compressor.args(arguments);
            self.copy(&query, Stdio::piped(), Some((compressor, &file)))
        };
        match shape {
            Shape::Csv => self.copy(&query, create(&file)?.into(), None),
            Shape::CsvZstd => through("zstd", &["-T1", "-q", "-c"]),
            Shape::CsvGzip => through("gzip", &["-c"]),
            Shape::Ndjson => self.by_duckdb("json", &query, &file),
            Shape::Parquet => self.by_duckdb("parquet", &query, &file),
        }?;
        let bytes = fs::metadata(&file).context("nothing was written")?.len();
        let sample = account.close(None, bytes);
        fs::remove_file(&file).with_context(|| format!("cannot remove {}", file.display()))?;
        eprintln!("  beside: {}", sample.describe());
        Ok(sample)
    }

    /// `\copy` into the output, or through a program into a file.
    fn copy(&self, query: &str, output: Stdio, through: Option<(Command, &Path)>) -> Result<()> {
        let mut psql = self.stack.psql(DATABASE)?;
        psql.args(["--quiet", "--no-psqlrc", "--command"]);
        psql.arg(format!("\\copy ({query}) TO STDOUT WITH (FORMAT csv, HEADER)"));
        let mut psql = psql.stdin(Stdio::null()).stdout(output).spawn().context("psql does not start")?;
        if let (Some((mut program, file)), Some(rows)) = (through, psql.stdout.take()) {
            let program = program.stdin(rows).stdout(create(file)?);
            let status = program.status().with_context(|| format!("{program:?} does not start"))?;
            ensure!(status.success(), "{program:?}: {status}");
        }
        let status = psql.wait().context("psql cannot be waited for")?;
        ensure!(status.success(), "psql: {status}");
        Ok(())
    }

    fn by_duckdb(&self, kind: &str, query: &str, file: &Path) -> Result<()> {
        let duckdb = self.duckdb.as_ref().map_err(|why| anyhow::anyhow!("{why}"))?;
        let columns: Map<String, Value> =
            COLUMNS.iter().map(|(name, of)| ((*name).to_owned(), Value::from(*of))).collect();
        let mut program = Command::new(&duckdb.python);
        program.arg(&duckdb.script).arg(kind).arg(file).arg(Value::from(columns).to_string());
        if !duckdb.reads_postgres {
            // It replaces a file that there is.
            return self.copy(query, Stdio::piped(), Some((program, &self.stack.dir().join("duckdb-said"))));
        }
        let psql = self.stack.psql(DATABASE)?;
        let libpq = psql.get_envs().filter_map(|(name, value)| Some((name, value?)));
        let status = program.arg(query).envs(libpq).stdin(Stdio::null()).status().context("no Python")?;
        ensure!(status.success(), "DuckDB: {status}");
        Ok(())
    }
}

impl DuckDb {
    fn prepare(stack: &Stack, undertaking: &Undertaking) -> Result<Self> {
        let requirements = stack.repository("ops/bench/duckdb/requirements.txt");
        let script = stack.repository("ops/bench/duckdb/write.py");
        let environment = cache_dir().join("bench-duckdb");
        let python = environment.join("bin/python");
        let mut make = Command::new("python3");
        make.args(["-m", "venv"]).arg(&environment);
        undertaking.run(&mut make, "python3", "install Python 3 with venv")?;
        let mut install = Command::new(&python);
        install.args(["-m", "pip", "install", "--quiet", "--require-hashes", "--no-deps", "-r"]);
        undertaking.run(
            install.arg(&requirements),
            "pip",
            "look whether the package index can be reached",
        )?;
        let mut probe = Command::new(&python);
        let psql = stack.psql(DATABASE)?;
        probe
            .arg(&script)
            .arg("probe")
            .envs(psql.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let said = undertaking.run(&mut probe, "python3", "is DuckDB installed?")?;
        Ok(Self { python, script, reads_postgres: said.trim() == "postgres" })
    }
}

fn create(file: &Path) -> Result<File> {
    File::create(file).with_context(|| format!("cannot write {}", file.display()))
}
