//! From a schema's text to JSON, with bounds.
//!
//! Takes what the parser of Avro's Java library takes: JSON with comments, where a name that comes twice has its last
//! value. Deliberately absent: half a surrogate pair, which is no text (Java takes it).

use std::collections::HashMap;

use crate::error::SyntaxError;
use crate::json::Json;

/// The longest text of one schema, in bytes.
pub const SCHEMA_BYTES_MAX: usize = 16 * 1024 * 1024;

/// How many arrays and objects of a schema's text may lie in one another.
pub const JSON_DEPTH_MAX: usize = 256;

/// The longest number, in characters, and the longest name of a property, in UTF-16 units: as Java's parser has them.
const NUMBER_CHARACTERS_MAX: usize = 1_000;
const PROPERTY_NAME_UNITS_MAX: usize = 50_000;

/// An object with more properties than this looks its names up instead of searching them.
const SEARCHED_PROPERTIES_MAX: usize = 16;

/// Reads the one value that the text holds.
pub(crate) fn read(text: &str) -> Result<Json, SyntaxError> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    if text.len() > SCHEMA_BYTES_MAX {
        return Err(SyntaxError { line: 1, column: 1, problem: "the text is longer than 16 MiB" });
    }
    reader.skip_space()?;
    let value = reader.value()?;
    // Java trims what is left, and a comment is not trimmed.
    match text[reader.at..].find(|left: char| left > ' ') {
        None => Ok(value),
        Some(further) => {
            reader.at += further;
            Err(reader.error("something follows the schema"))
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn error(&self, problem: &'static str) -> SyntaxError {
        let before = &self.text[..self.at];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        SyntaxError {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            problem,
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) -> Result<(), SyntaxError> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.at += 1,
                Some(b'/') => self.skip_comment()?,
                _ => return Ok(()),
            }
        }
    }

    fn skip_comment(&mut self) -> Result<(), SyntaxError> {
        let rest = &self.text[self.at..];
        if rest.starts_with("//") {
            self.at += rest.find(['\n', '\r']).unwrap_or(rest.len());
            return Ok(());
        }
        let inside = rest.strip_prefix("/*").ok_or_else(|| self.error("a slash begins no value"))?;
        let length = inside.find("*/").ok_or_else(|| self.error("the comment does not end"))?;
        self.at += length + 4;
        Ok(())
    }

    fn value(&mut self) -> Result<Json, SyntaxError> {
        match self.peek() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => Ok(Json::String(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) => {
                for (word, value) in
                    [("null", Json::Null), ("true", Json::Bool(true)), ("false", Json::Bool(false))]
                {
                    if self.text[self.at..].starts_with(word) {
                        self.at += word.len();
                        return Ok(value);
                    }
                }
                Err(self.error("no value begins here"))
            }
            None => Err(self.error("the text ends where a value should be")),
        }
    }

    fn nested(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Json, SyntaxError>,
    ) -> Result<Json, SyntaxError> {
        self.depth += 1;
        if self.depth > JSON_DEPTH_MAX {
            return Err(self.error("more than 256 arrays and objects lie in one another"));
        }
        self.at += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn array(&mut self) -> Result<Json, SyntaxError> {
        let mut items = Vec::new();
        self.skip_space()?;
        if self.take(b']') {
            return Ok(Json::Array(items));
        }
        loop {
            self.skip_space()?;
            items.push(self.value()?);
            self.skip_space()?;
            if self.take(b']') {
                return Ok(Json::Array(items));
            }
            self.expect(b',', "neither a comma nor the end of the array")?;
        }
    }

    fn object(&mut self) -> Result<Json, SyntaxError> {
        let mut properties = Properties::default();
        self.skip_space()?;
        if self.take(b'}') {
            return Ok(Json::Object(properties.list));
        }
        loop {
            self.skip_space()?;
            if self.peek() != Some(b'"') {
                return Err(self.error("the name of a property should begin here"));
            }
            let name = self.string()?;
            if name.len() > PROPERTY_NAME_UNITS_MAX && name.encode_utf16().count() > PROPERTY_NAME_UNITS_MAX {
                return Err(self.error("the name of a property is longer than 50,000 characters"));
            }
            self.skip_space()?;
            self.expect(b':', "a colon should follow the name of a property")?;
            self.skip_space()?;
            properties.put(name, self.value()?);
            self.skip_space()?;
            if self.take(b'}') {
                return Ok(Json::Object(properties.list));
            }
            self.expect(b',', "neither a comma nor the end of the object")?;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8, problem: &'static str) -> Result<(), SyntaxError> {
        if self.take(byte) { Ok(()) } else { Err(self.error(problem)) }
    }

    fn string(&mut self) -> Result<String, SyntaxError> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let rest = &self.text[self.at..];
            let end = rest.find(|c: char| c == '"' || c == '\\' || c < ' ');
            let end = end.ok_or_else(|| self.error("the text does not end"))?;
            text.push_str(&rest[..end]);
            self.at += end + 1;
            match rest.as_bytes()[end] {
                b'"' => return Ok(text),
                b'\\' => text.push(self.escaped()?),
                _ => return Err(self.error("a control character has to be written as an escape")),
            }
        }
    }

    fn escaped(&mut self) -> Result<char, SyntaxError> {
        let escape = self.peek().ok_or_else(|| self.error("the text does not end"))?;
        let meant = match escape {
            b'"' | b'\\' | b'/' => char::from(escape),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.at += 1;
                return self.unicode_escape();
            }
            _ => return Err(self.error("JSON knows no such escape")),
        };
        self.at += 1;
        Ok(meant)
    }

    fn unicode_escape(&mut self) -> Result<char, SyntaxError> {
        let mut unit = self.four_digits()?;
        if (0xd800..0xdc00).contains(&unit) && self.text[self.at..].starts_with("\\u") {
            self.at += 2;
            let low = self.four_digits()?;
            if (0xdc00..0xe000).contains(&low) {
                unit = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
            }
        }
        char::from_u32(unit).ok_or_else(|| self.error("half of a surrogate pair is no character"))
    }

    fn four_digits(&mut self) -> Result<u32, SyntaxError> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4);
        let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let value = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let value = value.ok_or_else(|| self.error("four hexadecimal digits should follow \\u"))?;
        self.at += 4;
        Ok(value)
    }

    fn number(&mut self) -> Result<Json, SyntaxError> {
        let start = self.at;
        self.take(b'-');
        let first = self.peek();
        let digits = self.digits()?;
        if first == Some(b'0') && digits > 1 {
            return Err(self.error("a number does not begin with a zero"));
        }
        let mut integral = true;
        if self.take(b'.') {
            integral = false;
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            integral = false;
            if !self.take(b'+') {
                self.take(b'-');
            }
            self.digits()?;
        }
        let text = &self.text[start..self.at];
        if text.len() > NUMBER_CHARACTERS_MAX {
            return Err(self.error("the number is longer than 1,000 characters"));
        }
        Ok(match text.parse() {
            Ok(value) if integral => Json::Integer(value),
            _ if integral => Json::BigInteger(text.into()),
            // What is too large becomes infinite, as it does in Java; nothing else can fail here.
            _ => Json::Float(text.parse().unwrap_or(f64::INFINITY)),
        })
    }

    /// At least one; gives how many.
    fn digits(&mut self) -> Result<usize, SyntaxError> {
        let rest = &self.text.as_bytes()[self.at..];
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return Err(self.error("a digit is missing"));
        }
        self.at += count;
        Ok(count)
    }
}

