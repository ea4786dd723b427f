//! Claims jobs under a fence and makes their files.
