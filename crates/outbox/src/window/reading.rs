//! Which read finds a window's next rows.

use super::page::{PageEnd, PageLimits, Survey};
use super::position::Window;

/// A window of at most so many pages is read by xid to its end. Each such read looks at the whole window, so that a
/// larger one is cheaper by `seq`, which looks at every row of the table from one row of the window to the next. Before the
/// first one lies all that retention keeps, so that a survey finds it first.
pub const BY_XID_PAGES_MAX: i64 = 4;

impl PageLimits {
    /// The rows of a window that is read by xid.
    pub fn by_xid_rows_max(self) -> i64 {
        BY_XID_PAGES_MAX.saturating_mul(self.rows_max)
    }
}

/// How to find rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Through the index on xid: what the transactions between the two snapshots wrote, however few among however many.
    ByXid,
    /// Through the primary key, when most rows that follow belong to the window.
    BySeq {
        /// A row behind which none of the window lies: everything would be read for nothing.
        last_seq: i64,
    },
}

/// What a reader does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Read a page of the rows after `after_seq`.
    Read {
        /// How.
        method: Method,
        /// The last row that was read, or one between it and the next.
        after_seq: i64,
    },
    /// Count what is left, to know how to read it and from where.
    Survey {
        /// The last row that was read.
        after_seq: i64,
    },
    /// Every row of the window was read.
    End,
}

/// How far a window was read, which is ahead of how far it was acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// Nothing of the window that was not read lies at or before it.
    after_seq: i64,
    method: Option<Method>,
    is_guess: bool,
    ended: bool,
}

impl Reading {
    /// Reads a window from its first unacknowledged row on, of which nothing else is known: it is surveyed first. Rows of
    /// before a restore are read by `seq`: other rows may have their xids.
    pub fn of(window: &Window) -> Self {
        if window.is_resend() {
            let method = Some(Method::BySeq { last_seq: window.floor_seq });
            return Self { after_seq: window.after_seq, method, is_guess: false, ended: false };
        }
        Self { after_seq: window.after_seq, method: None, is_guess: false, ended: window.is_drained() }
    }

    /// Reads a window that was just opened, for which so many rows were counted shortly before. When they were few, its
    /// first page is taken by xid, and in the steady state that page is all.
    pub fn opened(window: &Window, pending: i64, limits: PageLimits) -> Self {
        let is_small = pending <= limits.by_xid_rows_max();
        Self { method: is_small.then_some(Method::ByXid), is_guess: is_small, ..Self::of(window) }
    }

    /// What to do next.
    pub fn step(&self) -> Step {
        match self.method {
            Some(_) | None if self.ended => Step::End,
            Some(method) => Step::Read { method, after_seq: self.after_seq },
            None => Step::Survey { after_seq: self.after_seq },
        }
    }

    /// Notes a page. A full first page of what was guessed to be small means that it may not be: how large it is decides
    /// the method.
    pub fn read(&mut self, page: PageEnd) {
        self.after_seq = page.last_seq.unwrap_or(self.after_seq);
        self.ended = !page.is_full;
        if std::mem::take(&mut self.is_guess) {
            self.method = None;
        }
    }

    /// Notes a survey of the rows after the last one that was read. What lies before the first of them was read, or is of
    /// another window.
    pub fn surveyed(&mut self, survey: Survey, limits: PageLimits) {
        let Survey { rows, first_seq, last_seq } = survey;
        self.method = Some(match last_seq {
            Some(last_seq) if rows > limits.by_xid_rows_max() => Method::BySeq { last_seq },
            Some(_) | None => Method::ByXid,
        });
        if let Some(first_seq) = first_seq {
            self.after_seq = self.after_seq.max(first_seq.saturating_sub(1));
        }
        self.ended = rows == 0;
    }

