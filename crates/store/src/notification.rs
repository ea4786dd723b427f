//! Notifications and the attempts to send them.
