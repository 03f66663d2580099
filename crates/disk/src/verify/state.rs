//! What one page must hold, in eight bytes.

/// Most writes of unknown end that a page can have since it was last written for certain.
const DOUBT_MAX: u64 = 255;
/// Most reads of a page that are in flight at once.
const READERS_MAX: u64 = 255;

const DOUBT: Bits = Bits { at: 32, bits: 8 };
const CHECKS: Bits = Bits { at: 40, bits: 8 };
const READERS: Bits = Bits { at: 48, bits: 8 };
const WRITING: Bits = Bits { at: 56, bits: 1 };
const ZERO: Bits = Bits { at: 57, bits: 1 };
const DAMAGED: Bits = Bits { at: 58, bits: 1 };

/// The issued version (32 bits) and what else must be known of a page. A page is latched as in a server's buffer pool: it has
/// one writer or several readers, so that a read is never of a page that is being written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PageState(u64);

/// Memory that a verifying load has for each page.
pub(crate) const STATE_BYTES: u64 = size_of::<PageState>() as u64;

#[derive(Clone, Copy)]
struct Bits {
    at: u32,
    bits: u32,
}

impl Bits {
    fn mask(self) -> u64 {
        ((1 << self.bits) - 1) << self.at
    }
}

impl PageState {
    #[inline]
    fn get(self, bits: Bits) -> u64 {
        (self.0 & bits.mask()) >> bits.at
    }

    #[inline]
    fn set(&mut self, bits: Bits, value: u64) {
        debug_assert!(value <= bits.mask() >> bits.at);
        self.0 = (self.0 & !bits.mask()) | value << bits.at;
    }

    /// The version of the last write that was sent.
    #[inline]
    pub(crate) fn issued(self) -> u64 {
        self.0 & u64::from(u32::MAX)
    }

    /// The oldest version that it may hold.
    #[inline]
    pub(crate) fn floor(self) -> u64 {
        self.issued() - self.get(DOUBT)
    }

    /// Whether a write's end is not known, so that what it left may be of either version, or of both.
    #[inline]
    pub(crate) fn is_in_doubt(self) -> bool {
        self.get(DOUBT) > 0
    }

    /// Whether it was not written since the file grew, and must be zero.
    #[inline]
    pub(crate) fn must_be_zero(self) -> bool {
        self.get(ZERO) == 1
    }

    /// How often it was checked; 255 is that or more.
    pub(crate) fn checks(self) -> u64 {
        self.get(CHECKS)
    }

    /// Whether damage of it was told that lasts until it is written again.
    pub(crate) fn is_damaged(self) -> bool {
        self.get(DAMAGED) == 1
    }

    pub(crate) fn tell_damaged(&mut self) {
        self.set(DAMAGED, 1);
    }

    /// Whether it can be written now: nothing of it is in flight, and another version can be counted.
    #[inline]
    pub(crate) fn can_be_written(self) -> bool {
        self.get(WRITING) == 0
            && self.get(READERS) == 0
            && self.get(DOUBT) < DOUBT_MAX
            && self.issued() < u64::from(u32::MAX)
    }

    /// Whether it is never written again: too many of its writes failed, or it was written as often as can be counted.
    pub(crate) fn is_spent(self) -> bool {
        self.get(DOUBT) == DOUBT_MAX || self.issued() == u64::from(u32::MAX)
    }

    #[inline]
    pub(crate) fn can_be_read(self) -> bool {
        self.get(WRITING) == 0 && self.get(READERS) < READERS_MAX
    }

    /// Takes it for a writer, before a version is given out.
    #[inline]
    pub(crate) fn latch_to_write(&mut self) {
        debug_assert!(self.can_be_written());
        self.set(WRITING, 1);
    }

    /// The version that is written now.
    #[inline]
    pub(crate) fn issue(&mut self) -> u64 {
        debug_assert_eq!(self.get(WRITING), 1);
        self.0 += 1;
        self.set(DOUBT, self.get(DOUBT) + 1);
        self.issued()
    }

    /// Its write was acknowledged.
    #[inline]
    pub(crate) fn written(&mut self) {
        self.0 &= !(DOUBT.mask() | WRITING.mask() | ZERO.mask() | DAMAGED.mask());
    }

    /// Its write failed: both what it held and what was written are right from now on.
    pub(crate) fn unwritten(&mut self) {
        self.set(WRITING, 0);
    }

    #[inline]
    pub(crate) fn begin_read(&mut self) {
        self.set(READERS, self.get(READERS) + 1);
    }

    #[inline]
    pub(crate) fn end_read(&mut self) {
        self.set(READERS, self.get(READERS) - 1);
    }

    #[inline]
    pub(crate) fn checked(&mut self) {
        if self.get(CHECKS) < 255 {
            self.0 += 1 << CHECKS.at;
        }
    }

    /// The file was cut off before it and grew again.
    pub(crate) fn cut_off(&mut self) {
        debug_assert!(self.get(WRITING) == 0 && self.get(READERS) == 0);
        self.set(DOUBT, 0);
        self.set(DAMAGED, 0);
        self.set(ZERO, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_takes_eight_bytes() {
        assert_eq!(STATE_BYTES, 8);
    }

    #[test]
    fn a_failed_write_makes_both_versions_right_until_one_succeeds() {
        let mut state = PageState::default();
        for ends_well in [true, false, false, true] {
            state.latch_to_write();
            assert!(!state.can_be_read() && !state.can_be_written());
            state.issue();
            if ends_well {
                state.written()
            } else {
                state.unwritten()
            }
            let range = (state.floor(), state.issued());
            match state.issued() {
                1 => assert_eq!(range, (1, 1)),
                2 => assert_eq!(range, (1, 2)),
                3 => assert_eq!(range, (1, 3)),
                _ => assert_eq!(range, (4, 4)),
            }
        }
    }

    #[test]
    fn readers_keep_a_writer_away_and_checks_are_counted_to_255() {
        let mut state = PageState::default();
        for _ in 0..READERS_MAX {
            assert!(state.can_be_read());
            state.begin_read();
        }
        assert!(!state.can_be_read() && !state.can_be_written());
        for _ in 0..READERS_MAX {
            state.end_read();
            state.checked();
            state.checked();
        }
        assert!(state.can_be_written());
        assert_eq!((state.checks(), state.issued()), (255, 0));
    }

    #[test]
    fn a_page_whose_writes_all_fail_is_left_alone_in_the_end() {
        let mut state = PageState::default();
        while state.can_be_written() {
            state.latch_to_write();
            state.issue();
            state.unwritten();
        }
        assert!(state.is_spent() && state.can_be_read());
        assert_eq!((state.floor(), state.issued()), (0, 255));
    }

    #[test]
    fn a_page_that_was_cut_off_is_zero_until_it_is_written() {
        let mut state = PageState::default();
        state.latch_to_write();
        state.issue();
        state.written();
        state.cut_off();
        assert!(state.must_be_zero());
        state.latch_to_write();
        assert_eq!(state.issue(), 2, "versions go on, so that what was cut off cannot pass for new");
        state.written();
        assert!(!state.must_be_zero());
    }
}
