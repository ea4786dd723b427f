//! Addresses of databases that differ in one part.

use url::Url;

/// The same server, another database.
#[must_use]
pub fn on_database(server: &Url, name: &str) -> Url {
    let mut url = server.clone();
    url.set_path(name);
    url
}

/// The same address without user and password.
///
/// # Panics
/// When the address is of a kind that never has a user.
#[must_use]
pub fn without_user(url: &Url) -> Url {
    let mut plain = url.clone();
    let emptied = plain.set_username("").and_then(|()| plain.set_password(None));
    emptied.expect("a postgres URL can be without a user");
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        text.parse().expect("a URL")
    }

    #[test]
    fn a_url_keeps_its_server_and_parameters_and_changes_its_database() {
        for (server, changed) in [
            (
                "postgres://a:b@host:5433/postgres?sslmode=require",
                "postgres://a:b@host:5433/mine?sslmode=require",
            ),
            ("postgres://host", "postgres://host/mine"),
        ] {
            assert_eq!(on_database(&url(server), "mine").as_str(), changed);
        }
    }

    #[test]
    fn a_url_without_its_user_has_no_password_either() {
        for named in ["postgres://a:b%40@host:1/x", "postgres://host:1/x"] {
            assert_eq!(without_user(&url(named)).as_str(), "postgres://host:1/x");
        }
    }
}
