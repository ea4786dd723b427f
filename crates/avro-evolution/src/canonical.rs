//! The parsing canonical form and its fingerprints (Avro 1.12.0, "Parsing Canonical Form for Schemas").
//!
//! Two schemas with one canonical form write and read the same bytes. It says nothing of defaults, aliases or logical types, so
//! it does not tell whether two schemas evolve alike.

use std::collections::HashSet;

use sha2::{Digest, Sha256};

use crate::json::quoted;
use crate::schema::{Kind, Schema, TypeId};

/// What the CRC of no bytes is, and its polynomial (Avro 1.12.0, "Schema Fingerprints").
const EMPTY: u64 = 0xc15d_213a_a4d7_a795;

impl Schema {
    /// The parsing canonical form.
    #[must_use]
    pub fn canonical_form(&self) -> String {
        let mut form = String::new();
        self.write_canonical(self.root(), &mut HashSet::new(), &mut form);
        form
    }

    /// The 64-bit Rabin fingerprint of the canonical form, by which Avro's single-object encoding names a schema.
    #[must_use]
    pub fn fingerprint_crc64(&self) -> u64 {
        crc64(self.canonical_form().as_bytes())
    }

    /// The SHA-256 of the canonical form.
    #[must_use]
    pub fn fingerprint_sha256(&self) -> [u8; 32] {
        Sha256::digest(self.canonical_form()).into()
    }

    fn write_canonical<'a>(&'a self, id: TypeId, known: &mut HashSet<&'a str>, form: &mut String) {
        let ty = &self[id];
        if let Some(named) = ty.named() {
            let name = quoted(named.name.full());
            if !known.insert(named.name.full()) {
                form.push_str(&name);
                return;
            }
            form.push_str(&format!("{{\"name\":{name},\"type\":\"{}\"", ty.kind.as_str()));
        }
        match &ty.kind {
            Kind::Union(branches) => {
                form.push('[');
                for (index, branch) in branches.iter().enumerate() {
                    form.push_str(if index == 0 { "" } else { "," });
                    self.write_canonical(*branch, known, form);
                }
                form.push(']');
            }
            Kind::Array(part) | Kind::Map(part) => {
                let is_array = matches!(ty.kind, Kind::Array(_));
                form.push_str(if is_array {
                    "{\"type\":\"array\",\"items\":"
                } else {
                    "{\"type\":\"map\",\"values\":"
                });
                self.write_canonical(*part, known, form);
                form.push('}');
            }
            Kind::Record(record) => {
                form.push_str(",\"fields\":[");
                for (index, field) in record.fields.iter().enumerate() {
                    form.push_str(if index == 0 { "" } else { "," });
                    form.push_str(&format!("{{\"name\":{},\"type\":", quoted(&field.name)));
                    self.write_canonical(field.ty, known, form);
                    form.push('}');
                }
                form.push_str("]}");
            }
            Kind::Enum(symbols) => {
                let symbols: Vec<String> = symbols.symbols.iter().map(|symbol| quoted(symbol)).collect();
                form.push_str(&format!(",\"symbols\":[{}]}}", symbols.join(",")));
            }
            Kind::Fixed(fixed) => form.push_str(&format!(",\"size\":{}}}", fixed.size)),
            Kind::Primitive(primitive) => form.push_str(&quoted(primitive.as_str())),
        }
    }
}

const TABLE: [u64; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut value = index as u64;
        let mut bit = 0;
        while bit < 8 {
            value = (value >> 1) ^ (EMPTY & (value & 1).wrapping_neg());
            bit += 1;
        }
        table[index] = value;
        index += 1;
    }
    table
};

fn crc64(bytes: &[u8]) -> u64 {
    let step = |crc: u64, byte: &u8| (crc >> 8) ^ TABLE[((crc ^ u64::from(*byte)) & 0xff) as usize];
    bytes.iter().fold(EMPTY, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(text: &str) -> String {
        Schema::parse(text).unwrap().canonical_form()
    }

    #[test]
    fn the_canonical_form_keeps_what_decides_about_bytes_and_nothing_else() {
        assert_eq!(form(r#"{"type":"int","logicalType":"date"}"#), "\"int\"");
        assert_eq!(
            form(
                r#"{"type":"record","doc":"d","aliases":["B"],"name":"A","namespace":"n","fields":[
                    {"name":"f","type":["null","A"],"default":null},
                    {"name":"g","type":{"type":"enum","name":"E","symbols":["X","Y"],"default":"X"}},
                    {"name":"h","type":{"items":{"size":4,"type":"fixed","name":"o.F"},"type":"array","x":1}}]}"#
            ),
            r#"{"name":"n.A","type":"record","fields":[{"name":"f","type":["null","n.A"]},{"name":"g","type":{"name":"n.E","type":"enum","symbols":["X","Y"]}},{"name":"h","type":{"type":"array","items":{"name":"o.F","type":"fixed","size":4}}}]}"#
        );
    }

    #[test]
    fn the_fingerprints_are_those_of_the_specification() {
        // The specification's own examples of this fingerprint are of these two primitives.
        assert_eq!(Schema::parse("\"int\"").unwrap().fingerprint_crc64(), 0x7275_d51a_3f39_5c8f);
        assert_eq!(Schema::parse("\"string\"").unwrap().fingerprint_crc64(), 0x8f01_4872_6345_03c7);
        let sha = Schema::parse("\"int\"").unwrap().fingerprint_sha256();
        assert_eq!(&sha[..4], &[0x3f, 0x2b, 0x87, 0xa9]);
    }
}
