//! What the api refused, as a command's error.

use std::fmt::Write;

use reqwest::StatusCode;
use serde_json::Value;

use super::codes;
use crate::exit::{CommandError, Exit};

/// The error of an answer with this status and body.
pub(super) fn of(status: StatusCode, body: &str) -> CommandError {
    let problem: Value = serde_json::from_str(body).unwrap_or_default();
    let text = |member: &str| problem[member].as_str();
    let Some(code) = text("code") else {
        let message = format!("the api's address answered {status}, and not as Waybill does");
        return CommandError::new(exit(status), codes::API_ANSWER_UNREADABLE, message);
    };
    let mut message = format!("{}: {}", text("title").unwrap_or(code), text("detail").unwrap_or_default());
    let errors = problem["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
    // One bad field is in the detail already.
    for error in errors.iter().filter(|_| errors.len() > 1) {
        let (field, problem) = (&error["field"], &error["problem"]);
        // Writing to a string cannot fail.
        let _ = write!(
            message,
            "\n  {} {}",
            field.as_str().unwrap_or_default(),
            problem.as_str().unwrap_or_default()
        );
    }
    for wrong in list(&problem["problems"]) {
        let _ =
            write!(message, "\n  line {}: {} {}", wrong["line"], said(wrong, "key"), said(wrong, "problem"));
    }
    let mut hint = text("next").unwrap_or_default().to_owned();
    for finding in list(&problem["findings"]).filter(|finding| finding["level"] == "fail") {
        let _ = write!(message, "\n  {}: {}", said(finding, "subject"), said(finding, "message"));
        let _ = write!(hint, "\n    {}", said(finding, "hint"));
    }
    CommandError::new(exit(status), code, message).with_hint(hint)
}

fn list(array: &Value) -> impl Iterator<Item = &Value> {
    array.as_array().into_iter().flatten()
}

fn said<'a>(object: &'a Value, member: &str) -> &'a str {
    object[member].as_str().unwrap_or_default()
}

/// What a script sees of a status. Only what says that something behind the api is away may work later; any other
/// failure of the server is as it is, however often it is asked.
fn exit(status: StatusCode) -> Exit {
    match status.as_u16() {
        404 => Exit::NotFound,
        401 | 403 | 409 | 410 | 422 | 429 => Exit::Refused,
        400 | 413 | 415 => Exit::Usage,
        502..=504 => Exit::Unavailable,
        _ => Exit::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_has_its_exit_code() {
        let number = |status: u16| exit(StatusCode::from_u16(status).unwrap()).number();
        assert_eq!([404, 401, 403, 409, 410, 422, 429, 400, 405].map(number), [3, 4, 4, 4, 4, 4, 4, 2, 1]);
        assert_eq!(
            [500, 501, 502, 503, 504, 505].map(number),
            [1, 1, 5, 5, 5, 1],
            "only a dependency that is away may be there later"
        );
    }

    #[test]
    fn a_problem_keeps_its_code_its_fields_and_its_remedy() {
        let body = r#"{"code": "request-invalid", "title": "The request is not valid", "detail": "2 fields.",
            "next": "Correct them.", "errors": [{"field": "name", "problem": "is long"}, {"field": "q", "problem": "is odd"}]}"#;
        let error = of(StatusCode::BAD_REQUEST, body);
        assert_eq!((error.exit, error.code.as_str()), (Exit::Usage, "request-invalid"));
        assert_eq!(error.message, "The request is not valid: 2 fields.\n  name is long\n  q is odd");
        assert_eq!(error.hint.as_deref(), Some("Correct them."));
    }

    #[test]
    fn an_answer_of_something_else_is_not_taken_for_ours() {
        let error = of(StatusCode::BAD_GATEWAY, "<html>");
        assert_eq!((error.exit, error.code.as_str()), (Exit::Unavailable, "api-answer-unreadable"));
    }
}
