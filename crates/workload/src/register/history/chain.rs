//! What each write replaced, where reads tell it: a chain from the first value to the last one, of which each value has one before it
//! and one behind it.

use std::collections::{BTreeSet, HashMap};
use std::ops::Bound::Excluded;

use record::register::{AnomalyKind, Did, Operation};

use super::Found;
use super::clusters::{Clusters, FIRST, Fate};
use super::sweep::Known;

/// One link: a write replaced another one's value, as a read tells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link<'a> {
    pub(super) replaced: usize,
    by: usize,
    pub(super) write: &'a Operation,
    told_by: &'a Operation,
}

/// Tells what forks, what is in the chain twice, and what was acknowledged and is not in it; the last are added to those that are lost.
pub(super) fn check(
    clusters: &Clusters<'_>,
    (links, known): (&[Link<'_>], &[Known<'_>]),
    lost: &mut BTreeSet<usize>,
    found: &mut Found,
) {
    let mut behind: HashMap<usize, Link<'_>> = HashMap::new();
    let mut remaining = acknowledged(clusters, lost);
    for &link in links {
        match behind.get(&link.replaced) {
            Some(other) => {
                found.add(
                    AnomalyKind::Fork,
                    [other.write, other.told_by, link.write, link.told_by].map(|of| *of),
                );
            }
            None => _ = behind.insert(link.replaced, link),
        }
        tell_missing(clusters, known, link, (&mut remaining, lost), found);
    }
}

/// The link of each value. A write that has two was done twice.
pub(super) fn links<'a>(clusters: &Clusters<'a>, found: &mut Found) -> Vec<Link<'a>> {
    let mut links = Vec::new();
    for (by, cluster) in clusters.all.iter().enumerate().skip(FIRST + 1) {
        let Some(write) = cluster.write else { continue };
        let mut first: Option<Link<'a>> = None;
        for &told_by in &cluster.reads {
            found.steps += 1;
            let Did::Read { replaced: Some(replaced), .. } = told_by.did else { continue };
            let Some(replaced) = clusters.of_value(replaced) else { continue };
            match first {
                _ if replaced == by => {
                    found.add(AnomalyKind::DuplicateWrite, [*write, *told_by]);
                    break;
                }
                None => first = Some(Link { replaced, by, write, told_by }),
                Some(first) if first.replaced == replaced => {}
                Some(first) => {
                    found.add(AnomalyKind::DuplicateWrite, [*write, *first.told_by, *told_by]);
                    break;
                }
            }
        }
        links.extend(first);
    }
    links
}

/// When writes were sent that were acknowledged and are not known to be lost, with their clusters.
fn acknowledged(clusters: &Clusters<'_>, lost: &BTreeSet<usize>) -> BTreeSet<(i64, usize)> {
    let sent = |(cluster, of): (usize, &super::clusters::Cluster<'_>)| {
        let write = of.write.filter(|_| of.fate() == Fate::Acknowledged && !lost.contains(&cluster))?;
        Some((write.invoked_ns as i64, cluster))
    };
    clusters.all.iter().enumerate().filter_map(sent).collect()
}

/// Tells writes that were sent when the one that was replaced was there, and acknowledged before the one that replaced it was sent: the
/// register did not hold them.
fn tell_missing(
    clusters: &Clusters<'_>,
    known: &[Known<'_>],
    link: Link<'_>,
    (remaining, lost): (&mut BTreeSet<(i64, usize)>, &mut BTreeSet<usize>),
    found: &mut Found,
) {
    let Some(there) = known[link.replaced].there else { return };
    let sent_ns = link.write.invoked_ns;
    if there.ns >= sent_ns as i64 {
        return;
    }
    let between = (Excluded((there.ns, usize::MAX)), Excluded((sent_ns as i64, 0)));
    let mut missing = Vec::new();
    for &(begun_ns, cluster) in remaining.range(between) {
        found.steps += 1;
        let Some(write) = clusters.all[cluster].write else { continue };
        if write.ended_ns() < sent_ns && cluster != link.by && cluster != link.replaced {
            missing.push((begun_ns, cluster, write));
        }
    }
    for (begun_ns, cluster, write) in missing {
        remaining.remove(&(begun_ns, cluster));
        lost.insert(cluster);
        let shown = [there.operation, Some(write), Some(link.write), Some(link.told_by)];
        found.add(AnomalyKind::LostUpdate, shown.into_iter().flatten().copied());
    }
}
