//! Names that an operator gives.

use crate::problem::Answer;

/// The longest name, in characters; the columns' CHECKs say the same.
const NAME_CHARACTERS_MAX: usize = 200;

/// Reads a name.
pub(super) fn name(name: &str) -> Answer<String> {
    Ok(waybill_operator::line("name", name, NAME_CHARACTERS_MAX)?)
}
