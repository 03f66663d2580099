//! Which of two moments is meant where clocks went back and showed an hour twice.

/// Events of a tag that are this much earlier than one before came late; those that are still earlier follow a change of the clocks.
const LATE_NS_MAX: i64 = 60_000_000_000;

/// What came before an event in its file.
#[derive(Clone, Debug, Default)]
pub(super) struct Earlier {
    /// By the number of the tag.
    tags: Vec<Option<Tag>>,
    /// The event before, of whatever tag.
    file_ns: Option<i64>,
}

/// The last event of a tag, and how it follows those before.
#[derive(Clone, Copy, Debug)]
struct Tag {
    ns: i64,
    step_ns: i64,
    /// The time between two events, where the last two are as far apart as the two before.
    period_ns: Option<i64>,
}

impl Earlier {
    /// Adds an event.
    pub(super) fn add(&mut self, tag: u32, ns: i64) {
        let tag = tag as usize;
        if self.tags.len() <= tag {
            self.tags.resize(tag + 1, None);
        }
        let before = self.tags[tag];
        let step_ns = before.map_or(0, |before| ns.saturating_sub(before.ns));
        let is_regular =
            |before: &Tag| step_ns > 0 && step_ns.abs_diff(before.step_ns) <= step_ns.unsigned_abs() / 10;
        let period_ns = before.as_ref().filter(|before| is_regular(before)).map(|_| step_ns);
        self.tags[tag] = Some(Tag { ns, step_ns, period_ns });
        self.file_ns = Some(ns);
    }

    /// The moment of an event of this tag, if it has one already: the lines of a tag ascend, so one that goes back by more than a
    /// minute is of the second hour, and so is one that a regular tag has no other time for. A new tag goes on from the line before.
    /// None where neither moment follows.
    pub(super) fn choose(&self, [first_ns, second_ns]: [i64; 2], tag: Option<u32>) -> Option<i64> {
        let tag = tag.and_then(|tag| self.tags.get(tag as usize).copied().flatten());
        let Some(before_ns) = tag.map(|tag| tag.ns).or(self.file_ns) else { return Some(first_ns) };
        if second_ns.saturating_add(LATE_NS_MAX) < before_ns {
            return None;
        }
        let Some(tag) = tag else {
            let is_second = second_ns.abs_diff(before_ns) < first_ns.abs_diff(before_ns);
            return Some(if is_second { second_ns } else { first_ns });
        };
        let goes_back = first_ns.saturating_add(LATE_NS_MAX) < tag.ns;
        let is_due = |ns: i64, period_ns: i64| {
            ns.abs_diff(tag.ns.saturating_add(period_ns)) <= period_ns.unsigned_abs() / 10
        };
        let skips_first = tag
            .period_ns
            .is_some_and(|period_ns| is_due(second_ns, period_ns) && !is_due(first_ns, period_ns));
        Some(if goes_back || skips_first { second_ns } else { first_ns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE_NS: i64 = 60_000_000_000;
    const HOUR_NS: i64 = 60 * MINUTE_NS;

    /// Events `(tag, minutes since 00:00 as clocks show them)`, of which those from 02:00 to 03:00 were shown twice; their moments in
    /// minutes, `None` for one that cannot be placed.
    fn placed(events: &[(u32, i64)]) -> Vec<Option<i64>> {
        let mut earlier = Earlier::default();
        let mut known: Vec<u32> = Vec::new();
        events
            .iter()
            .map(|&(tag, shown)| {
                let of = known.contains(&tag).then_some(tag);
                let ns = match shown {
                    ..120 => Some(shown * MINUTE_NS),
                    120..180 => earlier.choose([shown * MINUTE_NS, shown * MINUTE_NS + HOUR_NS], of),
                    _ => Some(shown * MINUTE_NS + HOUR_NS),
                }?;
                known.push(tag);
                earlier.add(tag, ns);
                Some(ns / MINUTE_NS)
            })
            .collect()
    }

    fn minutes(events: &[(u32, i64)]) -> Vec<i64> {
        placed(events).into_iter().map(|minutes| minutes.unwrap_or(-1)).collect()
    }

    /// The second hour of a tag was laid onto its first where both were as near to the event before.
    #[test]
    fn a_tag_that_goes_back_is_in_the_second_hour() {
        let one = [110, 130, 160, 130, 160, 190];
        let of = |tag: u32| one.map(|shown| (tag, shown));
        let right = [110, 130, 160, 190, 220, 250];
        assert_eq!(minutes(&of(0)), right);
        assert_eq!(minutes(&[of(0), of(1)].concat()), [right, right].concat(), "tag after tag");
        let mixed: Vec<(u32, i64)> = one.iter().flat_map(|shown| [(0, *shown), (1, *shown)]).collect();
        assert_eq!(minutes(&mixed), right.iter().flat_map(|at| [*at, *at]).collect::<Vec<_>>(), "in turn");
    }

    #[test]
    fn an_hourly_tag_shows_the_same_time_twice() {
        assert_eq!(minutes(&[(0, 30), (0, 90), (0, 150), (0, 150), (0, 210)]), [30, 90, 150, 210, 270]);
        // Changes within a minute are not an hour apart.
        assert_eq!(minutes(&[(0, 119), (0, 120), (0, 120), (0, 121), (0, 121)]), [119, 120, 120, 121, 121]);
    }

    #[test]
    fn a_new_tag_goes_on_from_the_line_before() {
        assert_eq!(minutes(&[(0, 150), (0, 130), (1, 131), (0, 140)]), [150, 190, 191, 200]);
        assert_eq!(minutes(&[(0, 125), (1, 126)]), [125, 126]);
    }

    #[test]
    fn what_neither_hour_allows_is_not_placed() {
        // Newest first, and a tag whose begin lies in the hour behind one that ended after it.
        assert_eq!(placed(&[(0, 190), (0, 160)]), [Some(250), None]);
        assert_eq!(placed(&[(0, 110), (0, 190), (1, 130)]), [Some(110), Some(250), None]);
    }
}
