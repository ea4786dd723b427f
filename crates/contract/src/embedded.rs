//! The files of `schemas/`, as they were when this binary was built.

/// Every schema file: subject, version, content. A test compares the list with the folder.
pub(crate) const SCHEMA_FILES: [(&str, u32, &str); 2] = [
    (
        "waybill.export.v1.ExportCommand",
        1,
        include_str!("../../../schemas/waybill.export.v1.ExportCommand/1.avsc"),
    ),
    ("waybill.export.v1.ExportFact", 1, include_str!("../../../schemas/waybill.export.v1.ExportFact/1.avsc")),
];

/// The lock of the dev stack's registry.
pub(crate) const LOCK: &str = include_str!("../../../schemas/dev.lock.toml");

/// The declared topics.
pub(crate) const TOPICS: &str = include_str!("../../../schemas/topics.toml");

/// The declared sources.
pub(crate) const SOURCES: &str = include_str!("../../../schemas/sources.toml");
