//! Media types as far as an envelope looks at them (RFC 2046; RFC 9110, section 8.3.1).

/// A media type: what it is, and its parameters unread but for the charset.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MediaType<'a> {
    type_name: &'a str,
    subtype: &'a str,
    parameters: &'a str,
}

impl<'a> MediaType<'a> {
    /// `None`: there is no type and subtype in it.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let (essence, parameters) = text.split_once(';').unwrap_or((text, ""));
        let (type_name, subtype) = essence.trim().split_once('/')?;
        let token = |text: &str| !text.is_empty() && text.bytes().all(is_token);
        (token(type_name) && token(subtype)).then_some(Self { type_name, subtype, parameters })
    }

    /// Type and subtype in lower case.
    pub(crate) fn essence(&self) -> String {
        format!("{}/{}", self.type_name, self.subtype).to_ascii_lowercase()
    }

    /// Whether a record of it is in structured mode (Kafka Protocol Binding, section 3): in whatever format.
    pub(crate) fn is_cloud_events(&self) -> bool {
        const PREFIX: &str = "cloudevents";
        let begins = self.subtype.get(..PREFIX.len());
        self.type_name.eq_ignore_ascii_case("application")
            && begins.is_some_and(|begins| begins.eq_ignore_ascii_case(PREFIX))
    }

    /// Whether it is one event in JSON.
    pub(crate) fn is_cloud_events_json(&self) -> bool {
        self.essence() == "application/cloudevents+json"
    }

    /// Whether the data is JSON (JSON Event Format, section 3.1.1).
    pub(crate) fn is_json(&self) -> bool {
        let subtype = self.subtype.to_ascii_lowercase();
        subtype == "json" || subtype.ends_with("+json")
    }

    /// Whether a text of it is UTF-8 when it says nothing else.
    pub(crate) fn is_utf8(&self) -> bool {
        let charset = self.parameters.split(';').find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"'))
        });
        charset
            .is_none_or(|charset| ["utf-8", "us-ascii"].iter().any(|utf8| charset.eq_ignore_ascii_case(utf8)))
    }
}

/// RFC 9110, section 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::MediaType;

    #[test]
    fn types_are_compared_without_regard_to_case_and_parameters() {
        let json = MediaType::parse("Application/CloudEvents+JSON; charset=UTF-8").unwrap();
        assert!(json.is_cloud_events() && json.is_cloud_events_json() && json.is_json() && json.is_utf8());
        assert_eq!(json.essence(), "application/cloudevents+json");
        let batch = MediaType::parse("application/cloudevents-batch+json").unwrap();
        assert!(batch.is_cloud_events() && !batch.is_cloud_events_json());
        let other = MediaType::parse("text/plain;format=flowed; charset=\"utf-16\"").unwrap();
        assert!(!other.is_cloud_events() && !other.is_json() && !other.is_utf8());
        assert!(!MediaType::parse("application/cloud").unwrap().is_cloud_events());
        assert!(!MediaType::parse("text/cloudevents+json").unwrap().is_cloud_events());
    }

    #[test]
    fn a_text_without_type_and_subtype_is_none() {
        for none in
            ["", "xyz", "/", "text/", "/plain", "text /plain", "text/plain text", ";charset=utf-8", "文/字"]
        {
            assert!(MediaType::parse(none).is_none(), "{none}");
        }
    }
}
