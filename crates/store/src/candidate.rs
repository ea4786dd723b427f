//! Candidates: the files that attempts write.
