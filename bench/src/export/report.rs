//! From what was measured to what is said.

use super::sample::Sample;
use super::shape::Shape;
use super::size::Size;
use crate::figure::{Better, Figure};
use crate::series::Series;

const BENCH: &str = "export";

/// What a megabyte is in every figure.
const MEGABYTE: f64 = 1_000_000.0;

/// One shape's two sides.
#[derive(Debug)]
pub(crate) struct Sides {
    pub(crate) ours: Series<Sample>,
    pub(crate) peer: Series<Sample>,
}

/// Everything that is measured, round after round.
#[derive(Debug)]
pub(crate) struct Report {
    shapes: [Sides; 5],
    /// Exports of few rows and of many.
    pub(crate) few: Series<Sample>,
    pub(crate) many: Series<Sample>,
}

impl Default for Report {
    fn default() -> Self {
        let shapes = Shape::ALL.map(|_| Sides { ours: Series::new(), peer: Series::new() });
        Self { shapes, few: Series::new(), many: Series::new() }
    }
}

impl Report {
    pub(crate) fn of(&mut self, shape: Shape) -> &mut Sides {
        &mut self.shapes[shape as usize]
    }

    /// The figures that have a goal, then what they are made of.
    pub(crate) fn figures(&self, size: Size) -> Vec<Figure> {
        let seconds = |series: &Series<Sample>| series.median(|sample| sample.processor.as_secs_f64());
        let elapsed = |series: &Series<Sample>| series.median(|sample| sample.elapsed.as_secs_f64());
        let versus = |name, shape: Shape, goal, peer| {
            let sides = &self.shapes[shape as usize];
            lower(name, ratio(seconds(&sides.ours), seconds(&sides.peer)), "ratio").goal(goal).beside(peer)
        };
        let memory = |shape: Shape| peak(&self.shapes[shape as usize].ours);
        #[expect(clippy::cast_precision_loss, reason = "rows are far below 2^52")]
        let more_rows = size.rows_many as f64 / size.rows_few as f64;
        let (few, many) = (&self.few, &self.many);
        let time_a_row = ratio(elapsed(many), elapsed(few)).map(|times| times / more_rows);
        let mut figures = vec![
            versus("csv_cpu_vs_psql", Shape::Csv, 1.1, "psql \\copy"),
            versus("csv_zstd_cpu_vs_psql", Shape::CsvZstd, 1.0, "psql \\copy | zstd -T1"),
            versus("csv_gzip_cpu_vs_psql", Shape::CsvGzip, 0.6, "psql \\copy | gzip"),
            versus("ndjson_cpu_vs_duckdb", Shape::Ndjson, 0.5, "DuckDB"),
            versus("parquet_cpu_vs_duckdb", Shape::Parquet, 0.9, "DuckDB"),
            lower("csv_rss_peak_mb", memory(Shape::Csv), "MB").goal(64.0),
            lower("parquet_rss_peak_mb", memory(Shape::Parquet), "MB").goal(256.0),
            lower("rss_many_vs_few_rows", ratio(peak(many), peak(few)), "ratio"),
            lower("time_a_row_many_vs_few_rows", time_a_row, "ratio"),
        ];
        let made_of = [
            ("csv_cpu_s", "csv_peer_cpu_s"),
            ("csv_zstd_cpu_s", "csv_zstd_peer_cpu_s"),
            ("csv_gzip_cpu_s", "csv_gzip_peer_cpu_s"),
            ("ndjson_cpu_s", "ndjson_peer_cpu_s"),
            ("parquet_cpu_s", "parquet_peer_cpu_s"),
        ];
        for ((ours, peer), sides) in made_of.into_iter().zip(&self.shapes) {
            figures.push(lower(ours, seconds(&sides.ours), "s"));
            figures.push(lower(peer, seconds(&sides.peer), "s"));
        }
        figures.push(lower("few_rows_s", elapsed(few), "s"));
        figures.push(lower("many_rows_s", elapsed(many), "s"));
        figures
    }
}

fn peak(series: &Series<Sample>) -> Result<f64, String> {
    #[expect(clippy::cast_precision_loss, reason = "memory is far below 2^52 B")]
    let megabytes = |sample: &Sample| sample.peak_resident_bytes.map(|bytes| bytes as f64 / MEGABYTE);
    let peak = series.largest(megabytes)?;
    peak.ok_or_else(|| "this system does not tell a process's peak (VmHWM in /proc)".to_owned())
}

fn lower(name: &'static str, value: Result<f64, String>, unit: &'static str) -> Figure {
    Figure::new(BENCH, name, value, unit, Better::Lower)
}

fn ratio(of: Result<f64, String>, to: Result<f64, String>) -> Result<f64, String> {
    Ok(of? / to?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_measured_says_why_and_the_rest_is_still_there() {
        let mut report = Report::default();
        report.of(Shape::Parquet).peer = Series::impossible("no DuckDB".to_owned());
        let figures: Vec<String> = report.figures(Size::QUICK).iter().map(Figure::to_json).collect();
        assert_eq!(figures.len(), 21);
        assert!(figures[4].contains("it was never measured"), "{}", figures[4]);
        assert!(figures[18].contains("no DuckDB"), "{}", figures[18]);
    }
}
