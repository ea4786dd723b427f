//! What is to be said about a data set before it is applied: against the database that it names, as whoever reads it.

use serde::Serialize;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error};
use waybill_datasets::{Declaration, Owner, PinnedColumn, Revision, Rows, operators};
use waybill_domain::export::{Format, Operator};

use crate::describe::{Description, describe};
use crate::index::Planner;

/// The oldest server that a source may have: PostgreSQL 15.
const VERSION_MIN: i32 = 150_000;

/// The types that hold a tenant's id as text: `text`, `char(n)`, `varchar(n)`.
const TEXT_OIDS: [u32; 3] = [25, 1042, 1043];

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// As it should be.
    Ok,
    /// Worth knowing.
    Note,
    /// It works, and will hurt.
    Warn,
    /// The data set cannot be applied like this.
    Fail,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How much it weighs.
    pub level: Level,
    /// What it is about, such as `column note`.
    pub subject: String,
    /// What was found.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// What was found about a data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examination {
    /// Everything, in the order in which it is read best.
    pub findings: Vec<Finding>,
    /// The columns with their types, where the rows have them all.
    pub columns: Option<Vec<PinnedColumn>>,
}

impl Examination {
    /// Whether the data set can be applied.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.columns.is_some() && self.findings.iter().all(|finding| finding.level != Level::Fail)
    }
}

/// Looks at everything that a data set declares. Nothing is read from its rows and nothing is changed.
///
/// # Errors
/// Postgres does not answer; whatever it refuses is a finding.
pub async fn examine(client: &Client, declaration: &Declaration) -> Result<Examination, Error> {
    let mut findings = Findings(Vec::new());
    server(client, &mut findings).await?;
    let described = match describe(client, declaration).await {
        Ok(described) => described,
        Err(error) => {
            findings.refused("rows", error, "correct the table or the query in the file")?;
            access(client, declaration, &mut findings).await?;
            return Ok(Examination { findings: findings.0, columns: None });
        }
    };
    let is_whole = names(declaration, &described, &mut findings);
    owner(declaration, &described, &mut findings);
    filters(declaration, &described, &mut findings);
    access(client, declaration, &mut findings).await?;
    if !is_whole || findings.has_failures() {
        let columns = is_whole.then_some(described.columns);
        return Ok(Examination { findings: findings.0, columns });
    }
    let revision = Revision { revision: 0, declaration: declaration.clone(), columns: described.columns };
    formats(&revision, &mut findings);
    plans(client, &revision, &mut findings).await?;
    Ok(Examination { findings: findings.0, columns: Some(revision.columns) })
}

struct Findings(Vec<Finding>);

impl Findings {
    fn add(
        &mut self,
        level: Level,
        subject: impl Into<String>,
        message: impl Into<String>,
        hint: Option<&str>,
    ) {
        let hint = hint.map(str::to_owned);
        self.0.push(Finding { level, subject: subject.into(), message: message.into(), hint });
    }

    fn fail(&mut self, subject: impl Into<String>, message: impl Into<String>, hint: &str) {
        self.add(Level::Fail, subject, message, Some(hint));
    }

    /// A refusal of Postgres is a finding; no answer at all is none.
    fn refused(&mut self, subject: &str, error: Error, hint: &str) -> Result<(), Error> {
        let Some(refusal) = error.as_db_error() else { return Err(error) };
        self.fail(subject, format!("{} (SQLSTATE {})", refusal.message(), refusal.code().code()), hint);
        Ok(())
    }

    fn has_failures(&self) -> bool {
        self.0.iter().any(|finding| finding.level == Level::Fail)
    }
}

async fn server(client: &Client, findings: &mut Findings) -> Result<(), Error> {
    let row = client.query_one(include_str!("sql/server.sql"), &[]).await?;
    let (reader, is_standby): (String, bool) = (row.try_get("reader")?, row.try_get("is_standby")?);
    let (encoding, version): (String, i32) = (row.try_get("encoding")?, row.try_get("version")?);
    let place = if is_standby { "a standby" } else { "a primary" };
    findings.add(Level::Ok, "source", format!("{reader} reads from {place}"), None);
    if encoding == "SQL_ASCII" {
        let hint =
            "move the data to a database of another encoding: of this one nobody knows what its bytes mean";
        findings.fail("source", "the database's encoding is SQL_ASCII", hint);
    }
    if version < VERSION_MIN {
        findings.fail(
            "source",
            format!("the server's version is {version}"),
            "PostgreSQL 15 or later is needed",
        );
    }
    Ok(())
}

/// Whether the rows have every column that is named, each once.
fn names(declaration: &Declaration, described: &Description, findings: &mut Findings) -> bool {
    let missing = described.missing(declaration);
    let existing = described.existing.join(", ");
    for name in &missing {
        findings.fail(
            format!("column {name}"),
            format!("the rows have none of that name; they have {existing}"),
            "correct the name in the file",
        );
    }
    let twice = described
        .columns
        .iter()
        .filter(|column| described.existing.iter().filter(|name| **name == column.name).count() > 1);
    let twice: Vec<&str> = twice.map(|column| column.name.as_str()).collect();
    for name in &twice {
        findings.fail(
            format!("column {name}"),
            "the query has two columns of that name",
            "give one of them another name",
        );
    }
    missing.is_empty() && twice.is_empty()
}

