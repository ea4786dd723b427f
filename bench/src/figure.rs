//! What a bench says: one JSON line a figure.

use serde::Serialize;

/// One figure.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Figure {
    bench: &'static str,
    figure: &'static str,
    value: Option<f64>,
    unit: &'static str,
    /// None for a figure that only explains another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    goal: Option<f64>,
    better: Better,
    #[serde(skip_serializing_if = "Option::is_none")]
    beside: Option<&'static str>,
    /// Why there is no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Better {
    Higher,
    Lower,
}

impl Figure {
    /// What was measured, or why it could not be.
    pub(crate) fn new(
        bench: &'static str,
        figure: &'static str,
        measured: Result<f64, String>,
        unit: &'static str,
        better: Better,
    ) -> Self {
        let (value, why) = match measured {
            Ok(value) if value.is_finite() => (Some(rounded(value)), None),
            Ok(value) => (None, Some(format!("the measurement came to {value}"))),
            Err(why) => (None, Some(why)),
        };
        Self { bench, figure, value, unit, goal: None, better, beside: None, why }
    }

    /// With what it has to come to.
    pub(crate) fn goal(mut self, goal: f64) -> Self {
        self.goal = Some(goal);
        self
    }

    /// With what it was measured beside.
    pub(crate) fn beside(mut self, peer: &'static str) -> Self {
        self.beside = Some(peer);
        self
    }

    pub(crate) fn is_measured(&self) -> bool {
        self.value.is_some()
    }

    pub(crate) fn to_json(&self) -> String {
        // Of plain numbers and texts nothing can fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Three significant digits, or whole: no run of this is repeatable beyond.
fn rounded(value: f64) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    let digits = (2.0 - value.abs().log10().floor()).clamp(0.0, 6.0);
    let scale = 10f64.powf(digits);
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_one_line_of_the_agreed_shape() {
        let figure = Figure::new("relay", "drain_vs_debezium", Ok(9.1234), "ratio", Better::Higher)
            .goal(8.0)
            .beside("Debezium 3.6.1");
        assert_eq!(
            figure.to_json(),
            r#"{"bench":"relay","figure":"drain_vs_debezium","value":9.12,"unit":"ratio","goal":8.0,"better":"higher","beside":"Debezium 3.6.1"}"#
        );
    }

    #[test]
    fn a_figure_that_could_not_be_measured_is_null_with_a_why() {
        let figure = Figure::new("relay", "rss_peak_mb", Err("no /proc".into()), "MB", Better::Lower);
        assert_eq!(
            figure.to_json(),
            r#"{"bench":"relay","figure":"rss_peak_mb","value":null,"unit":"MB","better":"lower","why":"no /proc"}"#
        );
        assert!(!figure.is_measured());
        assert!(!Figure::new("relay", "x", Ok(f64::NAN), "ratio", Better::Lower).is_measured());
    }

    #[test]
    fn values_keep_what_a_run_can_tell() {
        assert_eq!([123_456.7, 12.345, 0.012_345, 0.0].map(rounded), [123_457.0, 12.3, 0.0123, 0.0]);
    }
}
