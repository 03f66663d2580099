//! Rows of numbers whose types are known where they are made: an engine that sends their bytes need not look at each value to
//! find out what it is, which costs several times as much as to send it.

use crate::rows::{Cell, Kind, Rows};

/// A number as a column takes it.
pub trait Number: Copy {
    /// Kind of the column.
    const KIND: Kind;
    /// How many bytes it has.
    const BYTES: usize;

    /// As any value.
    fn cell(self) -> Cell<'static>;

    /// Its bytes, the most significant one first, into a place of as many.
    fn put(self, place: &mut [u8]);
}

macro_rules! number {
    ($number:ty, $kind:ident) => {
        impl Number for $number {
            const KIND: Kind = Kind::$kind;
            const BYTES: usize = size_of::<$number>();

            #[inline]
            fn cell(self) -> Cell<'static> {
                Cell::$kind(self)
            }

            #[inline]
            fn put(self, place: &mut [u8]) {
                place.copy_from_slice(&self.to_be_bytes());
            }
        }
    };
}

number!(i16, I16);
number!(i32, I32);
number!(i64, I64);
number!(f64, F64);

/// A row of numbers, none of which is missing.
pub trait NumberRow: Copy {
    /// Kinds of its columns.
    const KINDS: &'static [Kind];
    /// Bytes of all of its numbers.
    const BYTES: usize;

    /// Hands over one number after the other.
    fn each(self, taker: &mut impl NumberTaker);

    /// One number after the other, as any values.
    fn cells(self) -> impl ExactSizeIterator<Item = Cell<'static>>;

    /// Adds it to rows of any values.
    fn push_to(self, rows: &mut Rows);
}

/// A row of numbers on its way to an engine, beside rows of any values.
pub(crate) struct Numbers<R>(pub(crate) R);

/// Takes numbers.
pub trait NumberTaker {
    /// Takes one.
    fn take<N: Number>(&mut self, number: N);
}

impl<A: Number, B: Number, C: Number, D: Number> NumberRow for (A, B, C, D) {
    const KINDS: &'static [Kind] = &[A::KIND, B::KIND, C::KIND, D::KIND];
    const BYTES: usize = A::BYTES + B::BYTES + C::BYTES + D::BYTES;

    #[inline]
    fn each(self, taker: &mut impl NumberTaker) {
        taker.take(self.0);
        taker.take(self.1);
        taker.take(self.2);
        taker.take(self.3);
    }

    #[inline]
    fn cells(self) -> impl ExactSizeIterator<Item = Cell<'static>> {
        [self.0.cell(), self.1.cell(), self.2.cell(), self.3.cell()].into_iter()
    }

    #[inline]
    fn push_to(self, rows: &mut Rows) {
        rows.push_cells([self.0.cell(), self.1.cell(), self.2.cell(), self.3.cell()]);
    }
}
