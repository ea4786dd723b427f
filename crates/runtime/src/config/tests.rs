use std::path::Path;

use super::error::Place;
use super::{Config, ConfigError, DEFAULT_TOML};
use crate::role::{Role, Schema};

fn load(text: &str, environment: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Config::from_sources(Path::new("waybill.toml"), text, environment)
}

#[test]
fn the_commented_defaults_are_the_compiled_in_ones() {
    assert_eq!(load(DEFAULT_TOML, &[]).unwrap(), Config::default());
    assert_eq!(load("", &[]).unwrap(), Config::default());
}

#[test]
fn every_key_stands_in_the_commented_defaults_and_no_other() {
    // What is commented out with one `# ` before `key = value` is a key, too: with all of them in, all keys are there.
    let all: String = DEFAULT_TOML
        .lines()
        .map(|line| match line.strip_prefix("# ").and_then(|rest| rest.split_once(" = ")) {
            Some((key, _)) if !key.contains(' ') => format!("{}\n", &line[2..]),
            _ => format!("{line}\n"),
        })
        .collect();
    let written: toml::Table = toml::from_str(&all).unwrap();
    let written = serde_json::to_value(written).unwrap();
    let known = serde_json::to_value(Config::default()).unwrap();
    assert_eq!(keys(&written), keys(&known));
}

fn keys(value: &serde_json::Value) -> Vec<String> {
    let mut keys: Vec<_> = value
        .as_object()
        .into_iter()
        .flatten()
        .flat_map(|(key, value)| {
            let below = keys(value).into_iter().map(move |below| format!("{key}.{below}"));
            below.chain([key.clone()])
        })
        .collect();
    keys.sort();
    keys
}

#[test]
fn an_unknown_key_of_the_file_is_refused_with_its_place_and_the_nearest_name() {
    let error = load("[relay]\nlease_ms = 9000\npoll_intervall_ms = 5\n", &[]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "waybill.toml:3:1: unknown key `relay.poll_intervall_ms`; did you mean `relay.poll_interval_ms`?"
    );
    let error = load("[relays]\n", &[]).unwrap_err();
    assert_eq!(error.to_string(), "waybill.toml:1:2: unknown key `relays`; did you mean `relay`?");
    let error = load("zebra = 1\n", &[]).unwrap_err();
    assert_eq!(error.to_string(), "waybill.toml:1:1: unknown key `zebra`");
}

#[test]
fn an_unknown_key_of_the_environment_is_refused_with_the_nearest_name() {
    for variable in ["WAYBILL_RELAY__LEASE_MSEC", "WAYBILL_RELAY_LEASE_MS"] {
        let error = load("", &[(variable, "1")]).unwrap_err().to_string();
        assert!(error.contains("did you mean `WAYBILL_RELAY__LEASE_MS`?"), "{error}");
    }
    assert!(load("", &[("WAYBILL_RELAY", "1"), ("WAYBILL_API_KEY", "k"), ("WAYBILL_HOME", "/")]).is_ok());
}

#[test]
fn a_value_of_the_wrong_type_is_refused_with_its_place() {
    let error = load("[worker]\nslots = \"two\"\n", &[]).unwrap_err();
    assert!(
        matches!(&error, ConfigError::Invalid { place: Place::File { line: 2, column: 9, .. }, .. }),
        "{error}"
    );
    let error = load("", &[("WAYBILL_WORKER__SLOTS", "two")]).unwrap_err();
    assert_eq!(error.to_string(), "environment variable WAYBILL_WORKER__SLOTS: expected a whole number");
    let error = load("[relay]\ncompression = \"lz5\"\n", &[]).unwrap_err().to_string();
    assert!(error.starts_with("waybill.toml:2:") && error.contains("`lz4`"), "{error}");
    let error = load("", &[("WAYBILL_TELEMETRY__FORMAT", "xml")]).unwrap_err().to_string();
    assert!(error.contains("WAYBILL_TELEMETRY__FORMAT") && error.contains("pretty"), "{error}");
    let error = load("[worker\n", &[]).unwrap_err();
    assert!(error.to_string().starts_with("waybill.toml:1:"), "{error}");
}

#[test]
fn the_environment_wins_over_the_file_and_the_long_name_over_the_shorthand() {
    let config = load(
        "[kafka]\nbootstrap = \"file:1\"\n[api]\nlisten = \"127.0.0.1:1\"\n",
        &[("WAYBILL_KAFKA_BOOTSTRAP", "short:1"), ("WAYBILL_API__LISTEN", "127.0.0.1:0")],
    )
    .unwrap();
    assert_eq!(config.kafka.bootstrap, "short:1");
    assert_eq!(config.api.listen.port(), 0);
    let config =
        load("", &[("WAYBILL_KAFKA_BOOTSTRAP", "short:1"), ("WAYBILL_KAFKA__BOOTSTRAP", "long:1")]).unwrap();
    assert_eq!(config.kafka.bootstrap, "long:1");
}

#[test]
fn kafka_settings_pass_through_from_file_and_environment() {
    let config = load(
        "[kafka.settings]\n\"sasl.username\" = \"u\"\n\"socket.timeout.ms\" = 5000\n",
        &[
            ("WAYBILL_KAFKA__SETTINGS__SECURITY_PROTOCOL", "SASL_SSL"),
            ("WAYBILL_KAFKA__SETTINGS__SASL_PASSWORD", "hush"),
        ],
    )
    .unwrap();
    let settings = config.kafka.client_settings().unwrap();
    for (name, value) in [
        ("security.protocol", "SASL_SSL"),
        ("sasl.username", "u"),
        ("socket.timeout.ms", "5000"),
        ("sasl.password", "hush"),
    ] {
        assert!(settings.contains(&(name.to_owned(), value.to_owned())), "{name}");
    }
    assert!(!format!("{config:?}{}", serde_json::to_string(&config).unwrap()).contains("hush"));
}

