//! One number of 64 bits from two, so that sums of them tell sets of rows apart. Not for secrets: nobody is expected to seek
//! a collision.

/// Numbers whose bits are those of π behind its point, made odd: what is mixed differs from them by chance in all bits.
pub(crate) const SALTS: [u64; 4] =
    [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7345, 0xa409_3822_299f_31d1, 0x082e_fa98_ec4e_6c89];

/// Both halves of the product, folded, as wyhash does: one multiplication spreads each bit over all of them.
#[inline]
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}
