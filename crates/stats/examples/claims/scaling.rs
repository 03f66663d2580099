//! The universal scalability law: its parameters, and peaks where there are none.

use crate::curves::Design;
use crate::page::{Section, Table};
use crate::sets::each;

const SETS: u32 = 500;

const LEVELS: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

const DESIGNS: [Design; 4] = [
    Design { levels: &LEVELS, blocks: 1, noise: 0.02, lasting: 0.0, by_block: 0.0 },
    Design { levels: &LEVELS, blocks: 1, noise: 0.05, lasting: 0.0, by_block: 0.0 },
    Design { levels: &LEVELS, blocks: 7, noise: 0.05, lasting: 0.0, by_block: 0.0 },
    Design { levels: &LEVELS, blocks: 7, noise: 0.05, lasting: 0.02, by_block: 0.0 },
];

pub(crate) fn section() -> Section {
    Section {
        about: "Each study has 8 levels, from 1 to 128. In 95 of 100 studies, the intervals for λ, σ, κ and the peak \
            should contain the true figure. If prony reports a peak, it claims that throughput falls beyond the \
            peak. Each row gives the noise of the trials.",
        tables: vec![coverage(), peaks()],
    }
}

fn name(design: &Design) -> String {
    let percent = |share: f64| format!("{:.0}%", share * 100.0);
    format!("{}, noise {}, lasting {}", design.name(), percent(design.noise), percent(design.lasting))
}

fn law(sigma: f64, kappa: f64) -> impl Fn(f64) -> f64 {
    move |n| 100.0 * n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0))
}

fn coverage() -> Table {
    const TRUTHS: [(f64, f64); 3] = [(0.05, 0.0005), (0.02, 0.0001), (0.1, 0.0)];
    let row = |design: Design| {
        let cell = |(sigma, kappa): (f64, f64)| {
            let peak = ((1.0 - sigma) / kappa).sqrt();
            let fits = each(&format!("law, {}, {sigma}, {kappa}", name(&design)), SETS, |random| {
                let found = stats::usl(&design.measure(random, law(sigma, kappa)).levels()).ok()?;
                let holds =
                    |estimate: stats::Estimate, truth: f64| estimate.low <= truth && truth <= estimate.high;
                let holds_peak = found.peak.map(|estimate| holds(estimate, peak));
                Some((
                    holds(found.lambda, 100.0),
                    holds(found.sigma, sigma),
                    holds(found.kappa, kappa),
                    holds_peak,
                ))
            });
            let fits: Vec<_> = fits.into_iter().flatten().collect();
            let share = |count: usize, of: usize| 100.0 * count as f64 / of.max(1) as f64;
            let [lambda, sigma, kappa] = [
                fits.iter().filter(|fit| fit.0).count(),
                fits.iter().filter(|fit| fit.1).count(),
                fits.iter().filter(|fit| fit.2).count(),
            ]
            .map(|count| share(count, fits.len()));
            let peaks: Vec<bool> = fits.iter().filter_map(|fit| fit.3).collect();
            let held = share(peaks.iter().filter(|&&held| held).count(), peaks.len());
            let named = share(peaks.len(), fits.len());
            let peak = if peak.is_infinite() {
                format!("{named:.1}, all false")
            } else {
                format!("{named:.0}, {held:.0}")
            };
            format!("{lambda:.0} / {sigma:.0} / {kappa:.0}; {peak}")
        };
        std::iter::once(name(&design)).chain(TRUTHS.map(cell)).collect()
    };
    Table {
        caption: format!(
            "Before the semicolon: the percentages of intervals for λ / σ / κ that contain the true figure. After the \
                semicolon: the percentage of studies that report a peak, and the percentage of these peaks with an \
                interval that contains the true peak. If κ is 0, throughput has no peak, so every reported peak is \
                false. There are {SETS} studies per cell."
        ),
        head: std::iter::once("design".to_owned())
            .chain(TRUTHS.map(|(sigma, kappa)| format!("σ {sigma}, κ {kappa}")))
            .collect(),
        rows: DESIGNS.map(row).to_vec(),
    }
}

fn peaks() -> Table {
    type Curve = (&'static str, fn(f64) -> f64);
    const CURVES: [Curve; 6] = [
        ("full at 16", |n| n.min(16.0)),
        ("full at 48", |n| n.min(48.0)),
        ("full at 64", |n| n.min(64.0)),
        ("5% serialised, full at 64", |n| n.min(64.0) / (1.0 + 0.05 * (n.min(64.0) - 1.0))),
        ("N / (1 + N/32)", |n| n / (1.0 + n / 32.0)),
        ("30% serialised", |n| n / (1.0 + 0.3 * (n - 1.0))),
    ];
    let row = |design: Design| {
        let cell = |(title, curve): Curve| {
            let found = each(&format!("{title}, {}", name(&design)), SETS, |random| {
                stats::usl(&design.measure(random, curve).levels()).is_ok_and(|found| found.peak.is_some())
            });
            format!("{:.1}", 100.0 * found.iter().filter(|&&peak| peak).count() as f64 / found.len() as f64)
        };
        std::iter::once(name(&design)).chain(CURVES.map(cell)).collect()
    };
    Table {
        caption: format!("Percentage of {SETS} studies that report a peak although throughput never falls."),
        head: std::iter::once("design".to_owned()).chain(CURVES.map(|(title, _)| title.to_owned())).collect(),
        rows: DESIGNS.map(row).to_vec(),
    }
}
