//! Files of a stream that is made here: whole, cut, changed, and longer than a row group.

mod broken;
mod groups;
mod stream;
mod whole;
