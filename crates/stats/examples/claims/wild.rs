//! What a comparison of blocks does not correct for or remove: several metrics and axes, and a wild block.

use stats::{
    Better, Comparison, Effect, Judged, OUTLIER_CHANCE_MAX, SMALLEST_EFFECT, effect, judge, outlying_pair,
};

use crate::noise::normal;
use crate::page::{Section, Table};
use crate::sets::{Random, each, percent};

const SETS: u32 = 4_000;
/// Studies of several families, which have many comparisons each.
const STUDIES: u32 = 1_000;
const BLOCKS: usize = 7;
const LEVELS: usize = 4;
const NOISE: f64 = 0.05;

pub(crate) fn section() -> Section {
    Section {
        about: "prony corrects for the number of levels on an axis (Holm). It does not correct for the number of axes, \
            or for the number of metrics in a starred table. Each axis and each metric is a family of its own. The \
            report states how often at least one family has a false verdict. prony never drops a block, however \
            extreme. The report names an outlying block, and gives the gain of the other blocks (Grubbs's test, at \
            1% per study). Unless a table says otherwise, a study has seven blocks and four levels per axis, and \
            trials scatter log-normally by 5%.",
        tables: vec![families(), stars_power(), outliers(), planned()],
    }
}

fn is_claim(judged: &Judged) -> bool {
    matches!(judged.comparison, Comparison::Better | Comparison::Worse)
}

/// The levels' effects by one metric, of which a part is common to all metrics of a trial.
fn by_metric(random: &mut Random, metrics: usize, common: f64, gain: f64) -> Vec<Vec<Effect>> {
    let own = (1.0 - common * common).sqrt();
    let mut trial = |gain: f64| -> Vec<f64> {
        let shared = normal(random);
        let of_metric = |noise: f64| (gain.ln_1p() + NOISE * (common * shared + own * noise)).exp();
        (0..metrics).map(|_| normal(random)).collect::<Vec<f64>>().into_iter().map(of_metric).collect()
    };
    let mut levels: Vec<Vec<Vec<(f64, f64)>>> = vec![vec![Vec::new(); metrics]; LEVELS];
    for _ in 0..BLOCKS {
        let reference = trial(0.0);
        for (number, level) in levels.iter_mut().enumerate() {
            let found = trial(if number == 0 { gain } else { 0.0 });
            let both = reference.iter().copied().zip(found);
            level.iter_mut().zip(both).for_each(|(pairs, pair)| pairs.push(pair));
        }
    }
    let of_metric = |metric: usize| levels.iter().filter_map(|level| effect(&level[metric])).collect();
    (0..metrics).map(of_metric).collect()
}

fn stars(random: &mut Random, metrics: usize, common: f64) -> bool {
    by_metric(random, metrics, common, 0.0)
        .iter()
        .any(|levels| judge(levels, SMALLEST_EFFECT, Better::Higher).iter().any(is_claim))
}

/// The same where all stars of a table are one family.
fn stars_of_one_family(random: &mut Random, metrics: usize, common: f64) -> bool {
    let all: Vec<Effect> = by_metric(random, metrics, common, 0.0).concat();
    judge(&all, SMALLEST_EFFECT, Better::Higher).iter().any(is_claim)
}

fn families() -> Table {
    const DESIGNS: [(&str, usize, usize); 6] = [
        ("1 axis, 1 metric", 1, 1),
        ("1 axis, 3 metrics", 1, 3),
        ("1 axis, 7 metrics", 1, 7),
        ("2 axes, 1 metric", 2, 1),
        ("3 axes, 1 metric", 3, 1),
        ("2 axes, 3 metrics", 2, 3),
    ];
    let row = |(name, axes, metrics): (&str, usize, usize)| {
        let any = |common: f64| {
            let cell = format!("families, {name}, {common}");
            percent(&cell, STUDIES, |random| (0..axes).any(|_| stars(random, metrics, common)))
        };
        let of_one = percent(&format!("one family, {name}"), STUDIES, |random| {
            (0..axes).any(|_| stars_of_one_family(random, metrics, 0.0))
        });
        let said = 100.0 * (1.0 - 0.95f64.powi((axes * metrics) as i32));
        vec![
            name.to_owned(),
            format!("{:.1}", any(0.0)),
            format!("{:.1}", any(0.9)),
            format!("{said:.0}"),
            format!("{of_one:.1}"),
        ]
    };
    let head = [
        "families",
        "metrics independent",
        "metrics that share 0.9 of their noise",
        "the report states up to",
        "Holm over all metrics of an axis (not used)",
    ];
    Table {
        caption: format!(
            "Percentage of {STUDIES} studies that call any level of any family better or worse, although all levels \
                are equal."
        ),
        head: head.map(str::to_owned).into(),
        rows: DESIGNS.into_iter().map(row).collect(),
    }
}

/// What the correction for metrics would cost.
fn stars_power() -> Table {
    let row = |metrics: usize| {
        let found = |one_family: bool| {
            let cell = format!("stars, power, {metrics}, {one_family}");
            percent(&cell, STUDIES, |random| {
                let levels = by_metric(random, metrics, 0.0, 0.1);
                let families = if one_family { vec![levels.concat()] } else { levels };
                judge(&families[0], SMALLEST_EFFECT, Better::Higher).first().is_some_and(is_claim)
            })
        };
        vec![metrics.to_string(), format!("{:.0}", found(false)), format!("{:.0}", found(true))]
    };
    let head = ["metrics", "one family per metric", "Holm over all metrics (not used)"];
    Table {
        caption: format!(
            "Percentage of {STUDIES} studies that find the better level. One of the four levels is better, by 10%."
        ),
        head: head.map(str::to_owned).into(),
        rows: [1, 3, 7].into_iter().map(row).collect(),
    }
}

