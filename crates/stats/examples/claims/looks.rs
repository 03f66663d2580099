//! A study that is looked at after every block and ends once all is settled: false claims, power, blocks.

use rand_distr::{Distribution, StudentT};
use stats::{BLOCKS_MIN, Better, Comparison, Effect, Looks, SMALLEST_EFFECT, effect, judge};

use crate::noise::normal;
use crate::page::{Section, Table};
use crate::sets::{Random, each, percent};

const SETS: u32 = 4_000;
const BLOCKS: [usize; 3] = [12, 20, 40];
/// Of the blocks' log ratios.
const DEVIATION: f64 = 0.03;

/// What pairs come to.
type Judge<'a> = dyn Fn(&[(f64, f64)]) -> Option<Comparison> + Sync + 'a;

/// The verdict of fixed blocks, that of looks, and the blocks that these took.
type Both = (Option<Comparison>, Option<Comparison>, usize);

/// Standard numbers that scatter by 1.
type Noise = fn(&mut Random) -> f64;

const NOISES: [(&str, Noise); 2] = [("normal", normal), ("heavy tails", heavy)];

pub(crate) fn section() -> Section {
    Section {
        about: "A study with `stop = \"when settled\"` looks at its results after each block from the sixth. The study \
            ends when its level is better, worse or equivalent. The log ratios of the blocks have a standard \
            deviation of 3%. They follow a normal distribution, or Student's t with three degrees of freedom \
            (\"heavy tails\"). An effect of 3% or more is relevant. The tables also show a fixed design, which \
            always measures the maximum number of blocks.",
        tables: vec![false_claims(), families(), equivalents(), verdicts()],
    }
}

/// Student's t of three degrees of freedom has a variance of 3.
fn heavy(random: &mut Random) -> f64 {
    StudentT::new(3.0).map_or(0.0, |heavy| heavy.sample(random) / 3f64.sqrt())
}

fn pairs(random: &mut Random, noise: Noise, blocks: usize, gain: f64) -> Vec<(f64, f64)> {
    (0..blocks).map(|_| (1.0, (1.0 + gain) * (DEVIATION * noise(random)).exp())).collect()
}

/// The verdict, if it may be one that settles a comparison: how many blocks others would take is not asked for.
fn verdict(effect: Option<Effect>, smallest: f64) -> Option<Comparison> {
    let may_settle = |effect: &Effect| {
        effect.excludes_none() || effect.ratio.low.min(2.0 - effect.ratio.high) >= 1.0 - smallest
    };
    Some(judge(&[effect.filter(may_settle)?], smallest, Better::Higher)[0].comparison)
}

fn is_settled(verdict: Option<Comparison>) -> bool {
    matches!(verdict, Some(Comparison::Better | Comparison::Worse | Comparison::Equivalent))
}

/// Where a study ends: its blocks, and its verdict there.
fn ended(
    pairs: &[(f64, f64)],
    of: impl Fn(&[(f64, f64)]) -> Option<Comparison>,
) -> (usize, Option<Comparison>) {
    let looks = (BLOCKS_MIN..=pairs.len()).map(|blocks| (blocks, of(&pairs[..blocks])));
    let last = (pairs.len(), of(pairs));
    looks.into_iter().find(|(_, verdict)| is_settled(*verdict)).unwrap_or(last)
}

