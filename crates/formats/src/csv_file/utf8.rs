//! Whether a stream of bytes is UTF-8, whatever its pieces are cut like.

/// The bytes of a character that a piece's end cut.
#[derive(Debug, Default)]
pub(super) struct Utf8 {
    cut: [u8; 4],
    length: usize,
}

impl Utf8 {
    /// Takes the next bytes. Whether all bytes so far are UTF-8, or its beginning.
    pub(super) fn update(&mut self, piece: &[u8]) -> bool {
        let mut rest = piece;
        while self.length > 0 {
            let Some((byte, after)) = rest.split_first() else { return true };
            // A character that is not whole yet has at most three bytes.
            self.cut[self.length] = *byte;
            rest = after;
            match std::str::from_utf8(&self.cut[..=self.length]) {
                Ok(_) => self.length = 0,
                Err(error) if error.error_len().is_none() => self.length += 1,
                Err(_) => return false,
            }
        }
        let Err(error) = std::str::from_utf8(rest) else { return true };
        let cut = &rest[error.valid_up_to()..];
        if error.error_len().is_some() {
            return false;
        }
        self.cut[..cut.len()].copy_from_slice(cut);
        self.length = cut.len();
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Utf8;

    /// All pieces are, and nothing is left over.
    fn is_utf8(pieces: &[&[u8]]) -> bool {
        let mut utf8 = Utf8::default();
        pieces.iter().all(|piece| utf8.update(piece)) && utf8.length == 0
    }

    #[test]
    fn what_is_no_character_is_noticed_across_pieces() {
        assert!(is_utf8(&[b"\xe8", b"\xa8", b"", b"\x82x"]));
        for wrong in
            [&[&b"\xe8"[..], b"x"][..], &[b"\xff"], &[b"\xed", b"\xa0\x80"], &[b"\xf4\x90", b"\x80\x80"]]
        {
            assert!(!is_utf8(wrong), "{wrong:?}");
        }
    }

    proptest! {
        #[test]
        fn the_answer_is_the_librarys_however_the_bytes_are_cut(
            bytes in prop_oneof![any::<String>().prop_map(String::into_bytes), prop::collection::vec(any::<u8>(), 0..9)],
            piece_bytes in 1_usize..4,
        ) {
            let pieces: Vec<&[u8]> = bytes.chunks(piece_bytes).collect();
            prop_assert_eq!(is_utf8(&pieces), std::str::from_utf8(&bytes).is_ok());
        }
    }
}
