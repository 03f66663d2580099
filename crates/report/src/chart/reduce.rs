//! Long series, made short without losing an extreme.

/// The points of a line that is at most `columns` wide: where several fall into one column, only the lowest and the
/// highest of them, in their order. A gap (no value) stays a gap: each line returned is unbroken.
pub(crate) fn lines(points: &[(f64, Option<f64>)], columns: usize) -> Vec<Vec<(f64, f64)>> {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Vec::new() };
    let reduce = points.len() > columns * 2;
    let width = (last.0 - first.0).max(f64::MIN_POSITIVE) / columns as f64;
    let column = |x: f64| (((x - first.0) / width) as usize).min(columns - 1);
    let mut lines = Vec::new();
    let mut line: Vec<(f64, f64)> = Vec::new();
    let mut cell: Vec<(f64, f64)> = Vec::new();
    for &(x, value) in points {
        let moved = cell.first().is_some_and(|&(begin, _)| !reduce || column(begin) != column(x));
        if moved || value.is_none() {
            line.extend(extremes(&cell));
            cell.clear();
        }
        match value {
            Some(value) => cell.push((x, value)),
            None => lines.push(std::mem::take(&mut line)),
        }
    }
    line.extend(extremes(&cell));
    lines.push(line);
    lines.retain(|line| !line.is_empty());
    lines
}

/// The lowest and the highest point in the order in which they come; one point if they are the same.
fn extremes(cell: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let by_value = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
    let (Some(&low), Some(&high)) = (cell.iter().min_by(by_value), cell.iter().max_by(by_value)) else {
        return Vec::new();
    };
    match low.0.total_cmp(&high.0) {
        std::cmp::Ordering::Less => vec![low, high],
        std::cmp::Ordering::Equal => vec![low],
        std::cmp::Ordering::Greater => vec![high, low],
    }
}

/// Index ranges that part `count` rows of a table into at most `most` of about the same length.
pub(crate) fn spans(count: usize, most: usize) -> Vec<std::ops::Range<usize>> {
    let length = count.div_ceil(most).max(1);
    (0..count).step_by(length).map(|begin| begin..(begin + length).min(count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_gap_breaks_the_line() {
        let points = [(0.0, Some(1.0)), (1.0, Some(2.0)), (2.0, None), (3.0, Some(4.0))];
        assert_eq!(lines(&points, 10), [vec![(0.0, 1.0), (1.0, 2.0)], vec![(3.0, 4.0)]]);
        assert!(lines(&[], 10).is_empty());
    }

    proptest! {
        #[test]
        fn extremes_survive_and_the_length_is_bounded(
            values in prop::collection::vec(prop::option::weighted(0.95, 0.0f64..1e6), 1..3000),
            columns in 1usize..400,
        ) {
            let points: Vec<(f64, Option<f64>)> =
                values.iter().enumerate().map(|(second, value)| (second as f64, *value)).collect();
            let reduced: Vec<(f64, f64)> = lines(&points, columns).concat();
            let extreme = |values: &mut dyn Iterator<Item = f64>| {
                values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
            };
            let before = extreme(&mut values.iter().flatten().copied());
            let after = extreme(&mut reduced.iter().map(|point| point.1));
            prop_assert_eq!(before, after);
            let gaps = values.iter().filter(|value| value.is_none()).count();
            prop_assert!(reduced.len() <= (columns + gaps) * 2);
            prop_assert!(reduced.is_sorted_by(|a, b| a.0 < b.0));
            for (x, value) in reduced {
                prop_assert_eq!(values[x as usize], Some(value));
            }
        }

        #[test]
        fn spans_cover_every_row_once(count in 0usize..5000, most in 1usize..200) {
            let spans = spans(count, most);
            prop_assert!(spans.len() <= most);
            prop_assert_eq!(spans.into_iter().flatten().collect::<Vec<_>>(), (0..count).collect::<Vec<_>>());
        }
    }
}
