//! A quick look at a study that has none of its own: fewer blocks, shorter times, smaller files.

use toml::{Table, Value};

use crate::expand::{self, Point};
use crate::search::Search;
use crate::settings;
use crate::study::Study;
use crate::work::{self, Known, NAMES, Visitor};

/// Blocks of a quick look: one to see, one to see whether it comes again.
const BLOCKS: u32 = 2;

/// Warm-up of each combination's first trial.
const FIRST_WARM_UP: &str = "500ms";

/// What a quick look lays over a study.
pub(crate) struct Look {
    /// Dotted keys and their values.
    pub(crate) laid: Vec<(String, Value)>,
    /// Keys that a configuration's own give way for: times.
    pub(crate) times: Vec<String>,
}

/// A quick look at a study.
pub(crate) fn look(study: &Study) -> Look {
    let points = expand::points(study).unwrap_or_default();
    let mut laid: Vec<(String, Value)> = vec![
        ("blocks".to_owned(), i64::from(study.blocks.min(BLOCKS)).into()),
        ("cool_down".to_owned(), "0s".into()),
    ];
    if !study.stop.is_never() {
        // Two blocks settle nothing.
        laid.push(("stop".to_owned(), "never".into()));
    }
    if study.first_warm_up.is_some() {
        laid.push(("first_warm_up".to_owned(), FIRST_WARM_UP.into()));
    }
    let mut times = Vec::new();
    for name in
        NAMES.iter().filter(|name| points.iter().any(|point| point.work.any().workload().name() == **name))
    {
        let Some((parameters, [warm_up, window])) = work::with(name, Shortened { study, points: &points })
        else {
            continue;
        };
        times.extend([format!("workload.{name}.{warm_up}"), format!("workload.{name}.{window}")]);
        laid.extend(parameters.into_iter().map(|(key, value)| (format!("workload.{name}.{key}"), value)));
    }
    if study.search.is_some() {
        let Search { confirm, confirmations, cool_down, .. } = Search::quick();
        laid.extend(confirm.map(|confirm| ("search.confirm".to_owned(), confirm.to_string().into())));
        laid.extend([
            ("search.confirmations".to_owned(), i64::from(confirmations).into()),
            ("search.cool_down".to_owned(), cool_down.to_string().into()),
        ]);
    }
    Look { laid, times }
}

/// The parameters that a workload shortens, and the names of its times.
struct Shortened<'a> {
    study: &'a Study,
    points: &'a [Point],
}

impl Visitor for Shortened<'_> {
    type Of = (Table, [&'static str; 2]);

    fn of<W: Known>(self) -> Self::Of {
        let shared = W::given(&self.study.workload).clone().unwrap_or_default();
        let asked = self.points.iter().filter_map(|point| point.work.asked::<W>());
        let asked: Vec<&W> = asked.map(|asked| &asked.settings).collect();
        let look = W::quick_look(&shared, &asked);
        // What cannot be written is no parameter.
        (settings::table(&look).unwrap_or_default(), W::TIMES)
    }
}
