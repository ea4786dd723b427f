//! One thing, measured once a round.

use anyhow::Result;

use crate::progress::Progress;

/// What every round gave, or why it is of no use.
#[derive(Debug)]
pub(crate) struct Series<T> {
    rounds: Result<Vec<T>, String>,
}

impl<T> Series<T> {
    pub(crate) fn new() -> Self {
        Self { rounds: Ok(Vec::new()) }
    }

    /// That cannot be measured here at all.
    pub(crate) fn impossible(why: String) -> Self {
        Self { rounds: Err(why) }
    }

    /// Measures one more round. What has failed once is not tried again: a median of some rounds is none.
    pub(crate) async fn measure(&mut self, progress: &Progress, work: impl AsyncFnOnce() -> Result<T>) {
        if let Ok(rounds) = &mut self.rounds {
            match work().await {
                Ok(round) => rounds.push(round),
                Err(error) => {
                    progress.say(&format!("failed: {error:#}"));
                    let why = format!("{error:#}");
                    self.rounds = Err(why.lines().next().unwrap_or_default().to_owned());
                }
            }
        }
    }

    /// The median of what `value` takes from each round.
    pub(crate) fn median(&self, value: impl Fn(&T) -> f64) -> Result<f64, String> {
        let mut values: Vec<f64> = self.rounds.as_ref().map_err(Clone::clone)?.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().ok_or_else(|| "it was never measured".to_owned())
    }

    /// The largest of them; none when a round has none.
    pub(crate) fn largest(&self, value: impl Fn(&T) -> Option<f64>) -> Result<Option<f64>, String> {
        let values: Option<Vec<f64>> =
            self.rounds.as_ref().map_err(Clone::clone)?.iter().map(value).collect();
        Ok(values.and_then(|values| values.into_iter().max_by(f64::total_cmp)))
    }
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    #[tokio::test]
    async fn the_median_is_one_that_was_measured() {
        let (mut series, progress) = (Series::new(), Progress::new());
        for value in [3.0, 1.0, 2.0] {
            series.measure(&progress, async || Ok(value)).await;
        }
        assert_eq!(series.median(|value| *value), Ok(2.0));
        assert_eq!(series.largest(|value| Some(*value)), Ok(Some(3.0)));
        assert_eq!(series.largest(|value| Some(*value).filter(|value| *value > 1.0)), Ok(None));
    }

    #[tokio::test]
    async fn one_failure_spoils_the_series_and_says_why() {
        let (mut series, progress) = (Series::new(), Progress::new());
        series.measure(&progress, async || Ok(1.0)).await;
        series.measure(&progress, async || bail!("no broker\nand much more")).await;
        series.measure(&progress, async || Ok(1.0)).await;
        assert_eq!(series.median(|value| *value), Err("no broker".to_owned()));
    }
}
