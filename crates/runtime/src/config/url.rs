use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A `postgres://` address. It may hold a password, so neither its `Debug`, `Display` nor serialised form shows one.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(String);

impl DatabaseUrl {
    /// Takes an address as it is; it is parsed when it is connected to.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self(url.into())
    }

    /// The address with its password, for connecting.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The address without user and password.
    #[must_use]
    pub fn without_user(&self) -> Self {
        match self.parts() {
            Some((scheme, _, rest)) => Self(format!("{scheme}{rest}")),
            None => self.clone(),
        }
    }

    /// This address's user and password at another's host, port and database.
    #[must_use]
    pub fn at(&self, place: &Self) -> Self {
        let place = place.without_user();
        match (self.parts(), place.parts()) {
            (Some((_, Some(user), _)), Some((scheme, _, rest))) => Self(format!("{scheme}{user}@{rest}")),
            _ => place,
        }
    }

    /// The database's name, if the address gives one.
    pub(crate) fn database(&self) -> Option<&str> {
        let (place, _) = self.0.split_once('?').unwrap_or((&self.0, ""));
        let (_, name) = place.split_once("://")?.1.split_once('/')?;
        (!name.is_empty()).then_some(name)
    }

    /// Scheme with `://`, user and password, and the rest.
    fn parts(&self) -> Option<(&str, Option<&str>, &str)> {
        let authority = self.0.find("://")? + 3;
        let (scheme, after) = self.0.split_at(authority);
        let end = after.find(['/', '?']).unwrap_or(after.len());
        Some(match after[..end].rfind('@') {
            Some(at) => (scheme, Some(&after[..at]), &after[at + 1..]),
            None => (scheme, None, after),
        })
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What is no address may still hold a password somewhere: nothing of it is shown.
        let Some((scheme, user, rest)) = self.parts() else {
            return f.write_str("[not a postgres:// address]");
        };
        f.write_str(scheme)?;
        if let Some(user) = user {
            match user.split_once(':') {
                Some((name, _)) => write!(f, "{name}:[redacted]@")?,
                None => write!(f, "{user}@")?,
            }
        }
        let (place, parameters) =
            rest.split_once('?').map_or((rest, None), |(place, rest)| (place, Some(rest)));
        f.write_str(place)?;
        for (n, parameter) in parameters.into_iter().flat_map(|parameters| parameters.split('&')).enumerate()
        {
            f.write_str(if n == 0 { "?" } else { "&" })?;
            match parameter.split_once('=') {
                Some((name, _)) if name.contains("password") => write!(f, "{name}=[redacted]")?,
                _ => f.write_str(parameter)?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for DatabaseUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DatabaseUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::DatabaseUrl;

    #[test]
    fn no_password_is_shown_wherever_it_stands() {
        for (url, shown) in [
            ("postgres://u:p%40ss@h:5432/d", "postgres://u:[redacted]@h:5432/d"),
            ("postgres://u:p@ss@h/d", "postgres://u:[redacted]@h/d"),
            (
                "postgres://h/d?password=p&sslmode=require",
                "postgres://h/d?password=[redacted]&sslmode=require",
            ),
            ("host=h password=p", "[not a postgres:// address]"),
            ("postgres://u@h1,h2/d", "postgres://u@h1,h2/d"),
        ] {
            assert_eq!(DatabaseUrl::new(url).to_string(), shown);
        }
    }

    #[test]
    fn a_user_can_be_taken_to_another_place() {
        let admin = DatabaseUrl::new("postgres://admin:p@one:1/a?sslmode=require");
        let place = DatabaseUrl::new("postgres://x@two:2/b");
        assert_eq!(admin.at(&place).expose(), "postgres://admin:p@two:2/b");
        assert_eq!((admin.database(), DatabaseUrl::new("postgres://one?a=/b").database()), (Some("a"), None));
        assert_eq!(admin.without_user().expose(), "postgres://one:1/a?sslmode=require");
    }
}
