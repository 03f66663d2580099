//! Whole numbers in decimal, appended without the machinery of `fmt`: most fields of a store are numbers.

/// Digits and sign of the longest number.
const LENGTH_MAX: usize = 20;

/// Appends a number to a text.
#[inline]
pub(super) fn append(number: i64, text: &mut String) {
    digits(number, |digits| text.extend(digits.iter().map(|&digit| char::from(digit))));
}

/// Appends a number to bytes.
#[inline]
pub(super) fn append_bytes(number: i64, bytes: &mut Vec<u8>) {
    digits(number, |digits| bytes.extend_from_slice(digits));
}

#[inline]
fn digits(number: i64, take: impl FnOnce(&[u8])) {
    let mut buffer = [0; LENGTH_MAX];
    let mut begin = LENGTH_MAX;
    let mut rest = number.unsigned_abs();
    loop {
        begin -= 1;
        buffer[begin] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        begin -= 1;
        buffer[begin] = b'-';
    }
    take(&buffer[begin..]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    #[track_caller]
    fn check(number: i64) {
        let (mut text, mut bytes) = ("<".to_owned(), b"<".to_vec());
        super::append(number, &mut text);
        super::append_bytes(number, &mut bytes);
        assert_eq!((text.as_bytes(), text.as_str()), (bytes.as_slice(), format!("<{number}").as_str()));
    }

    #[test]
    fn the_ends_are_written_as_the_library_writes_them() {
        [0, 9, 10, -1, i64::MAX, i64::MIN].into_iter().for_each(check);
    }

    proptest! {
        #[test]
        fn any_number_is_written_as_the_library_writes_it(number in any::<i64>(), shift in 0..64) {
            check(number >> shift);
        }
    }
}
