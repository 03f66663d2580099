//! What a level gains over the reference: interval, verdicts, plan, sweet spot, best of several.

use stats::{Best, Better, CandidateLevel, Comparison, Effect, SMALLEST_EFFECT, SweetSpot, effect, judge};

use crate::noise::normal;
use crate::page::{Section, Table};
use crate::sets::{Random, percent};

const SETS: u32 = 4_000;
const BLOCKS: [usize; 5] = [6, 7, 10, 15, 20];

pub(crate) fn section() -> Section {
    Section {
        about: "prony compares a level with the reference block by block. Trials scatter log-normally, and the tables \
            give the noise. Differences between blocks cancel out. An effect of 3% or more is relevant. Twelve \
            studies of three equal configurations also ran on a real disk (8 KiB random reads, seven blocks of 1 s). \
            The disk belonged to a shared virtual machine with two CPUs. None of the 24 comparisons called a \
            configuration better, worse or equivalent.",
        tables: vec![
            coverage(),
            false_claims(),
            verdicts(),
            planned(),
            resembling(),
            sweet_spots(),
            named_best(),
        ],
    }
}

fn trial(random: &mut Random, truth: f64, noise: f64) -> f64 {
    truth * (noise * normal(random)).exp()
}

/// Pairs of the reference, measured once or twice in a block, and a level that is so much better.
fn pairs(random: &mut Random, blocks: usize, noise: f64, gain: f64, twice: bool) -> Vec<(f64, f64)> {
    let mut pair = || {
        let first = trial(random, 1.0, noise);
        let reference = if twice { (first * trial(random, 1.0, noise)).sqrt() } else { first };
        (reference, trial(random, 1.0 + gain, noise))
    };
    (0..blocks).map(|_| pair()).collect()
}

fn verdict(pairs: &[(f64, f64)]) -> Option<Comparison> {
    Some(judge(&[effect(pairs)?], SMALLEST_EFFECT, Better::Higher)[0].comparison)
}

fn share(share: f64) -> String {
    format!("{share:.1}")
}

fn head(first: &str, others: impl IntoIterator<Item = String>) -> Vec<String> {
    std::iter::once(first.to_owned()).chain(others).collect()
}

fn coverage() -> Table {
    let row = |blocks: usize| {
        let holds = percent(&format!("coverage, {blocks} blocks"), SETS, |random| {
            let found = effect(&pairs(random, blocks, 0.05, 0.1, false));
            found.is_some_and(|effect| effect.ratio.low <= 1.1 && 1.1 <= effect.ratio.high)
        });
        let mut random_pairs = (0..blocks).map(|block| (1.0, 1.0 + block as f64));
        let claimed =
            effect(&random_pairs.by_ref().collect::<Vec<_>>()).map_or(0.0, |effect| effect.confidence);
        vec![blocks.to_string(), share(claimed * 100.0), share(holds)]
    };
    Table {
        caption: format!(
            "\"Claimed\" is the percentage of intervals that should contain the true ratio. \"Holds\" is the \
                percentage of {SETS} comparisons with an interval that contains the true ratio."
        ),
        head: head("blocks", ["claimed".to_owned(), "holds".to_owned()]),
        rows: [2, 3, 5].into_iter().chain(BLOCKS).map(row).collect(),
    }
}

/// Levels that are all the same as the reference.
fn false_claims() -> Table {
    let row = |levels: usize| {
        let cell = |blocks: usize| {
            share(percent(&format!("false claims, {levels} levels, {blocks} blocks"), SETS, |random| {
                let reference: Vec<f64> = (0..blocks).map(|_| trial(random, 1.0, 0.05)).collect();
                let of_level = |random: &mut Random| -> Option<Effect> {
                    effect(&reference.iter().map(|&of| (of, trial(random, 1.0, 0.05))).collect::<Vec<_>>())
                };
                let effects: Vec<Effect> = (0..levels).filter_map(|_| of_level(random)).collect();
                let judged = judge(&effects, SMALLEST_EFFECT, Better::Higher);
                judged.iter().any(|one| matches!(one.comparison, Comparison::Better | Comparison::Worse))
            }))
        };
        head(&levels.to_string(), BLOCKS.map(cell))
    };
    Table {
        caption: format!(
            "Percentage of {SETS} studies that call any level better or worse, although all levels are equal. The \
                noise is 5%."
        ),
        head: head("levels", BLOCKS.map(|blocks| format!("{blocks} blocks"))),
        rows: [1, 4, 8].into_iter().map(row).collect(),
    }
}

