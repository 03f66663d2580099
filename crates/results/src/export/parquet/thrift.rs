//! Structs in Thrift's compact protocol, as the headers and the footer of a Parquet file are written:
//! <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>. Nothing is read.

const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// A struct whose fields are added in the order of their numbers.
pub(super) struct Struct {
    bytes: Vec<u8>,
    last: u8,
}

impl Struct {
    pub(super) fn new() -> Self {
        Self { bytes: Vec::new(), last: 0 }
    }

    pub(super) fn i32(self, number: u8, value: i32) -> Self {
        self.field(number, I32, &zigzag(value.into()))
    }

    pub(super) fn i64(self, number: u8, value: i64) -> Self {
        self.field(number, I64, &zigzag(value))
    }

    pub(super) fn text(self, number: u8, value: &str) -> Self {
        self.field(number, BINARY, &binary(value))
    }

    pub(super) fn inner(self, number: u8, value: Self) -> Self {
        self.field(number, STRUCT, &value.ended())
    }

    pub(super) fn i32s(self, number: u8, values: &[i32]) -> Self {
        self.list(number, I32, values.iter().map(|value| zigzag((*value).into())).collect())
    }

    pub(super) fn texts(self, number: u8, values: &[&str]) -> Self {
        self.list(number, BINARY, values.iter().map(|value| binary(value)).collect())
    }

    pub(super) fn structs(self, number: u8, values: Vec<Self>) -> Self {
        self.list(number, STRUCT, values.into_iter().map(Self::ended).collect())
    }

    /// The bytes, with the end of the struct.
    pub(super) fn ended(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }

    /// Every list has its length apart, which a short one need not have.
    fn list(self, number: u8, element: u8, items: Vec<Vec<u8>>) -> Self {
        let mut bytes = vec![0xf0 | element];
        bytes.extend(varint(items.len() as u64));
        bytes.extend(items.concat());
        self.field(number, LIST, &bytes)
    }

    /// A field says by how much its number is higher than the last one's; no struct of Parquet leaves out fifteen.
    fn field(mut self, number: u8, kind: u8, value: &[u8]) -> Self {
        debug_assert!((1..16).contains(&(number - self.last)));
        self.bytes.push((number - self.last) << 4 | kind);
        self.bytes.extend(value);
        self.last = number;
        self
    }
}

/// Seven bits a byte, the lowest first; the eighth says that another one follows.
pub(super) fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

fn zigzag(value: i64) -> Vec<u8> {
    varint((value << 1 ^ value >> 63).cast_unsigned())
}

fn binary(value: &str) -> Vec<u8> {
    let mut bytes = varint(value.len() as u64);
    bytes.extend(value.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the protocol's description.
    #[test]
    fn numbers_are_as_short_as_they_can_be() {
        assert_eq!(varint(50_399), [0xdf, 0x89, 0x03]);
        assert_eq!([0, -1, 1, -2].map(zigzag), [[0], [1], [2], [3]]);
    }

    #[test]
    fn a_struct_is_its_fields_and_an_end() {
        let inner = Struct::new().text(2, "é");
        let bytes = Struct::new().i32(1, -1).inner(3, inner).i32s(4, &[1, 2]).ended();
        assert_eq!(bytes, [0x15, 1, 0x2c, 0x28, 2, 0xc3, 0xa9, 0, 0x19, 0xf5, 2, 2, 4, 0]);
    }
}
