//! Knees and jumps along an axis: where there are none, where there are, and where a curve bends gradually.

use crate::curves::Design;
use crate::page::{Section, Table};
use crate::sets::{each, percent};

const SETS: u32 = 1_000;

const SIX: [f64; 6] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
const SEVEN: [f64; 7] = [781.0, 1563.0, 3125.0, 6250.0, 12_500.0, 25_000.0, 50_000.0];
const NINE: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];
const MEMORY: [f64; 6] = [8.0, 16.0, 24.0, 32.0, 40.0, 64.0];

const PLAIN: Design = Design { levels: &NINE, blocks: 7, noise: 0.05, lasting: 0.0, by_block: 0.03 };
const LASTING: Design = Design { lasting: 0.05, ..PLAIN };

const DESIGNS: [Design; 7] = [
    Design { levels: &SIX, blocks: 2, ..PLAIN },
    Design { levels: &SEVEN, blocks: 2, ..PLAIN },
    Design { levels: &SEVEN, blocks: 7, ..PLAIN },
    Design { levels: &SEVEN, blocks: 7, ..LASTING },
    Design { blocks: 1, ..PLAIN },
    PLAIN,
    LASTING,
];

pub(crate) fn section() -> Section {
    Section {
        about: "If prony reports a knee or a jump, it claims two things. The curve bends or jumps at that place, and \
            neither noise nor a smooth curve gives the same shape. Trials scatter by 5% unless a table says \
            otherwise, and whole blocks scatter by 3%. A \"lasting\" deviation of a level is the same in each block. \
            Levels are N = 1, 2, 4 and so on. Designs with seven levels use the levels of the classifier study. The \
            curve tanh has a soft knee: it bends most at one point, N = 20. If noise or lasting deviations are \
            large, prony reports a knee for tanh in up to a fifth of cases. For the other smooth curves, no cell is \
            above 5.2%.",
        tables: vec![straight(), smooth(), grids(), knees(), jumps(), published()],
    }
}

fn name(design: &Design) -> String {
    let lasting = if design.lasting > 0.0 {
        format!(", lasting {:.0}%", design.lasting * 100.0)
    } else {
        String::new()
    };
    format!("{}{lasting}", design.name())
}

/// `knees / jumps`, per cent of data sets in which one is claimed.
fn claims(cell: &str, design: &Design, curve: impl Fn(f64) -> f64 + Sync) -> String {
    let claimed = each(cell, SETS, |random| {
        let measured = design.measure(random, &curve);
        let levels = measured.levels();
        (stats::knee(&levels, 1).is_ok(), stats::jump(&levels, 1).is_ok())
    });
    let share = |of: fn(&(bool, bool)) -> bool| {
        100.0 * claimed.iter().filter(|claim| of(claim)).count() as f64 / claimed.len() as f64
    };
    format!("{:.1} / {:.1}", share(|claim| claim.0), share(|claim| claim.1))
}

fn straight() -> Table {
    const EXPONENTS: [f64; 3] = [0.0, 0.3, 1.0];
    let row = |design: Design| {
        let cell = |exponent: f64| {
            claims(&format!("straight, {}, {exponent}", name(&design)), &design, |n| 100.0 * n.powf(exponent))
        };
        std::iter::once(name(&design)).chain(EXPONENTS.map(cell)).collect()
    };
    Table {
        caption: format!("Percentage of {SETS} straight lines with a false knee / a false jump."),
        head: ["straight lines", "flat", "N^0.3", "N"].map(str::to_owned).to_vec(),
        rows: DESIGNS.into_iter().map(row).collect(),
    }
}