#[test]
fn contradicting_values_are_refused_with_both_keys() {
    let error = load("[worker]\nlease_ms = 1500\n", &[]).unwrap_err().to_string();
    let relation = "`worker.heartbeat_ms` (1000) must be at most half of `worker.lease_ms` (1500)";
    assert!(error.contains(relation), "{error}");
    let error = load("[worker]\nslots = 4\n", &[]).unwrap_err().to_string();
    let relation =
        "`database.export.pool_connections_max` (8) must be at least 2 more than twice `worker.slots` (4)";
    assert!(error.contains(relation), "{error}");
    assert!(load("[worker]\nslots = 4\n[database.export]\npool_connections_max = 10\n", &[]).is_ok());
    let error = load("[worker]\nlease_ms = 999\nheartbeat_ms = 1\n", &[]).unwrap_err().to_string();
    assert!(error.contains("`worker.lease_ms` (999)"), "{error}");
    let error = load("[relay]\nlease_ms = 999\n", &[]).unwrap_err().to_string();
    assert!(error.contains("`relay.lease_ms` (999)"), "{error}");
    for key in ["cursor_standing_after_ms", "cleaning_held_back_after_ms"] {
        let error = load(&format!("[relay]\n{key} = 9999\n"), &[]).unwrap_err().to_string();
        let relation = format!("`relay.observe_interval_ms` (10000) must be at most `relay.{key}` (9999)");
        assert!(error.contains(&relation), "{error}");
    }
    let error = load("[relay]\nobserve_interval_ms = 0\n", &[]).unwrap_err().to_string();
    assert!(error.contains("`relay.observe_interval_ms` (0)"), "{error}");
    let error = load("[reconciler]\npartitions_ahead_days = -1\n", &[]).unwrap_err().to_string();
    assert!(error.contains("`reconciler.partitions_ahead_days`"), "{error}");
    let error =
        load("[credentials.api]\npassword = \"a\"\npassword_file = \"b\"\n", &[]).unwrap_err().to_string();
    assert!(error.contains("`credentials.api.password`"), "{error}");
}

#[test]
fn a_database_that_is_not_named_is_the_export_database_and_that_one_may_come_from_the_admin() {
    let config = load(
        "[database.stats]\nurl = \"postgres://far/stats\"\n",
        &[("WAYBILL_POSTGRES_URL", "postgres://admin:secret@near:5433/waybill")],
    )
    .unwrap();
    assert_eq!(config.database.url(Schema::Export).expose(), "postgres://near:5433/waybill");
    assert_eq!(config.database.url(Schema::Outbox), config.database.url(Schema::Export));
    assert_eq!(config.database.url(Schema::Search), config.database.url(Schema::Export));
    assert_eq!(config.database.url(Schema::Stats).expose(), "postgres://far/stats");
    assert_eq!(config.credentials.of(Role::Stats).user, "waybill_stats");
    let config = load("[admin]\npostgres_url = \"postgres://admin@near/waybill\"\n", &[]).unwrap();
    assert_eq!(config.database.url(Schema::Notify).expose(), "postgres://near/waybill");
}

#[test]
fn an_outbox_of_another_service_has_a_name_a_place_and_a_login() {
    let shop =
        "[relay.outboxes.shop]\nurl = \"postgres://db/shop\"\nschema = \"shop_outbox\"\nuser = \"relay\"\n";
    let config = load(shop, &[("WAYBILL_RELAY__OUTBOXES__SHOP__PASSWORD", "hush")]).unwrap();
    let outbox = &config.relay.outboxes["shop"];
    assert_eq!((outbox.schema.as_str(), outbox.user.as_str()), ("shop_outbox", "relay"));
    assert_eq!(outbox.password().unwrap().unwrap().expose(), "hush");
    assert!(!format!("{config:?}{}", serde_json::to_string(&config).unwrap()).contains("hush"));
    for (wrong, reason) in [
        (shop.replace("outboxes.shop", "outboxes.main"), "product's own"),
        (shop.replace("outboxes.shop", "outboxes.Shop"), "no outbox's name"),
        (shop.replace("shop_outbox", "x -c role=postgres"), "no outbox's schema"),
        (shop.replace("user", "usr"), "usr"),
        (format!("{shop}password = \"a\"\npassword_file = \"b\"\n"), "both set"),
        (shop.replace("user = \"relay\"\n", ""), "user"),
    ] {
        let error = load(&wrong, &[]).unwrap_err().to_string();
        assert!(error.contains("waybill.toml:") && error.contains(reason), "{error}");
    }
}

#[test]
fn a_source_has_a_name_a_place_and_perhaps_a_login_of_its_own() {
    let shop = "[sources.shop]\nurl = \"postgres://reader:hush@replica/shop\"\n";
    let config = load(shop, &[("WAYBILL_SOURCES__SHOP__PASSWORD", "hush")]).unwrap();
    let source = &config.sources["shop"];
    assert_eq!((source.user.as_deref(), source.password().unwrap().unwrap().expose()), (None, "hush"));
    assert!(!format!("{config:?}{}", serde_json::to_string(&config).unwrap()).contains("hush"));
    for (wrong, reason) in [
        (shop.replace("sources.shop", "sources.Shop"), "no source's name"),
        (shop.replace("url", "uri"), "uri"),
        (format!("{shop}password = \"a\"\npassword_file = \"b\"\n"), "both set"),
    ] {
        let error = load(&wrong, &[]).unwrap_err().to_string();
        assert!(error.contains("waybill.toml:") && error.contains(reason), "{error}");
    }
}