    /// Whether every row of the window was read.
    pub fn is_ended(&self) -> bool {
        self.ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::ParseSnapshotError;

    const LIMITS: PageLimits = PageLimits { rows_max: 2, bytes_max: 100 };

    fn window(from: &str, to: &str, after_seq: i64) -> Result<Window, ParseSnapshotError> {
        Ok(Window { from: from.parse()?, to: to.parse()?, after_seq, floor_seq: 0, resend_after_seq: None })
    }

    fn page(last_seq: i64, is_full: bool) -> PageEnd {
        PageEnd { last_seq: Some(last_seq), is_full }
    }

    fn survey(rows: i64, first_seq: i64) -> Survey {
        Survey { rows, first_seq: Some(first_seq), last_seq: Some(90) }
    }

    #[test]
    fn a_small_window_takes_one_read_by_xid() -> Result<(), ParseSnapshotError> {
        let mut reading = Reading::opened(&window("1:5:", "9:9:", 0)?, 1, LIMITS);
        assert_eq!(reading.step(), Step::Read { method: Method::ByXid, after_seq: 0 });
        reading.read(page(7, false));
        assert_eq!(reading.step(), Step::End);
        Ok(())
    }

    #[test]
    fn a_full_page_leads_to_a_survey_and_the_survey_to_the_method() -> Result<(), ParseSnapshotError> {
        let mut reading = Reading::opened(&window("1:5:", "9:9:", 0)?, 1, LIMITS);
        reading.read(page(7, true));
        assert_eq!(reading.step(), Step::Survey { after_seq: 7 });
        let few = LIMITS.by_xid_rows_max();
        reading.surveyed(survey(few, 8), LIMITS);
        assert_eq!(reading.step(), Step::Read { method: Method::ByXid, after_seq: 7 });
        reading.read(page(8, true));
        assert_eq!(
            reading.step(),
            Step::Read { method: Method::ByXid, after_seq: 8 },
            "one survey is enough"
        );
        reading.surveyed(survey(few + 1, 9), LIMITS);
        assert_eq!(reading.step(), Step::Read { method: Method::BySeq { last_seq: 90 }, after_seq: 8 });
        reading.read(page(9, true));
        assert_eq!(reading.step(), Step::Read { method: Method::BySeq { last_seq: 90 }, after_seq: 9 });
        Ok(())
    }

    #[test]
    fn a_window_for_which_many_rows_wait_is_surveyed_before_it_is_read() -> Result<(), ParseSnapshotError> {
        let reading = Reading::opened(&window("1:5:", "9:9:", 0)?, LIMITS.by_xid_rows_max() + 1, LIMITS);
        assert_eq!(reading.step(), Step::Survey { after_seq: 0 });
        Ok(())
    }

    #[test]
    fn a_large_window_is_read_from_its_first_row_and_not_from_where_the_table_begins()
    -> Result<(), ParseSnapshotError> {
        let large = LIMITS.by_xid_rows_max() + 1;
        let by_seq = Method::BySeq { last_seq: 90 };
        let mut opened = Reading::opened(&window("1:5:", "9:9:", 0)?, large, LIMITS);
        opened.surveyed(survey(large, 70), LIMITS);
        assert_eq!(opened.step(), Step::Read { method: by_seq, after_seq: 69 });
        let mut taken_over = Reading::of(&window("1:5:", "9:9:", 0)?);
        taken_over.surveyed(survey(large, 70), LIMITS);
        assert_eq!(taken_over.step(), Step::Read { method: by_seq, after_seq: 69 });
        Ok(())
    }

    #[test]
    fn a_large_window_that_was_read_in_part_goes_on_at_its_next_row() -> Result<(), ParseSnapshotError> {
        let large = LIMITS.by_xid_rows_max() + 1;
        let by_seq = Method::BySeq { last_seq: 90 };
        let mut reading = Reading::of(&window("1:5:", "9:9:", 74)?);
        reading.surveyed(survey(large, 75), LIMITS);
        assert_eq!(reading.step(), Step::Read { method: by_seq, after_seq: 74 });
        reading.read(page(75, true));
        reading.surveyed(survey(large, 80), LIMITS);
        assert_eq!(reading.step(), Step::Read { method: by_seq, after_seq: 79 }, "over other windows' rows");
        Ok(())
    }

    #[test]
    fn a_window_whose_rows_lie_behind_a_restore_begins_there() -> Result<(), ParseSnapshotError> {
        let start = Window { floor_seq: 4, ..window("1:5:", "9:9:", 4)? };
        let reading = Reading::opened(&start, 1, LIMITS);
        assert_eq!(reading.step(), Step::Read { method: Method::ByXid, after_seq: 4 });
        Ok(())
    }

    #[test]
    fn a_window_of_which_nothing_is_known_is_surveyed_and_a_drained_one_not_read()
    -> Result<(), ParseSnapshotError> {
        assert_eq!(Reading::of(&window("1:5:", "9:9:", 4)?).step(), Step::Survey { after_seq: 4 });
        assert_eq!(Reading::of(&window("9:9:", "9:9:", 0)?).step(), Step::End);
        let mut reading = Reading::of(&window("1:5:", "9:9:", 4)?);
        reading.surveyed(Survey { rows: 0, first_seq: None, last_seq: None }, LIMITS);
        assert_eq!(reading.step(), Step::End);
        Ok(())
    }
}
