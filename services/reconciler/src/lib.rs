//! Finds work that nothing would move and puts it in motion again.
