//! Asking for memory before it is needed: what a device wrote, and what was touched some hundred I/Os ago, is in no cache of the
//! processor that looks at it next. The kernel's way through an I/O is long enough to drive out all else.
#![expect(unsafe_code, reason = "an instruction that takes an address")]

/// Length of a cache line on the processors of today; on those with longer ones a line is asked for twice.
const LINE_BYTES: usize = 64;

/// Asks for the memory of a slice, and does not wait for it. Nothing but time depends on it; where there is no such instruction,
/// nothing is done.
#[inline]
pub(crate) fn ask_for<T>(slice: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let begin = slice.as_ptr().cast::<i8>();
        for at in (0..size_of_val(slice)).step_by(LINE_BYTES) {
            // SAFETY: the address lies inside the slice, and the instruction reads and writes nothing that can be seen.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(begin.add(at)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, LINE_BYTES);
}
