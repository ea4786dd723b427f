//! The records: 15 fields, about 154 B each, and what a later reader makes of them.

use serde::{Deserialize, Serialize};

/// How many there are.
pub(crate) const COUNT: usize = 10_000;

/// As they are written.
pub(crate) const WRITER: &str = r#"{"type":"record","name":"Scan","namespace":"dev.waybill.bench","fields":[
    {"name":"scan_id","type":"string"},
    {"name":"parcel_id","type":"string"},
    {"name":"depot","type":"string"},
    {"name":"scanned_at","type":{"type":"long","logicalType":"timestamp-micros"}},
    {"name":"sequence","type":"long"},
    {"name":"kind","type":{"type":"enum","name":"Kind","symbols":["Arrived","Sorted","Loaded","Left","Lost"]}},
    {"name":"lane","type":"int"},
    {"name":"weight_grams","type":"int"},
    {"name":"length_m","type":"float"},
    {"name":"latitude","type":"double"},
    {"name":"longitude","type":"double"},
    {"name":"damaged","type":"boolean"},
    {"name":"note","type":["null","string"],"default":null},
    {"name":"seal","type":{"type":"fixed","name":"Seal","size":16}},
    {"name":"handled_by","type":"string"}]}"#;

/// As a later reader has it: in another order, one field renamed, two promoted, two gone, three new with defaults, a union
/// the other way round, and an enum that has lost a symbol.
pub(crate) const READER: &str = r#"{"type":"record","name":"Scan","namespace":"dev.waybill.bench","fields":[
    {"name":"sequence","type":"long"},
    {"name":"scan_id","type":"string"},
    {"name":"parcel_id","type":"string"},
    {"name":"operator","type":"string","aliases":["handled_by"]},
    {"name":"depot","type":"string"},
    {"name":"scanned_at","type":{"type":"long","logicalType":"timestamp-micros"}},
    {"name":"kind","type":{"type":"enum","name":"Kind","symbols":["Unknown","Left","Loaded","Sorted","Arrived"],
        "default":"Unknown"}},
    {"name":"lane","type":"long"},
    {"name":"weight_grams","type":"int"},
    {"name":"length_m","type":"double"},
    {"name":"latitude","type":"double"},
    {"name":"longitude","type":"double"},
    {"name":"note","type":["string","null"],"default":""},
    {"name":"priority","type":"int","default":3},
    {"name":"labels","type":{"type":"array","items":"string"},"default":[]},
    {"name":"customs","type":["null","string"],"default":null}]}"#;

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) enum Kind {
    Arrived,
    Sorted,
    Loaded,
    Left,
    Lost,
}

/// One as it is written.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Scan {
    pub(crate) scan_id: String,
    pub(crate) parcel_id: String,
    pub(crate) depot: String,
    pub(crate) scanned_at: i64,
    pub(crate) sequence: i64,
    pub(crate) kind: Kind,
    pub(crate) lane: i32,
    pub(crate) weight_grams: i32,
    pub(crate) length_m: f32,
    pub(crate) latitude: f64,
    pub(crate) longitude: f64,
    pub(crate) damaged: bool,
    pub(crate) note: Option<String>,
    pub(crate) seal: Seal,
    pub(crate) handled_by: String,
}

/// Sixteen bytes, which both libraries take as such.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seal(pub(crate) [u8; 16]);

impl Serialize for Seal {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Seal {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl serde::de::Visitor<'_> for Bytes {
            type Value = Seal;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("sixteen bytes")
            }

            fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Seal, E> {
                bytes.try_into().map(Seal).map_err(|_length| E::invalid_length(bytes.len(), &self))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "it is read whole, and only one field of it is asked for")]
pub(crate) enum LaterKind {
    Unknown,
    Left,
    Loaded,
    Sorted,
    Arrived,
}

/// One as a later reader has it.
#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "it is read whole, and only one field of it is asked for")]
pub(crate) struct LaterScan {
    pub(crate) sequence: i64,
    pub(crate) scan_id: String,
    pub(crate) parcel_id: String,
    pub(crate) operator: String,
    pub(crate) depot: String,
    pub(crate) scanned_at: i64,
    pub(crate) kind: LaterKind,
    pub(crate) lane: i64,
    pub(crate) weight_grams: i32,
    pub(crate) length_m: f64,
    pub(crate) latitude: f64,
    pub(crate) longitude: f64,
    pub(crate) note: Option<String>,
    pub(crate) priority: i32,
    pub(crate) labels: Vec<String>,
    pub(crate) customs: Option<String>,
}

/// The same ones each time.
pub(crate) fn scans() -> Vec<Scan> {
    let mut numbers = Numbers(20_261_201);
    (0..COUNT).map(|_| numbers.scan()).collect()
}

/// A generator whose quality does not matter (Knuth's MMIX).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 16
    }

    fn below(&mut self, end: i32) -> i32 {
        i32::try_from(self.next() % u64::from(end.unsigned_abs())).unwrap_or(0)
    }

    fn scan(&mut self) -> Scan {
        const PEOPLE: [&str; 4] = ["王小明", "María José Núñez", "Jan de Vries", "Ayşe Yılmaz"];
        let kinds = [Kind::Arrived, Kind::Sorted, Kind::Loaded, Kind::Left, Kind::Lost];
        let [a, b] = [self.next(), self.next()];
        let (low, high) = (a & 0xffff, b & 0xffff_ffff_ffff);
        let note = format!("gate {} opened late", self.below(100));
        let mut seal = [0; 16];
        seal.iter_mut().for_each(|byte| *byte = (self.next() & 0xff) as u8);
        Scan {
            scan_id: format!("{:08x}-{low:04x}-7{:03x}-8{:03x}-{high:012x}", a >> 16, a & 0xfff, b & 0xfff),
            parcel_id: format!("PRC-{:016}", b % 100_000_000),
            depot: format!("depot-{:03}", self.below(500)),
            scanned_at: 1_764_547_200_000_000 + i64::from(self.below(i32::MAX)),
            sequence: i64::from(self.below(2_000_000)),
            kind: kinds[usize::try_from(self.below(5)).unwrap_or(0)],
            lane: self.below(90),
            weight_grams: self.below(60_000),
            length_m: self.below(300) as f32 / 100.0,
            latitude: f64::from(self.below(180_000)) / 1000.0 - 90.0,
            longitude: f64::from(self.below(360_000)) / 1000.0 - 180.0,
            damaged: self.below(20) == 0,
            note: (self.below(2) == 0).then_some(note),
            seal: Seal(seal),
            handled_by: PEOPLE[usize::try_from(self.below(4)).unwrap_or(0)].to_owned(),
        }
    }
}