/// The properties of one object, in the order in which each name came first.
#[derive(Default)]
struct Properties {
    list: Vec<(String, Json)>,
    /// Where each name stands, once searching would take long.
    places: HashMap<String, usize>,
}

impl Properties {
    fn put(&mut self, name: String, value: Json) {
        let place = if self.list.len() <= SEARCHED_PROPERTIES_MAX {
            self.list.iter().position(|(found, _)| *found == name)
        } else {
            if self.places.is_empty() {
                self.places = self.list.iter().zip(0..).map(|((name, _), at)| (name.clone(), at)).collect();
            }
            self.places.get(&name).copied()
        };
        match place {
            Some(place) => self.list[place].1 = value,
            None => {
                if !self.places.is_empty() {
                    self.places.insert(name.clone(), self.list.len());
                }
                self.list.push((name, value));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        read(text).map_or_else(|error| error.to_string(), |json| json.to_string())
    }

    #[test]
    fn values_are_read_as_they_were_written() {
        for text in ["null", "[true,false]", r#"{"b":1,"a":-2.5}"#, "[]", "{}", "[99999999999999999999]"] {
            assert_eq!(shown(text), text);
        }
        assert_eq!(shown(r#""\u00e9\ud83d\ude00\n\/""#), "\"é😀\\n/\"");
        assert_eq!(shown("[1e3, -0, 1E999]"), r#"[1000.0,0,"Infinity"]"#);
    }

    #[test]
    fn comments_are_space_and_a_name_that_comes_twice_has_its_last_value() {
        assert_eq!(shown("/* a */ { // b\n \"x\" : 1 , \"y\":2, \"x\":3 } \t"), r#"{"x":3,"y":2}"#);
        let many: Vec<String> = (0..100).map(|n| format!("\"p{}\":{n}", n % 50)).collect();
        let Ok(Json::Object(read)) = read(&format!("{{{}}}", many.join(","))) else { panic!("an object") };
        assert_eq!(read.len(), 50);
        assert_eq!(read[49], ("p49".to_owned(), Json::Integer(99)));
    }

    #[test]
    fn what_is_no_json_is_refused_with_its_place() {
        for (text, place) in [
            ("", "line 1, column 1"),
            ("[1,\n 2,]", "line 2, column 4"),
            ("[01]", "line 1, column 4"),
            ("[1.]", "line 1, column 4"),
            ("[.5]", "line 1, column 2"),
            ("[+1]", "line 1, column 2"),
            ("{\"a\" 1}", "line 1, column 6"),
            ("{a:1}", "line 1, column 2"),
            ("\"a\nb\"", "line 2, column 1"),
            ("\"\\x\"", "line 1, column 3"),
            ("\"\\ud800\"", "line 1, column 8"),
            ("\"\\u+123\"", "line 1, column 4"),
            ("\"abc", "line 1, column 2"),
            ("[1] 2", "line 1, column 5"),
            ("[1] // more", "line 1, column 5"),
            ("/* no end", "line 1, column 1"),
            ("nul", "line 1, column 1"),
        ] {
            assert!(shown(text).contains(place), "{text}: {}", shown(text));
        }
    }

    #[test]
    fn a_text_that_nests_without_end_is_refused_and_not_followed() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(&nested(JSON_DEPTH_MAX)).is_ok());
        assert!(shown(&nested(JSON_DEPTH_MAX + 1)).contains("256 arrays"));
        assert!(shown(&"[{\"a\":".repeat(1_000_000)).contains("256 arrays"));
    }
}
