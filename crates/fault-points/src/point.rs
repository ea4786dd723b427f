/// A place in the code between two steps that no transaction joins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Point {
    /// The api has written an intent with everything of its export and has not sent COMMIT yet.
    ApiCommitting,
    /// The api has committed an intent and has not answered yet.
    ApiCommitted,
    /// The relay's next window is on disk and no row of it was used yet.
    RelayOpened,
    /// The relay has handed rows to its producer and has heard of no acknowledgement yet.
    RelaySent,
    /// Kafka has acknowledged a page and the relay's cursor has not moved yet.
    RelayAcknowledged,
    /// The worker has claimed a job and has written nothing yet.
    WorkerClaimed,
    /// The worker's candidate is uploaded and verified and the completing transaction has not begun.
    WorkerVerified,
    /// The worker has locked its tenant and written its claim, which is not committed yet.
    WorkerClaiming,
    /// The upload of the worker's candidate has begun and has not ended.
    WorkerUploading,
    /// A candidate's object is deleted and its row does not say so yet.
    CollectorRemoved,
    /// A consumer's effect and position are committed and Kafka's own offset has not followed yet.
    ConsumerCommitted,
}

impl Point {
    /// Every point, in the order of an export's way.
    pub const ALL: &'static [Self] = &[
        Self::ApiCommitting,
        Self::ApiCommitted,
        Self::RelayOpened,
        Self::RelaySent,
        Self::RelayAcknowledged,
        Self::WorkerClaimed,
        Self::WorkerClaiming,
        Self::WorkerUploading,
        Self::WorkerVerified,
        Self::CollectorRemoved,
        Self::ConsumerCommitted,
    ];

    /// The name by which the environment arms this point.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ApiCommitting => "api.committing",
            Self::ApiCommitted => "api.committed",
            Self::RelayOpened => "relay.opened",
            Self::RelaySent => "relay.sent",
            Self::RelayAcknowledged => "relay.acknowledged",
            Self::WorkerClaimed => "worker.claimed",
            Self::WorkerClaiming => "worker.claiming",
            Self::WorkerUploading => "worker.uploading",
            Self::WorkerVerified => "worker.verified",
            Self::CollectorRemoved => "collector.removed",
            Self::ConsumerCommitted => "consumer.committed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Point;

    #[test]
    fn every_point_has_a_name_of_its_own() {
        let mut names: Vec<_> = Point::ALL.iter().map(|point| point.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Point::ALL.len());
    }
}
