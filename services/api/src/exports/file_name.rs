//! What a downloaded file is and what it is called: `Content-Type`, and `Content-Disposition` by RFC 6266, its encoded form
//! by RFC 8187.

use std::fmt::Write;

use waybill_domain::export::{Compression, Format, Spec};
use waybill_store::job::Job;

/// The longest name, in characters, without its ending; file systems take 255 bytes.
const STEM_CHARACTERS_MAX: usize = 60;

/// The media type of a file of this kind. What is compressed as a whole is that, and no content coding: its size, digest and
/// ranges are those of the compressed bytes.
pub(super) const fn media_type(spec: &Spec) -> &'static str {
    match (spec.format, spec.compression) {
        (Format::Parquet, _) => "application/vnd.apache.parquet",
        (Format::Csv | Format::Ndjson, Compression::Gzip) => "application/gzip",
        (Format::Csv | Format::Ndjson, Compression::Zstd) => "application/zstd",
        (Format::Csv, Compression::None) => "text/csv; charset=utf-8",
        (Format::Ndjson, Compression::None) => "application/x-ndjson",
    }
}

/// What the name of a file of this kind ends with, after a dot. The pages of a Parquet file are compressed inside of it.
const fn ending(spec: &Spec) -> &'static str {
    match (spec.format, spec.compression) {
        (Format::Parquet, _) => "parquet",
        (Format::Csv, Compression::None) => "csv",
        (Format::Csv, Compression::Gzip) => "csv.gz",
        (Format::Csv, Compression::Zstd) => "csv.zst",
        (Format::Ndjson, Compression::None) => "ndjson",
        (Format::Ndjson, Compression::Gzip) => "ndjson.gz",
        (Format::Ndjson, Compression::Zstd) => "ndjson.zst",
    }
}

/// The header's value for this export's file.
pub(super) fn content_disposition(job: &Job) -> String {
    disposition(job.name.as_deref(), job.export_id.as_str(), ending(&job.spec))
}

fn disposition(name: Option<&str>, export_id: &str, ending: &str) -> String {
    let stem = name.map(stem).filter(|stem| !stem.is_empty()).unwrap_or_else(|| export_id.to_owned());
    let plain: String = stem.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    let mut value = format!("attachment; filename=\"{plain}.{ending}\"");
    if plain != stem {
        // Writing to a string cannot fail.
        let _ = write!(value, "; filename*=UTF-8''{}.{ending}", encoded(&stem));
    }
    value
}

/// A caller's name without anything that a file system or a shell could take for more than a name.
fn stem(name: &str) -> String {
    let harmless = |c: char| if c.is_control() || r#"/\:*?"<>|"#.contains(c) { '_' } else { c };
    let cleaned: String = name.chars().map(harmless).take(STEM_CHARACTERS_MAX).collect();
    cleaned.trim_matches(|c: char| c == '.' || c.is_whitespace()).to_owned()
}

/// What a quoted string may hold without escapes, less `%`, which some browsers decode.
fn is_plain(c: char) -> bool {
    (c.is_ascii_graphic() || c == ' ') && !matches!(c, '"' | '\\' | '%')
}

/// Everything but `attr-char` (RFC 8187, section 3.2.1) becomes percent and two digits a byte.
fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        if byte.is_ascii_alphanumeric() || b"!#$&+-.^_`|~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
        encoded
    })
}

#[cfg(test)]
mod tests {
    use super::disposition;

    #[test]
    fn a_plain_name_needs_no_second_form() {
        assert_eq!(disposition(Some("Orders Q3"), "exp_1", "csv"), "attachment; filename=\"Orders Q3.csv\"");
    }

    #[test]
    fn an_export_without_a_name_is_called_by_its_id() {
        assert_eq!(disposition(None, "exp_1", "csv"), "attachment; filename=\"exp_1.csv\"");
        assert_eq!(disposition(Some(" .. "), "exp_1", "csv"), "attachment; filename=\"exp_1.csv\"");
    }

    #[test]
    fn other_scripts_are_encoded_and_have_a_fallback() {
        assert_eq!(
            disposition(Some("訂單 100%"), "exp_1", "csv"),
            "attachment; filename=\"__ 100_.csv\"; filename*=UTF-8''%E8%A8%82%E5%96%AE%20100%25.csv"
        );
    }

    #[test]
    fn no_name_leads_out_of_its_folder_or_out_of_its_quotes() {
        assert_eq!(
            disposition(Some("../a\"; x=\"/b"), "exp_1", "csv"),
            "attachment; filename=\"_a_; x=__b.csv\""
        );
    }
}
