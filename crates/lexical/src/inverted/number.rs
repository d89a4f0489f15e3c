//! Numbers of as many bytes as they need: 7 bits each, the lowest first, the highest bit set on all
//! but the last.

pub(crate) fn write_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        #[expect(clippy::cast_possible_truncation, reason = "seven bits are taken")]
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    #[expect(clippy::cast_possible_truncation, reason = "seven bits are left")]
    bytes.push(number as u8);
}

/// The number at `at`, which moves behind it; `None` where bytes end before it does, or where it is
/// wider than 64 bits.
pub(crate) fn read_number(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        if shift == 63 && byte > 1 {
            return None;
        }
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}
