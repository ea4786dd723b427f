//! Real processes, killed with SIGKILL at a named point or stopped past their lease: the rows of the failure matrix that
//! one export meets. Each test looks at the whole state afterwards.

mod accepting;
mod aftermath;
mod api;
mod clock;
mod consumer;
mod exports;
mod relay;
mod store;
mod worker;
