//! Orders that hurt: every value that has ever broken a CSV file, the same ones on every machine.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// The whole data set, over all tenants.
pub(super) const ORDER_COUNT: usize = 200_000;

/// Whoever changes what is generated changes this, so that an older data set is made again.
pub(super) const SEED: u64 = 20_260_101;

/// The columns in the order in which a row gives them.
pub(super) const COLUMNS: &str =
    "order_id, tenant_id, customer, city, note, quantity, amount, ordered_at, shipped_at";

const CUSTOMERS: [&str; 12] = [
    "Acme, Inc.",
    "陳怡君",
    "山田 太郎",
    "O'Neill & Sons",
    "\"Quoted\" Ltd",
    "Zoë Ångström",
    "김민준",
    "Иван Петров",
    "محمد علي",
    "林家豪 (Jeffrey)",
    "株式会社サンプル",
    "Åsa\u{301} Combining",
];

const CITIES: [&str; 8] =
    ["臺北", "東京", "大阪", "São Paulo", "München", "Reykjavík", "New York, NY", "高雄"];

/// `None` is NULL, which must not come out like the empty text beside it.
const NOTES: [Option<&str>; 20] = [
    None,
    None,
    Some(""),
    Some("call before delivery"),
    Some("fragile, keep upright, \"this side up\""),
    Some("first line\nsecond line"),
    Some("first line\r\nsecond line\r\n"),
    Some("\"\""),
    Some(","),
    Some("請在下午兩點後送達，謝謝"),
    Some("玄関前に置いてください。\n電話は不要です"),
    Some("📦🚚 → 🏠 👩‍👩‍👧‍👦"),
    Some("=HYPERLINK(\"http://example.com\")"),
    Some("  spaces around  "),
    Some("tab\there"),
    Some("\\N is not NULL"),
    Some("back\\slash and 'single' quotes"),
    Some("zero\u{200b}width, e\u{301}, \u{feff}mark"),
    Some("𠮷野家 is outside of the basic plane"),
    Some("NULL"),
];

const AMOUNTS: [&str; 8] = [
    "0",
    "-0.01",
    "-1999.90",
    "99999999999999999999999999999999.99999999",
    "-123456789012345678901234567890.5",
    "0.000000000000000000000000000001",
    "1234567.890",
    "42",
];

const OFFSETS: [&str; 7] = ["+00:00", "+08:00", "+09:00", "-03:30", "+05:45", "-11:00", "+14:00"];

/// Makes the data set, row by row, as Postgres' text format for COPY.
pub(super) struct Orders<'a> {
    random: StdRng,
    tenants: &'a [String],
    next: usize,
}

impl<'a> Orders<'a> {
    /// Of these tenants, in random shares.
    pub(super) fn new(tenants: &'a [String]) -> Self {
        Self { random: StdRng::seed_from_u64(SEED), tenants, next: 0 }
    }

    fn one_of<'b>(&mut self, values: &[&'b str]) -> &'b str {
        values[self.random.random_range(0..values.len())]
    }

    /// Mostly small and positive, sometimes one of the hard ones, sometimes absent.
    fn amount(&mut self) -> Option<String> {
        match self.random.random_range(0..20) {
            0 => None,
            1..=3 => Some(self.one_of(&AMOUNTS).to_owned()),
            _ => {
                let cents = self.random.random_range(1..10_000_000);
                Some(format!("{}.{:02}", cents / 100, cents % 100))
            }
        }
    }

    fn time(&mut self) -> String {
        let (month, day) = (self.random.random_range(1..=12), self.random.random_range(1..=28));
        let (hour, minute) = (self.random.random_range(0..24), self.random.random_range(0..60));
        let micros = self.random.random_range(0..60_000_000);
        let offset = self.one_of(&OFFSETS);
        let (second, micros) = (micros / 1_000_000, micros % 1_000_000);
        format!("2025-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{micros:06}{offset}")
    }
}

impl Iterator for Orders<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        if self.next == ORDER_COUNT {
            return None;
        }
        self.next += 1;
        let tenant = self.random.random_range(0..self.tenants.len());
        let note = NOTES[self.random.random_range(0..NOTES.len())];
        let shipped = self.random.random_bool(0.8);
        let fields = [
            Some(self.next.to_string()),
            Some(self.tenants[tenant].clone()),
            Some(self.one_of(&CUSTOMERS).to_owned()),
            Some(self.one_of(&CITIES).to_owned()),
            note.map(ToOwned::to_owned),
            Some(self.random.random_range(-5..1000).to_string()),
            self.amount(),
            Some(self.time()),
            shipped.then(|| self.time()),
        ];
        let mut line = fields.map(|field| field.as_deref().map_or("\\N".into(), escape)).join("\t");
        line.push('\n');
        Some(line)
    }
}

/// Postgres' text format for COPY.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_orders_come_every_time_and_every_hard_value_is_among_them() {
        let tenants = ["a", "b", "c"].map(ToOwned::to_owned);
        let first: Vec<String> = Orders::new(&tenants).take(5_000).collect();
        assert_eq!(first, Orders::new(&tenants).take(5_000).collect::<Vec<_>>());
        let all = first.concat();
        let notes = NOTES.iter().flatten().map(|note| escape(note));
        let values = notes.chain(CUSTOMERS.iter().chain(&CITIES).chain(&AMOUNTS).map(|value| escape(value)));
        for value in values {
            assert!(all.contains(&format!("\t{value}\t")), "{value:?} is missing");
        }
        assert!(all.contains("\t\\N\t"));
    }
}
