//! The codes of commands that call the api. A refusal of the api itself keeps the api's own code.

/// No API key is configured.
pub(crate) const API_KEY_MISSING: &str = "api-key-missing";
/// `WAYBILL_API_URL` is no URL.
pub(crate) const API_URL_INVALID: &str = "api-url-invalid";
/// The api cannot be reached.
pub(crate) const API_UNREACHABLE: &str = "api-unreachable";
/// Something answered that is not Waybill's api.
pub(crate) const API_ANSWER_UNREADABLE: &str = "api-answer-unreadable";
/// A usable operator's key exists, so that another first one needs to be meant.
pub(crate) const OPERATOR_KEY_EXISTS: &str = "operator-key-exists";
/// A file that was downloaded is not the one that the export selected.
pub(crate) const DOWNLOAD_DIFFERS: &str = "download-differs";
/// The place for a download cannot be written.
pub(crate) const DOWNLOAD_NOT_WRITTEN: &str = "download-not-written";
/// Somebody was asked whether a command is meant, and did not say yes.
pub(crate) const NOT_CONFIRMED: &str = "not-confirmed";
/// The export that was waited for ended without a result.
pub(crate) const EXPORT_UNSUCCESSFUL: &str = "export-unsuccessful";
/// The export that was waited for did not end in the time given.
pub(crate) const WAIT_TIMED_OUT: &str = "wait-timed-out";
