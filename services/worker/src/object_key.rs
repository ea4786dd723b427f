//! The keys that candidates lie under.

use waybill_domain::ids::{ExportId, TenantId};
use waybill_objects::EXPORTS;

/// A key that no other attempt has: the fence keeps generations apart, the random part a generation's own repetitions.
pub(crate) fn new(tenant_id: &TenantId, export_id: &ExportId, fence: i64) -> String {
    format!("{EXPORTS}/{tenant_id}/{export_id}/{fence}-{}", uuid::Uuid::new_v4().simple())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_keys_of_one_attempt_differ_and_are_paths_as_they_stand() {
        let (tenant, export) =
            (TenantId::from_uuid(uuid::Uuid::nil()), ExportId::from_uuid(uuid::Uuid::nil()));
        let (first, second) = (new(&tenant, &export, 3), new(&tenant, &export, 3));
        assert_ne!(first, second);
        assert_eq!(object_store::path::Path::from(first.as_str()).as_ref(), first);
    }
}