fn false_claims() -> Table {
    let row = |(blocks, (name, noise), looks): (usize, (&str, Noise), &Looks)| {
        // With no margin at all each difference that is shown is a claim.
        let claims = |what: &str, sets: u32, of: &Judge<'_>, gain: f64| {
            percent(&format!("looks, {what}, {blocks}, {name}"), sets, |random| {
                is_settled(ended(&pairs(random, noise, blocks, gain), of).1)
            })
        };
        let at_once = |gain: f64, smallest: f64| {
            percent(&format!("looks, fixed, {gain}, {blocks}, {name}"), SETS, |random| {
                is_settled(verdict(effect(&pairs(random, noise, blocks, gain)), smallest))
            })
        };
        // At the margin a difference that is shown is no false claim: only "equivalent" is.
        let equivalent = |effect: Option<Effect>| {
            verdict(effect, SMALLEST_EFFECT).filter(|verdict| *verdict == Comparison::Equivalent)
        };
        let margin_once = percent(&format!("looks, margin, fixed, {blocks}, {name}"), SETS, |random| {
            equivalent(effect(&pairs(random, noise, blocks, SMALLEST_EFFECT))).is_some()
        });
        let cells = [
            at_once(0.0, 0.0),
            claims("each", SETS / 4, &|pairs| verdict(effect(pairs), 0.0), 0.0),
            claims("none", SETS, &|pairs| verdict(looks.effect(pairs), 0.0), 0.0),
            margin_once,
            claims("margin, each", SETS / 4, &|pairs| equivalent(effect(pairs)), SMALLEST_EFFECT),
            claims("margin", SETS, &|pairs| equivalent(looks.effect(pairs)), SMALLEST_EFFECT),
        ];
        let head = [format!("{blocks}, {name}")];
        head.into_iter().chain(cells.map(|cell| format!("{cell:.1}"))).collect()
    };
    Table {
        caption: format!(
            "The first three columns give the percentage of {SETS} studies that call an equal level different. The \
                last three give the percentage that call a level equivalent although it differs by the margin. In the \
                columns \"every look at 5%\", prony's correction for several looks is not used. These columns come from \
                a quarter as many studies."
        ),
        head: [
            "maximum blocks, noise",
            "different: fixed",
            "every look at 5%",
            "looks",
            "equivalent: fixed",
            "every look at 5%",
            "looks",
        ]
        .map(str::to_owned)
        .to_vec(),
        rows: cells(row),
    }
}

/// A row for each number of blocks and each noise.
fn cells(row: impl Fn((usize, (&str, Noise), &Looks)) -> Vec<String>) -> Vec<Vec<String>> {
    let rows = |blocks: usize| {
        let looks = Looks::new(blocks);
        NOISES.iter().filter_map(|noise| Some(row((blocks, *noise, looks.as_ref()?)))).collect::<Vec<_>>()
    };
    BLOCKS.into_iter().flat_map(rows).collect()
}

/// Several levels against one reference, none of which differs, corrected as in a report.
fn families() -> Table {
    let row = |(blocks, (name, noise), looks): (usize, (&str, Noise), &Looks)| {
        let cell = |levels: usize| {
            let claimed = percent(&format!("looks, {levels} levels, {blocks}, {name}"), SETS, |random| {
                let mut of_levels: Vec<Vec<(f64, f64)>> = vec![Vec::new(); levels];
                (1..=blocks).any(|block| {
                    let reference = (DEVIATION / 2f64.sqrt() * noise(random)).exp();
                    for pairs in &mut of_levels {
                        pairs.push((reference, (DEVIATION / 2f64.sqrt() * noise(random)).exp()));
                    }
                    let effects: Vec<Effect> =
                        of_levels.iter().filter_map(|pairs| looks.effect(pairs)).collect();
                    let judged = || judge(&effects, 0.0, Better::Higher);
                    block >= BLOCKS_MIN
                        && effects.iter().any(Effect::excludes_none)
                        && judged().iter().any(|one| is_settled(Some(one.comparison)))
                })
            });
            format!("{claimed:.1}")
        };
        [format!("{blocks}, {name}")].into_iter().chain([2, 4, 8].map(cell)).collect()
    };
    Table {
        caption: format!(
            "Percentage of {SETS} studies that call at least one of several equal levels different, at any look."
        ),
        head: ["maximum blocks, noise", "2 levels", "4 levels", "8 levels"].map(str::to_owned).to_vec(),
        rows: cells(row),
    }
}

/// What the pairs of a level come to.
type EffectOf<'a> = &'a dyn Fn(&[(f64, f64)]) -> Option<Effect>;