fn owner(declaration: &Declaration, described: &Description, findings: &mut Findings) {
    match &declaration.owner {
        Owner::SharedBecause(reason) => findings.add(
            Level::Warn,
            "tenant",
            format!("every tenant may export all rows, because: {reason}"),
            Some("name a tenant_column unless that is meant"),
        ),
        Owner::TenantColumn(name) => {
            let Some(column) = described.column(name) else { return };
            if column.element.is_none() && TEXT_OIDS.contains(&column.oid) {
                findings.add(Level::Ok, "tenant", format!("{name} is {}", column.type_name), None);
            } else {
                findings.fail(
                    "tenant",
                    format!("{name} is {}, which never equals a tenant's id (ten_…)", column.type_name),
                    "name a column of type text, varchar or char; a query can cast or map it",
                );
            }
        }
    }
}

fn filters(declaration: &Declaration, described: &Description, findings: &mut Findings) {
    for (name, wanted) in &declaration.filters {
        let Some(column) = described.column(name) else { continue };
        let possible = operators(column);
        for operator in wanted.iter().filter(|operator| !possible.contains(operator)) {
            let possible: Vec<&str> = possible.iter().map(|operator| operator.as_str()).collect();
            findings.fail(
                format!("filter {name}"),
                format!("{} cannot be filtered with {}", column.type_name, operator.as_str()),
                &format!("use {}", possible.join(", ")),
            );
        }
    }
}

async fn access(client: &Client, declaration: &Declaration, findings: &mut Findings) -> Result<(), Error> {
    let Rows::Table { schema, name } = &declaration.rows else { return Ok(()) };
    let columns: Vec<String> = declaration.named_columns().into_iter().map(str::to_owned).collect();
    let Some(row) = client.query_opt(include_str!("sql/access.sql"), &[schema, name, &columns]).await? else {
        findings.fail(
            "rows",
            format!("there is no table or view {schema}.{name}"),
            "correct the table, or make it",
        );
        return Ok(());
    };
    let mut grants: Vec<String> = Vec::new();
    for (may, grant) in [("may_use_schema", "grant_schema"), ("may_select", "grant_select")] {
        if !row.try_get::<_, Option<bool>>(may)?.unwrap_or(false) {
            grants.push(row.try_get(grant)?);
        }
    }
    if !grants.is_empty() {
        findings.fail("grants", format!("{schema}.{name} may not be read"), &grants.join(" "));
    }
    Ok(())
}

/// What each column becomes in each format, or why it cannot.
fn formats(revision: &Revision, findings: &mut Findings) {
    for format in Format::ALL {
        match revision.plan(format) {
            Ok(_plan) => findings.add(Level::Ok, format.as_str(), "holds every column exactly", None),
            Err(refused) => {
                for problem in refused.problems() {
                    let subject = match &problem.column {
                        Some(column) => format!("{} column {column}", format.as_str()),
                        None => format.as_str().to_owned(),
                    };
                    findings.add(Level::Note, subject, problem.problem.clone(), Some(&problem.instead));
                }
            }
        }
    }
}

async fn plans(client: &Client, revision: &Revision, findings: &mut Findings) -> Result<(), Error> {
    let planner = Planner::new(client, revision);
    if let Err(error) = planner.reads().await {
        let is_forbidden = error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE);
        let hint =
            if is_forbidden { "GRANT SELECT on it to the login that reads" } else { "correct the query" };
        return findings.refused("rows", error, hint);
    }
    for order in revision.declaration.orders.keys() {
        let subject = format!("order {order}");
        match planner.order_has_index(order).await {
            Ok(true) => findings.add(Level::Ok, subject, "comes from an index", None),
            Ok(false) => findings.add(
                Level::Warn,
                subject,
                "needs a sort of all of a tenant's rows",
                Some("make an index on the tenant column and the order's columns"),
            ),
            Err(error) => findings.refused(&subject, error, "leave out a column whose type has no order")?,
        }
    }
    for (name, wanted) in &revision.declaration.filters {
        let Some(column) = revision.pinned(name) else { continue };
        filter(&planner, column, wanted, findings).await?;
    }
    Ok(())
}

async fn filter(
    planner: &Planner<'_>,
    column: &PinnedColumn,
    wanted: &[Operator],
    findings: &mut Findings,
) -> Result<(), Error> {
    let subject = format!("filter {}", column.name);
    let mut without = Vec::new();
    for operator in wanted {
        match planner.filter_has_index(column, *operator).await {
            Ok(Some(false)) => without.push(operator.as_str()),
            Ok(Some(true) | None) => {}
            Err(error) => return findings.refused(&subject, error, "leave the operator out"),
        }
    }
    if without.is_empty() {
        findings.add(Level::Ok, subject, "is found by an index", None);
    } else {
        findings.add(
            Level::Warn,
            subject,
            format!("{} reads all of a tenant's rows", without.join(", ")),
            Some("make an index on the tenant column and this one, or leave it out"),
        );
    }
    Ok(())
}
