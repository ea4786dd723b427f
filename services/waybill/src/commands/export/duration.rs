//! Durations as a person reads them.

/// Milliseconds in the unit that suits them.
pub(in crate::commands) fn shown(milliseconds: f64) -> String {
    let sign = if milliseconds < 0.0 { "-" } else { "" };
    let size = milliseconds.abs();
    if size < 1_000.0 {
        return format!("{sign}{size:.1} ms");
    }
    if size < 60_000.0 {
        return format!("{sign}{:.2} s", size / 1e3);
    }
    let minutes = (size / 60_000.0).floor();
    format!("{sign}{minutes} min {:.0} s", (size - minutes * 60_000.0) / 1e3)
}

/// A number of bytes in the unit that suits it (powers of 1024).
pub(in crate::commands) fn bytes(bytes: i64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
    let mut size = bytes as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if size < 1024.0 {
            return if unit == "B" { format!("{bytes} B") } else { format!("{size:.1} {unit}") };
        }
        size /= 1024.0;
    }
    format!("{size:.1} TiB")
}

#[cfg(test)]
mod tests {
    use super::{bytes, shown};

    #[test]
    fn a_duration_has_the_unit_that_suits_it() {
        assert_eq!(shown(0.42), "0.4 ms");
        assert_eq!(shown(-1.25), "-1.2 ms");
        assert_eq!(shown(2_345.6), "2.35 s");
        assert_eq!(shown(125_000.0), "2 min 5 s");
    }

    #[test]
    fn a_size_has_the_unit_that_suits_it() {
        assert_eq!(bytes(17), "17 B");
        assert_eq!(bytes(10 * 1024 * 1024), "10.0 MiB");
    }
}
