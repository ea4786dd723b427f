//! Rows 1, 4 and 6 to 9, as whoever asks for an export meets them: however the api, its callers or its database fail, an
//! export is accepted whole and once, or nothing of it is there and the caller is told to come again.

mod conflict;
mod disk;
mod full;
mod gone;
mod killed;
mod outage;
mod read_only;
mod stored;