fn verdicts() -> Table {
    const VERDICTS: [(&str, Comparison); 5] = [
        ("better", Comparison::Better),
        ("equivalent", Comparison::Equivalent),
        ("small", Comparison::Small),
        ("within noise", Comparison::WithinNoise),
        ("not resolvable", Comparison::NotResolvable),
    ];
    let row = |(noise, gain, twice): (f64, f64, bool)| {
        let cell = |(_, wanted): (&str, Comparison)| {
            share(percent(&format!("verdicts, {noise}, {gain}, {twice}"), SETS, |random| {
                verdict(&pairs(random, 7, noise, gain, twice)) == Some(wanted)
            }))
        };
        let what = format!("{}%, {}%, {}", noise * 100.0, gain * 100.0, if twice { "twice" } else { "once" });
        head(&what, VERDICTS.map(cell))
    };
    let noises = [0.005, 0.02, 0.05, 0.1];
    let all = noises.iter().flat_map(|&noise| {
        [0.0, 0.03, 0.05, 0.1]
            .into_iter()
            .flat_map(move |gain| [false, true].map(|twice| (noise, gain, twice)))
    });
    Table {
        caption: format!(
            "Percentage of {SETS} studies that reach each verdict. Each study has seven blocks. The remaining studies \
                reach the verdict \"worse\"."
        ),
        head: head("noise, true gain, reference measured", VERDICTS.map(|(name, _)| name.to_owned())),
        rows: all.map(row).collect(),
    }
}

/// Studies whose true gain is what a plan says that they find.
fn planned() -> Table {
    let row = |blocks: usize| {
        let cell = |noise: f64| {
            let Some(gain) = stats::detectable(blocks, noise * 2f64.sqrt(), SMALLEST_EFFECT, 1) else {
                return String::new();
            };
            let found = percent(&format!("planned, {blocks}, {noise}"), SETS, |random| {
                verdict(&pairs(random, blocks, noise, gain, false)) == Some(Comparison::Better)
            });
            format!("{:.1}%: {found:.0}", gain * 100.0)
        };
        head(&blocks.to_string(), [0.01, 0.02, 0.05, 0.1].map(cell))
    };
    Table {
        caption: format!(
            "The first figure is the gain that a plan expects to find in 80% of studies. The second is the percentage \
                of {SETS} studies that reach the verdict \"better\" if the true gain is this large."
        ),
        head: head("blocks", ["noise 1%", "noise 2%", "noise 5%", "noise 10%"].map(str::to_owned)),
        rows: BLOCKS.into_iter().chain([40, 60]).map(row).collect(),
    }
}

/// Blocks whose ratios hang together: what that does to the interval, and whether it is told.
fn resembling() -> Table {
    let row = |blocks: usize| {
        let cell = |rho: f64| {
            let ratios = |random: &mut Random| {
                crate::noise::autoregressive(random, blocks, rho, 0.05)
                    .into_iter()
                    .map(f64::ln)
                    .collect::<Vec<f64>>()
            };
            let cell = format!("resembling, {blocks}, {rho}");
            let missed = percent(&cell, SETS / 4, |random| {
                let pairs: Vec<(f64, f64)> =
                    ratios(random).into_iter().map(|ratio| (1.0, ratio.exp())).collect();
                effect(&pairs).is_none_or(|effect| effect.excludes_none())
            });
            let told = percent(&cell, SETS / 4, |random| {
                let series = vec![ratios(random).into_iter().map(Some).collect()];
                stats::serial_correlation(&series, 1).is_some_and(|serial| serial.is_shown())
            });
            format!("{:.0}, {told:.0}", 100.0 - missed)
        };
        head(&blocks.to_string(), [0.0, 0.3, 0.5, 0.8].map(cell))
    };
    Table {
        caption: format!(
            "The first figure is the percentage of {} comparisons with an interval that contains the true ratio. The \
                second is the percentage with a warning that blocks resemble each other. The log ratios of the blocks \
                are autoregressive. With few blocks, prony misses most resemblance.",
            SETS / 4
        ),
        head: head("blocks", [0.0, 0.3, 0.5, 0.8].map(|rho| format!("rho {rho}"))),
        rows: [7, 10, 15, 20, 30].into_iter().map(row).collect(),
    }
}