/// How trials scatter.
#[derive(Clone, Copy)]
enum Noise {
    Normal(f64),
    /// Student's t of three degrees of freedom.
    Heavy(f64),
    /// One trial of twenty at 0.6 of its rate.
    Wild(f64),
}

fn deviation(random: &mut Random, noise: Noise) -> f64 {
    match noise {
        Noise::Normal(share) => share * normal(random),
        Noise::Heavy(share) => {
            let squares: f64 = (0..3).map(|_| normal(random).powi(2)).sum();
            // Its own deviation is the root of three.
            share * normal(random) / (squares / 3.0).sqrt() / 3f64.sqrt()
        }
        Noise::Wild(share) => {
            let wild = if crate::noise::below(random, 20) == 0 { 0.6f64.ln() } else { 0.0 };
            share * normal(random) + wild
        }
    }
}

fn outliers() -> Table {
    const NOISES: [(&str, Noise); 6] = [
        ("normal, 2%", Noise::Normal(0.02)),
        ("normal, 5%", Noise::Normal(0.05)),
        ("Student's t of 3, 5%", Noise::Heavy(0.05)),
        ("1 of 20 trials at 0.6, 2%", Noise::Wild(0.02)),
        ("1 of 20 trials at 0.6, 5%", Noise::Wild(0.05)),
        ("1 of 20 trials at 0.6, 10%", Noise::Wild(0.1)),
    ];
    let row = |(name, noise): (&str, Noise)| {
        let all = each(&format!("outliers, {name}"), SETS, |random| {
            let pair = |random: &mut Random| {
                let reference = deviation(random, noise).exp();
                (reference, 1.1 * deviation(random, noise).exp())
            };
            let pairs: Vec<(f64, f64)> = (0..BLOCKS).map(|_| pair(random)).collect();
            let found = effect(&pairs).map(|effect| {
                judge(&[effect], SMALLEST_EFFECT, Better::Higher)[0].comparison == Comparison::Better
            });
            let named = outlying_pair(&pairs, OUTLIER_CHANCE_MAX);
            let is_right = named.map(|named| (named.without - 1.1).abs() < 0.05);
            (named.is_some(), found == Some(true), is_right == Some(true))
        });
        let share = |is: fn(&(bool, bool, bool)) -> bool| {
            100.0 * all.iter().filter(|one| is(one)).count() as f64 / all.len() as f64
        };
        let (named, right) = (share(|one| one.0), share(|one| one.2));
        let of_named = if named > 0.0 { format!("{:.0}", 100.0 * right / named) } else { "–".to_owned() };
        vec![name.to_owned(), format!("{named:.1}"), format!("{:.0}", share(|one| one.1)), of_named]
    };
    let head = [
        "noise of a trial",
        "the report names a block",
        "the study shows the gain of 10%",
        "if a block is named, the gain of the others is within 5 points of 10%",
    ];
    Table {
        caption: format!(
            "Percentages of {SETS} comparisons, each with one level that is 10% better. The last column is a \
                percentage of the comparisons that name a block. With normal noise, each named block is a false alarm."
        ),
        head: head.map(str::to_owned).into(),
        rows: NOISES.into_iter().map(row).collect(),
    }
}

/// Studies of as many blocks as are said to settle each of several levels that are all the same.
fn planned() -> Table {
    let row = |levels: usize| {
        let cell = |noise: f64| {
            // What a study of seven blocks sees of equal levels of this noise, on average.
            let deviation = noise * 2f64.sqrt();
            let half = 2.447 * deviation / 7f64.sqrt();
            let seen = Effect {
                ratio: stats::Estimate { value: 1.0, low: (-half).exp(), high: half.exp() },
                blocks: BLOCKS,
                confidence: 0.95,
                p_value: 1.0,
                deviation,
            };
            let judged = judge(&vec![seen; levels], SMALLEST_EFFECT, Better::Higher);
            let Some(blocks) = judged[0].blocks_needed else { return "–".to_owned() };
            let all = each(&format!("settled, {levels}, {noise}"), STUDIES / 2, |random| {
                let mut trial = |_| (noise * normal(random)).exp();
                let reference: Vec<f64> = (0..blocks).map(&mut trial).collect();
                let effects: Vec<Effect> = (0..levels)
                    .filter_map(|_| {
                        let level = (0..blocks).map(&mut trial);
                        effect(&reference.iter().copied().zip(level).collect::<Vec<_>>())
                    })
                    .collect();
                let judged = judge(&effects, SMALLEST_EFFECT, Better::Higher);
                judged.iter().filter(|one| one.comparison == Comparison::Equivalent).count()
            });
            let each = 100.0 * all.iter().sum::<usize>() as f64 / (all.len() * levels) as f64;
            let together =
                100.0 * all.iter().filter(|count| **count == levels).count() as f64 / all.len() as f64;
            format!("{blocks}: {each:.0} / {together:.0}")
        };
        std::iter::once(levels.to_string()).chain([0.02, 0.03].map(cell)).collect()
    };
    Table {
        caption: format!(
            "The first figure is the number of blocks that should settle each of several equal levels. The other \
                figures come from {} studies with this number of blocks. They are the percentage of levels that are \
                called equivalent / the percentage of studies that call all levels equivalent. The report promises 80% \
                per level.",
            STUDIES / 2
        ),
        head: ["levels", "noise 2%", "noise 3%"].map(str::to_owned).into(),
        rows: [1, 2, 4].into_iter().map(row).collect(),
    }
}
