//! Walks the tree of a TOML file and remembers what was wrong and where.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::FileProblem;

/// A table and the path to it.
pub(super) struct Keys<'a, 't> {
    pub(super) table: &'a DeTable<'t>,
    path: String,
    span: Range<usize>,
}

impl<'a, 't> Keys<'a, 't> {
    pub(super) fn root(table: &'a DeTable<'t>) -> Self {
        Self { table, path: String::new(), span: 0..0 }
    }

    fn path_to(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }
}

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found<T> {
    pub(super) value: T,
    pub(super) path: String,
    pub(super) span: Range<usize>,
}

impl<T> Found<T> {
    /// The place without the value.
    pub(super) fn named(&self) -> Found<String> {
        Found { value: String::new(), path: self.path.clone(), span: self.span.clone() }
    }
}

pub(super) struct Reader<'a> {
    text: &'a str,
    problems: Vec<FileProblem>,
}

/// The line of a byte, from 1.
pub(super) fn line_of(text: &str, byte: usize) -> usize {
    text.as_bytes().iter().take(byte).filter(|byte| **byte == b'\n').count() + 1
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, problems: Vec::new() }
    }

    /// Everything that was wrong, by line.
    pub(super) fn problems(mut self) -> Vec<FileProblem> {
        self.problems.sort_by_key(|problem| problem.line);
        self.problems
    }

    pub(super) fn add<T>(&mut self, at: &Found<T>, problem: &str) {
        let line = line_of(self.text, at.span.start);
        self.problems.push(FileProblem { line, key: at.path.clone(), problem: problem.to_owned() });
    }

    pub(super) fn add_missing(&mut self, keys: &Keys<'_, '_>, key: &str, problem: &str) {
        let line = line_of(self.text, keys.span.start);
        self.problems.push(FileProblem { line, key: keys.path_to(key), problem: problem.to_owned() });
    }

    /// Whether the text is right; otherwise that is remembered.
    pub(super) fn checked(
        &mut self,
        found: &Found<String>,
        is_right: impl Fn(&str) -> bool,
        problem: &str,
    ) -> bool {
        let right = is_right(&found.value);
        if !right {
            self.add(found, problem);
        }
        right
    }

    /// Refuses every key that is none of these.
    pub(super) fn known(&mut self, keys: &Keys<'_, '_>, known: &[&str]) {
        for (key, _) in keys.table.iter().filter(|(key, _)| !known.contains(&key.get_ref().as_ref())) {
            let at = Found { value: (), path: keys.path_to(key.get_ref()), span: key.span() };
            self.add(&at, &format!("is no key here; there are {}", known.join(", ")));
        }
    }

    pub(super) fn find<'k, 't>(keys: &Keys<'k, 't>, key: &str) -> Option<Found<&'k DeValue<'t>>> {
        let (_, value) = keys.table.iter().find(|(name, _)| name.get_ref().as_ref() == key)?;
        Some(Found { value: value.get_ref(), path: keys.path_to(key), span: value.span() })
    }

    /// A text. `None` where there is none; what is no text is remembered as wrong.
    pub(super) fn text(&mut self, keys: &Keys<'_, '_>, key: &str) -> Option<Found<String>> {
        let found = Self::find(keys, key)?;
        self.text_of(&found)
    }

    pub(super) fn required(&mut self, keys: &Keys<'_, '_>, key: &str, what: &str) -> Option<Found<String>> {
        if Self::find(keys, key).is_none() {
            self.add_missing(keys, key, &format!("is required: {what}"));
        }
        self.text(keys, key)
    }

    pub(super) fn text_of(&mut self, found: &Found<&DeValue<'_>>) -> Option<Found<String>> {
        let DeValue::String(text) = found.value else {
            self.add(found, "must be a text in quotes");
            return None;
        };
        Some(Found { value: text.to_string(), path: found.path.clone(), span: found.span.clone() })
    }

    pub(super) fn flag(&mut self, keys: &Keys<'_, '_>, key: &str) -> Option<bool> {
        let found = Self::find(keys, key)?;
        let DeValue::Boolean(flag) = found.value else {
            self.add(&found, "must be true or false");
            return None;
        };
        Some(*flag)
    }

    /// The table under a key, if there is one.
    pub(super) fn table<'k, 't>(&mut self, keys: &Keys<'k, 't>, key: &str) -> Option<Keys<'k, 't>> {
        let found = Self::find(keys, key)?;
        let DeValue::Table(table) = found.value else {
            self.add(&found, "must be a table");
            return None;
        };
        Some(Keys { table, path: found.path, span: found.span })
    }

    /// What a table holds under names of the file's own.
    pub(super) fn tables<'k, 't>(
        &mut self,
        keys: &Keys<'k, 't>,
        key: &str,
    ) -> Vec<(String, Found<&'k DeValue<'t>>)> {
        let Some(table) = self.table(keys, key) else { return Vec::new() };
        let entries = table.table.iter().map(|(name, value)| {
            let name = name.get_ref().to_string();
            let found = Found { value: value.get_ref(), path: table.path_to(&name), span: value.span() };
            (name, found)
        });
        entries.collect()
    }

    /// The items of an array that must not be empty.
    pub(super) fn items<'k, 't>(
        &mut self,
        found: &Found<&'k DeValue<'t>>,
        problem: &str,
    ) -> Vec<Found<&'k DeValue<'t>>> {
        let DeValue::Array(items) = found.value else {
            self.add(found, problem);
            return Vec::new();
        };
        if items.iter().next().is_none() {
            self.add(found, problem);
        }
        let item = |(n, value): (usize, &'k Spanned<DeValue<'t>>)| Found {
            value: value.get_ref(),
            path: format!("{}[{n}]", found.path),
            span: value.span(),
        };
        items.iter().enumerate().map(item).collect()
    }

    /// The same where every item is a text.
    pub(super) fn texts(&mut self, found: &Found<&DeValue<'_>>, problem: &str) -> Vec<Found<String>> {
        let items = self.items(found, problem);
        items.iter().filter_map(|item| self.text_of(item)).collect()
    }

    /// The keys of an item that is a table; `None` for any other.
    pub(super) fn keys<'k, 't>(found: &Found<&'k DeValue<'t>>) -> Option<Keys<'k, 't>> {
        let DeValue::Table(table) = found.value else { return None };
        Some(Keys { table, path: found.path.clone(), span: found.span.clone() })
    }
}
