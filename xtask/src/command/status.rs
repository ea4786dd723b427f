//! `./dev status`

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use waybill_devstack::{Ports, ServiceFile, http_get};

use crate::infrastructure::SERVICES;
use crate::place::Place;

#[derive(Debug, Args)]
pub(crate) struct Status {
    /// One JSON object instead of a table.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Row {
    service: &'static str,
    running: bool,
    pid: Option<i32>,
    ports: Vec<u16>,
    memory_mib: Option<u64>,
    ready: Option<String>,
    log: String,
}

impl Status {
    pub(crate) fn run(self, place: &Place) -> Result<ExitCode> {
        let ports = Ports::load(&place.layout)?;
        let mut rows = Vec::new();
        for service in SERVICES.into_iter().rev() {
            let own = matches!(service, "waybill" | "mail");
            if place.external.is_none() || own {
                rows.push(row(place, &ports, service));
            }
        }
        if self.json {
            println!("{}", serde_json::to_string_pretty(&serde_json::json!({ "services": rows }))?);
        } else {
            print(&rows);
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn row(place: &Place, ports: &Ports, service: &'static str) -> Row {
    let file = ServiceFile::of(&place.layout, service);
    let running = file.running();
    let names: &[&str] = match service {
        "mail" => &["smtp", "mail-api"],
        "waybill" => &["api", "management"],
        other => &[other],
    };
    let ports: Vec<u16> = names.iter().filter_map(|name| ports.get(name)).collect();
    let ready = running.as_ref().map(|_| readiness(service, &ports));
    Row {
        service,
        running: running.is_some(),
        pid: running.as_ref().map(|running| running.pid),
        ports,
        memory_mib: running.as_ref().and_then(waybill_devstack::Running::memory_mib),
        ready,
        log: file.log().display().to_string(),
    }
}

/// What the service says of itself, where it says anything over HTTP; else whether its port takes connections.
fn readiness(service: &str, ports: &[u16]) -> String {
    let Some(&last) = ports.last() else { return "unknown".into() };
    if service == "waybill" {
        return match http_get(last, "/readyz") {
            Ok((_, body)) => said_status(&body).unwrap_or_else(|| "unknown".into()),
            Err(error) => format!("no answer: {error}"),
        };
    }
    let address = std::net::SocketAddr::from((std::net::Ipv4Addr::LOCALHOST, last));
    match std::net::TcpStream::connect_timeout(&address, std::time::Duration::from_secs(1)) {
        Ok(_) => "ready".into(),
        Err(error) => format!("no answer: {error}"),
    }
}

fn said_status(body: &str) -> Option<String> {
    let report: serde_json::Value = serde_json::from_str(body).ok()?;
    report["status"].as_str().map(ToOwned::to_owned)
}

fn print(rows: &[Row]) {
    println!("{:<10} {:>8} {:>14} {:>10}  {:<10} log", "service", "pid", "ports", "memory", "state");
    for row in rows {
        let ports: Vec<String> = row.ports.iter().map(ToString::to_string).collect();
        let memory = row.memory_mib.map(|mebibytes| format!("{mebibytes} MiB")).unwrap_or_default();
        let pid = row.pid.map(|pid| pid.to_string()).unwrap_or_default();
        let state = row.ready.clone().unwrap_or_else(|| "stopped".into());
        println!(
            "{:<10} {pid:>8} {:>14} {memory:>10}  {state:<10} {}",
            row.service,
            ports.join(","),
            row.log
        );
    }
}
