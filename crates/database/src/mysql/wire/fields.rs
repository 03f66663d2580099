//! Reads the fields of a packet: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_data_types.html>.

use super::{DriverError, DriverResult};

const TRUNCATED: DriverError = DriverError::Protocol("a packet is too short");

/// The part of a packet that was not read yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    #[inline]
    pub(super) fn bytes(&mut self, count: usize) -> DriverResult<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count).ok_or(TRUNCATED)?;
        self.0 = rest;
        Ok(bytes)
    }

    #[inline]
    pub(super) fn array<const COUNT: usize>(&mut self) -> DriverResult<[u8; COUNT]> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(TRUNCATED)?;
        self.0 = rest;
        Ok(*bytes)
    }

    #[inline]
    pub(super) fn u8(&mut self) -> DriverResult<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    #[inline]
    pub(super) fn u16(&mut self) -> DriverResult<u16> {
        self.array().map(u16::from_le_bytes)
    }

    #[inline]
    pub(super) fn u32(&mut self) -> DriverResult<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// A number whose first byte gives its length.
    #[inline]
    pub(super) fn number(&mut self) -> DriverResult<u64> {
        match self.u8()? {
            byte @ 0..=0xfa => Ok(u64::from(byte)),
            0xfc => self.u16().map(u64::from),
            0xfd => self
                .array::<3>()
                .map(|[low, middle, high]| u64::from(u32::from_le_bytes([low, middle, high, 0]))),
            0xfe => self.array().map(u64::from_le_bytes),
            0xfb | 0xff => Err(DriverError::Protocol("a length is none")),
        }
    }

    /// A text behind its length.
    #[inline]
    pub(super) fn text(&mut self) -> DriverResult<&'a [u8]> {
        let length = self.number()?;
        self.bytes(usize::try_from(length).map_err(|_| TRUNCATED)?)
    }

    /// A text before a zero.
    pub(super) fn text_before_zero(&mut self) -> DriverResult<&'a [u8]> {
        let end = self.0.iter().position(|byte| *byte == 0).ok_or(TRUNCATED)?;
        let text = self.bytes(end)?;
        self.u8()?;
        Ok(text)
    }
}

/// Adds a number as [`Fields::number`] reads it.
#[inline]
pub(super) fn put_number(number: u64, bytes: &mut Vec<u8>) {
    let all = number.to_le_bytes();
    match number {
        0..=0xfa => bytes.push(all[0]),
        0xfb..=0xffff => {
            bytes.push(0xfc);
            bytes.extend_from_slice(&all[..2]);
        }
        0x1_0000..=0xff_ffff => {
            bytes.push(0xfd);
            bytes.extend_from_slice(&all[..3]);
        }
        _ => {
            bytes.push(0xfe);
            bytes.extend_from_slice(&all);
        }
    }
}