/// A curve by its title.
type Curve = (&'static str, fn(f64) -> f64);

const SMOOTH: [Curve; 6] = [
    ("N / (1 + N/16)", |n| n / (1.0 + n / 16.0)),
    ("log2(1 + N)", |n| (1.0 + n).log2()),
    ("Amdahl, 5%", |n| n / (1.0 + 0.05 * (n - 1.0))),
    ("USL, 5%, 0.05%", |n| n / (1.0 + 0.05 * (n - 1.0) + 0.0005 * n * (n - 1.0))),
    ("1 − exp(−N/12)", |n| 1.0 - (-n / 12.0).exp()),
    ("tanh(N/20)", |n| (n / 20.0).tanh()),
];

fn smooth() -> Table {
    let designs = [Design { blocks: 1, ..PLAIN }, PLAIN, LASTING, Design { noise: 0.01, ..PLAIN }];
    let names = designs.iter().map(|design| format!("{}, noise {:.0}%", name(design), design.noise * 100.0));
    let row = |(title, curve): Curve| {
        let cell =
            |design: &Design| claims(&format!("{title}, {}, {}", name(design), design.noise), design, curve);
        std::iter::once(title.to_owned()).chain(designs.iter().map(cell)).collect()
    };
    Table {
        caption: format!(
            "Percentage of {SETS} gradually bending curves for which prony reports a knee / a jump."
        ),
        head: std::iter::once("smooth curves".to_owned()).chain(names).collect(),
        rows: SMOOTH.into_iter().map(row).collect(),
    }
}

const GRID_SETS: u32 = 500;
const LINEAR: [f64; 8] = [4.0, 8.0, 12.0, 16.0, 20.0, 24.0, 28.0, 32.0];
const TO_64: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
const TWELVE: [f64; 12] = [1.0, 2.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0, 96.0];

/// The same curves on other levels, with quirks and with much noise.
fn grids() -> Table {
    let grids: [(&str, &'static [f64]); 4] =
        [("9 doublings", &NINE), ("12 levels", &TWELVE), ("4 to 32", &LINEAR), ("7 doublings", &TO_64)];
    let row = |(title, curve): Curve| {
        let cells = grids.iter().flat_map(|(grid, levels)| {
            let designs = [
                Design { levels, ..LASTING },
                Design { levels, blocks: 3, noise: 0.1, ..PLAIN },
                Design { levels, blocks: 7, noise: 0.02, ..PLAIN },
            ];
            designs.map(|design| {
                let cell = format!("{title}, {grid}, {}, {}", name(&design), design.noise);
                let claimed = percent(&cell, GRID_SETS, |random| {
                    stats::knee(&design.measure(random, curve).levels(), 1).is_ok()
                });
                format!("{claimed:.1}")
            })
        });
        let cells: Vec<String> = cells.collect();
        let by_grid = cells.chunks(3).map(|of_grid| of_grid.join(" / "));
        std::iter::once(title.to_owned()).chain(by_grid).collect()
    };
    Table {
        caption: format!(
            "Percentage of {GRID_SETS} gradually bending curves, measured at other levels, for which prony reports a \
                knee. The first figure is for 7 blocks with 5% noise and 5% lasting deviation. The second figure is for \
                3 blocks with 10% noise. The third figure is for 7 blocks with 2% noise. The 12 levels run from 1 to 96, \
                and \"4 to 32\" has 8 levels."
        ),
        head: std::iter::once("smooth curves")
            .chain(grids.map(|(grid, _)| grid))
            .map(str::to_owned)
            .collect(),
        rows: SMOOTH.into_iter().map(row).collect(),
    }
}

fn knees() -> Table {
    let row = |design: Design| {
        let at =
            if design.levels.len() == 7 { 5_000.0 } else { design.levels[design.levels.len() / 2] * 1.25 };
        let cell = |below: f64, above: f64| {
            let curve = |n: f64| (n / at).min(1.0).powf(below) * (n / at).max(1.0).powf(above);
            let found = each(&format!("knee, {}, {below}, {above}", name(&design)), SETS, |random| {
                let found = stats::knee(&design.measure(random, curve).levels(), 1).ok()?;
                Some(((found.low..=found.high).contains(&at), found.high / found.low))
            });
            let known: Vec<(bool, f64)> = found.iter().flatten().copied().collect();
            let holds = known.iter().filter(|(holds, _)| *holds).count() as f64 / known.len().max(1) as f64;
            let widths: Vec<f64> = known.iter().map(|(_, width)| *width).collect();
            let width = stats::median(&widths).unwrap_or(f64::NAN);
            let share = known.len() as f64 / found.len() as f64;
            format!("{:.0} / {:.0} / ×{width:.2}", share * 100.0, holds * 100.0)
        };
        vec![name(&design), cell(1.0, 0.0), cell(0.9, 0.4), cell(-0.9, 0.0)]
    };
    Table {
        caption: format!(
            "Each curve has a knee. The first figure is the percentage of {SETS} curves for which prony finds a knee. \
                The second is the percentage of found knees with an interval that contains the true knee. The third is \
                the median ratio of the interval's upper bound to its lower bound."
        ),
        head: ["slopes below and above", "1, 0", "0.9, 0.4", "−0.9, 0"].map(str::to_owned).to_vec(),
        rows: DESIGNS.into_iter().map(row).collect(),
    }
}

fn jumps() -> Table {
    const CHANGES: [f64; 4] = [0.1, 0.2, 0.4, 0.6];
    let row = |design: Design| {
        let place = design.levels.len() / 2;
        let cell = |change: f64| {
            let curve = |n: f64| if n < design.levels[place] { 300.0 } else { 300.0 * (1.0 - change) };
            let right = percent(&format!("jump, {}, {change}", name(&design)), SETS, |random| {
                stats::jump(&design.measure(random, curve).levels(), 1)
                    .is_ok_and(|jump| (jump.above / design.levels[place]).ln().abs() < 1e-6)
            });
            format!("{right:.0}")
        };
        std::iter::once(name(&design)).chain(CHANGES.map(cell)).collect()
    };
    Table {
        caption: format!("Percentage of {SETS} curves for which prony finds the jump at the correct level."),
        head: std::iter::once("falls by".to_owned())
            .chain(CHANGES.map(|c| format!("{:.0}%", c * 100.0)))
            .collect(),
        rows: DESIGNS.into_iter().map(row).collect(),
    }
}

fn published() -> Table {
    let row = |noise: f64| {
        let design =
            |levels: &'static [f64]| Design { levels, blocks: 7, noise, lasting: 0.01, by_block: 0.03 };
        let iops = |n: f64| 40.0 * (3_000.0 / n).max(1.0);
        let memory = |gb: f64| if gb < 28.0 { 300.0 } else { 120.0 };
        let cell = |what: &str, levels: &'static [f64], curve: &(dyn Fn(f64) -> f64 + Sync)| {
            claims(&format!("classifier, {what}, {noise}"), &design(levels), curve)
        };
        vec![format!("{:.0}%", noise * 100.0), cell("IOPS", &SEVEN, &iops), cell("RAM", &MEMORY, &memory)]
    };
    Table {
        caption: format!(
            "Percentage of {SETS} curves for which prony reports a knee / a jump. The curves have the shapes of the \
                classifier study and 7 blocks. In the IOPS curve, query time rises below 3,000 IOPS. In the RAM curve, \
                query time falls from 300 to 120 s between 24 and 32 GB."
        ),
        head: ["noise", "IOPS", "RAM"].map(str::to_owned).to_vec(),
        rows: [0.02, 0.05, 0.1].map(row).to_vec(),
    }
}
