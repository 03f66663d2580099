//! Which stale reads tell that a write is gone, and which only that somebody lagged behind.
//!
//! A stale read shows a lost update if the write that should have been read was the last one that can have been done when the read
//! was answered, and nobody read it any more since the read began. Where another write was under way, or came soon after, the
//! update may have been replaced unseen, and the read is called what it is for certain: stale. With such a write all those are gone that
//! were sent and acknowledged since the value that was read was there, and that nobody saw any more either.

use std::collections::{BTreeSet, HashMap};

use record::register::{AnomalyKind, Operation};

use super::Found;
use super::chain::Link;
use super::clusters::{Clusters, Fate};
use super::sweep::{Known, Stale, sweep};

/// A write that was done.
#[derive(Clone, Copy, Debug)]
struct Done<'a> {
    write: &'a Operation,
    cluster: usize,
    /// From when on it is known to have been done.
    there_ns: i64,
    /// The last moment from which on it was seen, or replaced by a write that was sent then.
    seen_ns: Option<u64>,
    /// The latest such time of those that began before it, and whose that is; the same of all others than that one.
    before: [Option<(i64, usize)>; 2],
}

/// Passes over a register: each leaves out what the ones before it found to be gone.
const PASSES_MAX: usize = 8;

/// What is known of each cluster once the writes that are gone are left out, and the clusters of these. Tells both, and the reads that
/// are stale then.
pub(super) fn swept<'a>(
    clusters: &Clusters<'a>,
    links: &[Link<'a>],
    found: &mut Found,
) -> (Vec<Known<'a>>, BTreeSet<usize>) {
    let mut lost = BTreeSet::new();
    for pass in 1.. {
        let (known, stale) = sweep(clusters, &lost, found);
        let before = lost.len();
        if pass < PASSES_MAX {
            add_lost(clusters, (links, &known), (&stale, &mut lost), found);
        }
        if lost.len() == before {
            stale.into_iter().for_each(|stale| stale.tell(found));
            return (known, lost);
        }
    }
    unreachable!("the last pass finds nothing more")
}

/// Tells what stale reads show to be gone.
fn add_lost<'a>(
    clusters: &Clusters<'a>,
    (links, known): (&[Link<'a>], &[Known<'a>]),
    (stale, lost): (&[Stale<'a>], &mut BTreeSet<usize>),
    found: &mut Found,
) {
    if stale.is_empty() {
        return;
    }
    let done = done(clusters, (links, known), lost);
    found.steps += done.len() as u64;
    let mut told_ns = i64::MIN;
    for stale in stale {
        found.steps += 1;
        let Some(last) = missing(clusters, known, &done, stale) else { continue };
        let Some(there) = known[stale.cluster].there else { continue };
        let read_ns = stale.read.invoked_ns;
        // The register went back behind all of these. What an earlier read showed is not looked at again.
        for gone in done[..=last].iter().rev() {
            found.steps += 1;
            let sent_ns = gone.write.invoked_ns as i64;
            if sent_ns <= there.ns.max(told_ns) {
                break;
            }
            let is_gone = clusters.all[gone.cluster].fate() == Fate::Acknowledged
                && gone.write.ended_ns() < read_ns
                && gone.seen_ns.is_none_or(|seen_ns| seen_ns < read_ns);
            if is_gone && gone.cluster != stale.cluster && lost.insert(gone.cluster) {
                let shown = [there.operation, Some(gone.write), Some(stale.read)];
                found.add(AnomalyKind::LostUpdate, shown.into_iter().flatten().copied());
            }
        }
        told_ns = told_ns.max(done[last].write.invoked_ns as i64);
    }
}

fn done<'a>(
    clusters: &Clusters<'a>,
    (links, known): (&[Link<'a>], &[Known<'a>]),
    lost: &BTreeSet<usize>,
) -> Vec<Done<'a>> {
    let mut replaced_ns: HashMap<usize, u64> = HashMap::new();
    for link in links {
        let ns = replaced_ns.entry(link.replaced).or_default();
        *ns = link.write.invoked_ns.max(*ns);
    }
    let effective = clusters.all.iter().enumerate();
    let effective = effective.filter(|(cluster, of)| of.is_effective() && !lost.contains(cluster));
    let mut done: Vec<Done<'a>> = effective
        .filter_map(|(cluster, of)| {
            let there_ns = known[cluster].there.map_or(i64::MAX, |there| there.ns);
            let read_ns = of.reads.iter().map(|read| read.ended_ns()).max();
            let seen_ns = read_ns.max(replaced_ns.get(&cluster).copied());
            Some(Done { write: of.write?, cluster, there_ns, seen_ns, before: [None; 2] })
        })
        .collect();
    done.sort_by_key(|done| done.write.invoked_ns);
    let mut before = [None; 2];
    for one in &mut done {
        one.before = before;
        let this = Some((one.there_ns, one.cluster));
        before = if this > before[0] { [this, before[0]] } else { [before[0], before[1].max(this)] };
    }
    done
}

/// The number of the last write that can have been done when a stale read was answered, if the read shows it to be gone.
fn missing(
    clusters: &Clusters<'_>,
    known: &[Known<'_>],
    done: &[Done<'_>],
    stale: &Stale<'_>,
) -> Option<usize> {
    let read = stale.read;
    let begun = done.partition_point(|done| done.write.invoked_ns <= read.ended_ns());
    let number = done[..begun].iter().rposition(|done| done.cluster != stale.cluster)?;
    let last = &done[number];
    let sent_ns = last.write.invoked_ns as i64;
    let of = &clusters.all[last.cluster];
    let is_acknowledged = of.fate() == Fate::Acknowledged && last.write.ended_ns() < read.invoked_ns;
    let follows = known[stale.cluster].there.is_some_and(|there| there.ns < sent_ns);
    let other = last.before.into_iter().flatten().find(|(_, cluster)| *cluster != stale.cluster);
    let is_alone = other.is_none_or(|(there_ns, _)| there_ns < sent_ns);
    let is_seen_later = last.seen_ns.is_some_and(|seen_ns| seen_ns >= read.invoked_ns);
    (is_acknowledged && follows && is_alone && !is_seen_later).then_some(number)
}
