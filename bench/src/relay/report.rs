//! From what was measured to what is said.

use super::debezium::Tuning;
use super::drain::Drain;
use super::pace::Paced;
use crate::figure::{Better, Figure};
use crate::series::Series;

const BENCH: &str = "relay";

/// What the limit is called.
const BARE: &str = "bare producer";

/// What a rate is in.
const RATE: &str = "events/s";

/// What a megabyte is in every figure.
const MEGABYTE: f64 = 1_000_000.0;

/// Everything that is measured, round after round.
#[derive(Debug)]
pub(crate) struct Report {
    /// The relay drains.
    pub(crate) relay: Series<Drain>,
    /// The relay drains while somebody's transaction stays open.
    pub(crate) held: Series<Drain>,
    /// Events a second of the bare producer.
    pub(crate) bare: Series<f64>,
    /// Events a second of Debezium, by its tuning.
    pub(crate) peer: [Series<f64>; 2],
    /// The relay behind writers at a pace.
    pub(crate) paced: Series<Paced>,
    /// Debezium behind them, by its tuning.
    pub(crate) peer_paced: [Series<Paced>; 2],
}

impl Default for Report {
    fn default() -> Self {
        Self {
            relay: Series::new(),
            held: Series::new(),
            bare: Series::new(),
            peer: Tuning::ALL.map(|_| Series::new()),
            paced: Series::new(),
            peer_paced: Tuning::ALL.map(|_| Series::new()),
        }
    }
}

impl Report {
    /// There is no peer to measure.
    pub(crate) fn without_peer(&mut self, why: &str) {
        self.peer = Tuning::ALL.map(|_| Series::impossible(why.to_owned()));
        self.peer_paced = Tuning::ALL.map(|_| Series::impossible(why.to_owned()));
    }

    /// The figures that have a goal, then what they are made of.
    pub(crate) fn figures(&self) -> Vec<Figure> {
        let relay = self.relay.median(|drain| drain.events_per_s);
        let held = self.held.median(|drain| drain.events_per_s);
        let bare = self.bare.median(|rate| *rate);
        let [peer, peer_further] = self.peer.each_ref().map(|series| series.median(|rate| *rate));
        let p99 = self.paced.median(|paced| paced.p99_ms);
        let [peer_p99, peer_further_p99] =
            self.peer_paced.each_ref().map(|series| series.median(|paced| paced.p99_ms));
        let cost = |value: fn(&Drain) -> f64| self.relay.median(value);
        let [listed, further] = Tuning::ALL.map(Tuning::name);
        vec![
            higher("drain_vs_debezium", ratio(&relay, &peer), "ratio").goal(8.0).beside(listed),
            higher("drain_vs_bare_producer", ratio(&relay, &bare), "ratio").goal(0.6).beside(BARE),
            lower("ack_p99_ms", p99.clone(), "ms").goal(40.0),
            lower("ack_p99_vs_debezium", ratio(&p99, &peer_p99), "ratio").goal(0.2).beside(listed),
            lower("wal_bytes_per_event", cost(|drain| drain.wal_bytes_per_event), "B").goal(2.0),
            lower("dead_tuples_per_batch", cost(|drain| drain.dead_tuples_per_batch), "tuples").goal(1.0),
            higher("open_transaction_cost", ratio(&held, &relay), "ratio").goal(0.95),
            lower("rss_peak_mb", self.peak_megabytes(), "MB").goal(128.0),
            higher("drain_vs_debezium_further", ratio(&relay, &peer_further), "ratio").beside(further),
            lower("ack_p99_vs_debezium_further", ratio(&p99, &peer_further_p99), "ratio").beside(further),
            lower("updates_per_batch", cost(|drain| drain.updates_per_batch), "updates"),
            higher("relay_events_per_s", relay, RATE),
            higher("bare_producer_events_per_s", bare, RATE).beside(BARE),
            higher("debezium_events_per_s", peer, RATE).beside(listed),
            higher("debezium_further_events_per_s", peer_further, RATE).beside(further),
            lower("ack_p50_ms", self.paced.median(|paced| paced.p50_ms), "ms"),
            lower("debezium_ack_p99_ms", peer_p99, "ms").beside(listed),
            lower("debezium_further_ack_p99_ms", peer_further_p99, "ms").beside(further),
            higher("paced_commits_per_s", self.paced.median(|paced| paced.committed_per_s), RATE),
            higher("debezium_paced_commits_per_s", self.peer_paced_rate(), RATE).beside(listed),
        ]
    }

    fn peer_paced_rate(&self) -> Result<f64, String> {
        let [listed, _] = &self.peer_paced;
        listed.median(|paced| paced.committed_per_s)
    }

    /// Over every process of the relay that this run had.
    fn peak_megabytes(&self) -> Result<f64, String> {
        #[expect(clippy::cast_precision_loss, reason = "memory is far below 2^52 B")]
        let megabytes = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64 / MEGABYTE);
        let peaks = [
            self.relay.largest(|drain| megabytes(drain.peak_resident_bytes))?,
            self.held.largest(|drain| megabytes(drain.peak_resident_bytes))?,
            self.paced.largest(|paced| megabytes(paced.peak_resident_bytes))?,
        ];
        let peaks: Option<Vec<f64>> = peaks.into_iter().collect();
        let peak = peaks.and_then(|peaks| peaks.into_iter().max_by(f64::total_cmp));
        peak.ok_or_else(|| "this system does not tell a process's peak (VmHWM in /proc)".to_owned())
    }
}

fn lower(name: &'static str, value: Result<f64, String>, unit: &'static str) -> Figure {
    Figure::new(BENCH, name, value, unit, Better::Lower)
}

fn higher(name: &'static str, value: Result<f64, String>, unit: &'static str) -> Figure {
    Figure::new(BENCH, name, value, unit, Better::Higher)
}

fn ratio(of: &Result<f64, String>, to: &Result<f64, String>) -> Result<f64, String> {
    Ok(of.clone()? / to.clone()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_peer_the_other_figures_are_still_there() {
        let mut report = Report::default();
        report.without_peer("no network");
        let figures = report.figures();
        let json: Vec<String> = figures.iter().map(Figure::to_json).collect();
        assert!(json[0].contains(r#""value":null"#));
        assert!(json[13].contains("no network"), "{}", json[13]);
        assert_eq!(figures.len(), 20);
    }
}
