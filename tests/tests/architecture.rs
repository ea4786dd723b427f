//! Arrows between crates point only toward the domain; what may know what is written here and checked.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, MetadataCommand, Package};

const SERVICES: [&str; 7] = [
    "waybill-api",
    "waybill-relay",
    "waybill-worker",
    "waybill-search",
    "waybill-stats",
    "waybill-notifier",
    "waybill-reconciler",
];

/// Our crates that each library crate may depend on. A crate that is not here is not allowed to exist unnoticed.
const ALLOWED: [(&str, &[&str]); 18] = [
    ("waybill-domain", &[]),
    ("waybill-fault-points", &[]),
    ("waybill-outbox", &[]),
    ("waybill-operator", &["waybill-outbox"]),
    ("waybill-consumer", &["waybill-fault-points", "waybill-topic-identity"]),
    ("waybill-topic-identity", &[]),
    ("waybill-contract", &["waybill-domain"]),
    ("waybill-store", &["waybill-domain"]),
    ("waybill-publication", &["waybill-contract", "waybill-domain", "waybill-outbox", "waybill-store"]),
    ("waybill-objects", &[]),
    ("waybill-formats", &[]),
    ("waybill-datasets", &["waybill-domain", "waybill-formats"]),
    ("waybill-source", &["waybill-datasets", "waybill-domain", "waybill-formats"]),
    ("waybill-runtime", &[]),
    ("waybill-subscription", &["waybill-consumer", "waybill-contract", "waybill-runtime", "waybill-store"]),
    ("waybill-devstack", &[]),
    ("waybill-testkit", &["waybill-devstack"]),
    // As another team would: nothing of ours but the outbox.
    ("orders-service", &["waybill-outbox"]),
];

/// Crates that reach outside of the process, or read a clock or chance.
const EFFECTS: [&str; 14] = [
    "tokio",
    "tokio-postgres",
    "deadpool-postgres",
    "rdkafka",
    "reqwest",
    "hyper",
    "axum",
    "object_store",
    "lettre",
    "rand",
    "getrandom",
    "tracing",
    "metrics",
    "nix",
];

struct Workspace {
    packages: Vec<Package>,
}

impl Workspace {
    fn read() -> Self {
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
        let metadata = MetadataCommand::new()
            .manifest_path(manifest)
            .no_deps()
            .other_options(["--offline".into()])
            .exec();
        Self { packages: metadata.expect("cargo metadata of this workspace").packages }
    }

    /// What each package is built from, other than for its own tests.
    fn dependencies(&self) -> BTreeMap<String, BTreeSet<String>> {
        let shipped = |package: &Package| {
            let normal = package
                .dependencies
                .iter()
                .filter(|dependency| dependency.kind != DependencyKind::Development);
            normal.map(|dependency| dependency.name.clone()).collect()
        };
        self.packages.iter().map(|package| (package.name.to_string(), shipped(package))).collect()
    }
}

fn ours(dependencies: &BTreeSet<String>) -> BTreeSet<&str> {
    dependencies.iter().map(String::as_str).filter(|name| name.starts_with("waybill")).collect()
}

#[test]
fn every_library_crate_depends_only_on_what_it_may_know() {
    let workspace = Workspace::read().dependencies();
    for (package, dependencies) in &workspace {
        if SERVICES.contains(&package.as_str())
            || ["waybill", "waybill-bench", "waybill-tests", "xtask"].contains(&package.as_str())
        {
            continue;
        }
        let allowed = ALLOWED.iter().find(|(name, _)| name == package);
        let allowed =
            allowed.unwrap_or_else(|| panic!("{package} is new: say in this test what it may know")).1;
        for dependency in ours(dependencies) {
            assert!(allowed.contains(&dependency), "{package} may not depend on {dependency}");
        }
    }
}

/// What could ask a third party anything: the relay sends what stands in the row, so no registry or other service that is away
/// can hold a row up, or have it parked.
const CLIENTS: [&str; 5] = ["reqwest", "hyper", "hyper-util", "schema_registry_converter", "object_store"];

#[test]
fn the_relay_asks_nobody_but_postgres_and_kafka() {
    let workspace = Workspace::read().dependencies();
    for package in ["waybill-relay", "waybill-outbox", "waybill-topic-identity"] {
        let dependencies = workspace.get(package).unwrap_or_else(|| panic!("{package} is gone"));
        let found = CLIENTS.iter().find(|client| dependencies.contains(**client));
        assert_eq!(found, None, "{package} may ask nobody else");
    }
}

#[test]
fn no_service_depends_on_a_service() {
    let workspace = Workspace::read().dependencies();
    for service in SERVICES {
        let dependencies = workspace.get(service).unwrap_or_else(|| panic!("{service} is gone"));
        for other in SERVICES {
            assert!(!dependencies.contains(other), "{service} may not depend on {other}");
        }
        assert!(!dependencies.contains("waybill-testkit"), "{service} may not ship test code");
    }
}

#[test]
fn the_domain_the_formats_and_the_data_sets_reach_nothing_outside_of_the_process() {
    let workspace = Workspace::read().dependencies();
    for (package, effect) in ["waybill-domain", "waybill-formats", "waybill-datasets"]
        .iter()
        .flat_map(|package| EFFECTS.map(|effect| (package, effect)))
    {
        assert!(!workspace[*package].contains(effect), "{package} may not depend on {effect}");
    }
}

#[test]
fn only_services_and_the_consumer_join_postgres_with_kafka() {
    for (package, dependencies) in Workspace::read().dependencies() {
        let library = ALLOWED.iter().any(|(name, _)| *name == package);
        let joins = dependencies.contains("tokio-postgres") && dependencies.contains("rdkafka");
        let may = ["waybill-consumer", "waybill-testkit"].contains(&package.as_str());
        assert!(!library || !joins || may, "{package} joins Postgres with Kafka");
    }
}

#[test]
fn one_version_serves_every_crate() {
    for package in Workspace::read().packages {
        for dependency in package.dependencies {
            let pinned = dependency.path.is_some() || dependency.req.to_string() != "*";
            assert!(pinned, "{} takes any version of {}", package.name, dependency.name);
        }
    }
}
