//! Search documents, in their generation.
