//! Arrays as they lie on the wire: dimensions, then elements with NULL among them, the last dimension the fastest.
//!
//! The subscripts that an array begins at are read over: no format of files has them.

use super::{Fault, fixed};

/// More dimensions than Postgres makes an array of.
const DIMENSIONS_MAX: usize = 6;

const MALFORMED: Fault = Fault::Malformed("an array is none");

/// An array that is read element by element.
#[derive(Debug, Clone)]
pub(crate) struct Array<'a> {
    lengths: [u32; DIMENSIONS_MAX],
    dimensions: usize,
    elements: &'a [u8],
}

impl<'a> Array<'a> {
    /// Reads what stands before the elements (PostgreSQL, `array_send`).
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, Fault> {
        // Number of dimensions, whether there are NULLs, and the elements' type, which the column has said already.
        let (head, mut rest) = bytes.split_at_checked(12).ok_or(MALFORMED)?;
        let dimensions = i32::from_be_bytes(fixed(&head[..4])?);
        let dimensions = usize::try_from(dimensions).ok().filter(|count| *count <= DIMENSIONS_MAX);
        let dimensions = dimensions.ok_or(MALFORMED)?;
        let mut lengths = [0; DIMENSIONS_MAX];
        let mut total = usize::from(dimensions > 0);
        for length in &mut lengths[..dimensions] {
            // Its length, and the subscript that it begins at.
            let (of_one, after) = rest.split_at_checked(8).ok_or(MALFORMED)?;
            *length = u32::from_be_bytes(fixed(&of_one[..4])?);
            total = total.checked_mul(*length as usize).ok_or(MALFORMED)?;
            rest = after;
        }
        // Each has its length before it.
        let enough = total.checked_mul(4).is_some_and(|least| least <= rest.len());
        if !enough {
            return Err(MALFORMED);
        }
        // An empty `int2vector` has a dimension, of length 0; arrays without elements have none.
        let dimensions = if total == 0 { 0 } else { dimensions };
        Ok(Self { lengths, dimensions, elements: rest })
    }

    /// The length of each dimension; nothing for an array without elements.
    pub(crate) fn lengths(&self) -> &[u32] {
        &self.lengths[..self.dimensions]
    }

    /// The next element, or NULL.
    pub(crate) fn element(&mut self) -> Result<Option<&'a [u8]>, Fault> {
        let (length, rest) = self.elements.split_first_chunk().ok_or(MALFORMED)?;
        let length = i32::from_be_bytes(*length);
        if length == -1 {
            self.elements = rest;
            return Ok(None);
        }
        let length = usize::try_from(length).map_err(|_error| MALFORMED)?;
        let (element, rest) = rest.split_at_checked(length).ok_or(MALFORMED)?;
        self.elements = rest;
        Ok(Some(element))
    }

    /// After the last element: that nothing is left.
    pub(crate) fn end(&self) -> Result<(), Fault> {
        if self.elements.is_empty() { Ok(()) } else { Err(MALFORMED) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(lengths: &[i32]) -> Vec<u8> {
        let count = i32::try_from(lengths.len()).expect("few");
        let fixed = [count, 1, 23].into_iter().flat_map(i32::to_be_bytes);
        fixed.chain(lengths.iter().flat_map(|length| [*length, 1]).flat_map(i32::to_be_bytes)).collect()
    }

    #[test]
    fn elements_come_in_their_order_with_null_among_them() {
        let bytes = [head(&[1, 2]).as_slice(), &[0, 0, 0, 1, 7], &[255; 4]].concat();
        let mut array = Array::read(&bytes).expect("an array");
        assert_eq!(array.lengths(), [1, 2]);
        assert_eq!(array.element(), Ok(Some([7].as_slice())));
        assert!(array.end().is_err());
        assert_eq!(array.element(), Ok(None));
        assert_eq!(array.end(), Ok(()));
        assert_eq!(array.element(), Err(MALFORMED));
        for empty in [head(&[]), head(&[0])] {
            assert_eq!(Array::read(&empty).expect("an empty one").lengths(), [0; 0]);
        }
    }

    #[test]
    fn lengths_beyond_what_is_there_are_malformed() {
        for wrong in [head(&[i32::MAX; 6]), head(&[1; 7]), head(&[2]), head(&[-1]), vec![0; 11]] {
            assert!(matches!(Array::read(&wrong), Err(Fault::Malformed(_))), "{wrong:?}");
        }
    }
}