/// Figures of levels by block.
fn measured(random: &mut Random, truth: &[f64], noise: f64) -> Vec<Vec<Option<f64>>> {
    truth.iter().map(|&truth| (0..7).map(|_| Some(trial(random, truth, noise))).collect()).collect()
}

fn sweet_spots() -> Table {
    const CURVES: [(&str, &[f64], usize); 3] = [
        ("50 94 100 100 100 100", &[50.0, 94.0, 100.0, 100.0, 100.0, 100.0], 2),
        ("33 34 35 83 85 86", &[33.0, 34.0, 35.0, 83.0, 85.0, 86.0], 3),
        ("50 95.3 100 100 100 100", &[50.0, 95.3, 100.0, 100.0, 100.0, 100.0], 1),
    ];
    let cell = |(name, truth, right): (&str, &[f64], usize), noise: f64| {
        let count = |wrong: &(dyn Fn(SweetSpot) -> bool + Sync)| {
            percent(&format!("sweet spot, {name}, {noise}"), SETS, |random| {
                let figures = measured(random, truth, noise);
                let candidate =
                    |(level, by_block): (u32, &'_ Vec<Option<f64>>)| (f64::from(level), by_block.clone());
                let owned: Vec<(f64, Vec<Option<f64>>)> = (1u32..).zip(&figures).map(candidate).collect();
                let levels: Vec<CandidateLevel<'_>> = owned
                    .iter()
                    .map(|(level, by_block)| CandidateLevel { level: *level, by_block })
                    .collect();
                wrong(stats::sweet_spot(&levels, Better::Higher))
            })
        };
        let too_cheap = count(&|found| matches!(found, SweetSpot::AtMost { level, .. } if level < right));
        let ruled_out = count(&|found| match found {
            SweetSpot::AtMost { lowest, .. } | SweetSpot::NotReached { lowest } => lowest > right,
            SweetSpot::Unknown => false,
        });
        let exact = count(
            &|found| matches!(found, SweetSpot::AtMost { level, lowest } if level == right && lowest == right),
        );
        format!("{too_cheap:.1}, {ruled_out:.1}, {exact:.0}")
    };
    let row = |curve: (&'static str, &'static [f64], usize)| {
        head(curve.0, [0.01, 0.02, 0.05].map(|noise| cell(curve, noise)))
    };
    Table {
        caption: format!(
            "All figures are percentages of {SETS} studies of seven blocks. The first figure is the share of studies \
                with an \"at most\" verdict that names a level cheaper than the true sweet spot. The second is the share \
                that rules out the true sweet spot. The third is the share that names only the true sweet spot."
        ),
        head: head("true levels", ["noise 1%", "noise 2%", "noise 5%"].map(str::to_owned)),
        rows: CURVES.into_iter().map(row).collect(),
    }
}

fn named_best() -> Table {
    let row = |(what, levels, ahead): (&str, usize, f64)| {
        let cell = |noise: f64| {
            let named = |wanted: bool| {
                percent(&format!("best, {what}, {noise}"), SETS, |random| {
                    let truth: Vec<f64> =
                        (0..levels).map(|level| if level == 0 { 1.0 + ahead } else { 1.0 }).collect();
                    let figures = measured(random, &truth, noise);
                    let figures: Vec<&[Option<f64>]> = figures.iter().map(Vec::as_slice).collect();
                    matches!(stats::best(&figures, Better::Higher, None), Some(Best::Ahead { best, .. }) if (best == 0) == wanted)
                })
            };
            let (right, wrong) = (named(true), named(false));
            if ahead > 0.0 { format!("{right:.0}, {wrong:.1}") } else { format!("–, {:.1}", right + wrong) }
        };
        head(what, [0.02, 0.05].map(cell))
    };
    Table {
        caption: format!(
            "The first figure is the percentage of {SETS} studies that name the true best combination. The second is \
                the percentage that name another combination. Each study has seven blocks."
        ),
        head: head("combinations", ["noise 2%", "noise 5%"].map(str::to_owned)),
        rows: [
            ("2 alike", 2, 0.0),
            ("8 alike", 8, 0.0),
            ("8, one 2% better", 8, 0.02),
            ("8, one 10% better", 8, 0.1),
        ]
        .into_iter()
        .map(row)
        .collect(),
    }
}