/// Several levels whose true difference is the margin: equivalence is not corrected for their number.
fn equivalents() -> Table {
    let row = |(blocks, (name, noise), looks): (usize, (&str, Noise), &Looks)| {
        let any = |of_levels: &[Vec<(f64, f64)>], blocks: usize, of: EffectOf<'_>| {
            of_levels
                .iter()
                .any(|pairs| verdict(of(&pairs[..blocks]), SMALLEST_EFFECT) == Some(Comparison::Equivalent))
        };
        let cell = |levels: usize| {
            let cell = format!("equivalents, {levels} levels, {blocks}, {name}");
            let all = each(&cell, SETS / 4, |random| {
                let reference: Vec<f64> =
                    (0..blocks).map(|_| (DEVIATION / 2f64.sqrt() * noise(random)).exp()).collect();
                let level = |random: &mut Random| {
                    let of = |of: &f64| {
                        (*of, (1.0 + SMALLEST_EFFECT) * (DEVIATION / 2f64.sqrt() * noise(random)).exp())
                    };
                    reference.iter().map(of).collect()
                };
                let of_levels: Vec<Vec<(f64, f64)>> = (0..levels).map(|_| level(random)).collect();
                let looked =
                    (BLOCKS_MIN..=blocks).any(|look| any(&of_levels, look, &|pairs| looks.effect(pairs)));
                (any(&of_levels, blocks, &effect), looked)
            });
            let share = |of: fn(&(bool, bool)) -> bool| {
                100.0 * all.iter().filter(|one| of(one)).count() as f64 / all.len() as f64
            };
            format!("{:.1} / {:.1}", share(|one| one.0), share(|one| one.1))
        };
        [format!("{blocks}, {name}")].into_iter().chain([1, 4, 8].map(cell)).collect()
    };
    Table {
        caption: format!(
            "Percentage of {} studies that call at least one level equivalent although each level differs from the \
                reference by the margin. The first figure is for fixed blocks, the second for looks. prony corrects the \
                verdicts \"better\" and \"worse\" for the number of levels, but not the verdict \"equivalent\".",
            SETS / 4
        ),
        head: ["maximum blocks, noise", "1 level", "4 levels", "8 levels"].map(str::to_owned).to_vec(),
        rows: cells(row),
    }
}

fn verdicts() -> Table {
    let rows = [0.0, 0.03, 0.06, 0.1].map(|gain| {
        cells(|(blocks, (name, noise), looks)| {
            let cell = format!("looks, verdicts, {gain}, {blocks}, {name}");
            let all = each(&cell, SETS, |random| {
                let pairs = pairs(random, noise, blocks, gain);
                let looked = ended(&pairs, |pairs| verdict(looks.effect(pairs), SMALLEST_EFFECT));
                (verdict(effect(&pairs), SMALLEST_EFFECT), looked.1, looked.0)
            });
            let share = |of: &dyn Fn(&Both) -> bool| {
                format!("{:.1}", 100.0 * all.iter().filter(|one| of(one)).count() as f64 / all.len() as f64)
            };
            let mean = all.iter().map(|one| one.2 as f64).sum::<f64>() / all.len() as f64;
            vec![
                format!("{:.0}%, {blocks}, {name}", gain * 100.0),
                share(&|one| one.0 == Some(Comparison::Better)),
                share(&|one| one.1 == Some(Comparison::Better)),
                share(&|one| one.0 == Some(Comparison::Equivalent)),
                share(&|one| one.1 == Some(Comparison::Equivalent)),
                format!("{mean:.1}"),
            ]
        })
    });
    Table {
        caption: format!(
            "Percentage of {SETS} studies that end with the verdict \"better\" or \"equivalent\", with fixed blocks \
                and with looks. The last column is the mean number of blocks with looks."
        ),
        head: [
            "true gain, maximum blocks, noise",
            "better: fixed",
            "looks",
            "equivalent: fixed",
            "looks",
            "blocks",
        ]
        .map(str::to_owned)
        .to_vec(),
        rows: rows.into_iter().flatten().collect(),
    }
}
