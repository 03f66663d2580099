//! Times in which a load was not answered, as its charts mark them.

use load::Silences;
use record::Mark;

/// Those of recorders together, until the load ended. One that went on then has no end.
pub(crate) fn silence_marks(all: Vec<Silences>, load_end_ns: u64) -> Vec<Mark> {
    let mark = |(begin_ns, end_ns)| Mark::silence(begin_ns, (end_ns != load_end_ns).then_some(end_ns));
    Silences::common(all, load_end_ns).into_iter().map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_goes_on_when_the_load_ends_has_no_end() {
        let mut silences = Silences::default();
        (1..=100).chain(300..=400).for_each(|hundredth| silences.answered(hundredth * 10_000_000));
        let marks = silence_marks(vec![silences], 10_000_000_000);
        let times: Vec<_> = marks.iter().map(|mark| (mark.begin_s, mark.end_s)).collect();
        assert_eq!(times, [(1.0, Some(3.0)), (4.0, None)]);
    }
}
