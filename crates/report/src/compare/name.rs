//! What runs are called where people read: by the name that their users gave them, else by their directories; paths stand beside.

use super::{Compare, ComparedStudy, label};

impl Compare {
    /// The same with runs called what their users call them, or as their directories, where that tells them apart.
    pub(super) fn shortly(&self) -> Self {
        let short: Vec<String> = self.studies.iter().map(ComparedStudy::shortly).collect();
        let is_one = |name: &&String| short.iter().filter(|other| other == name).count() == 1;
        let names: Vec<(&String, &String)> =
            self.studies.iter().map(|study| &study.name).zip(&short).collect();
        let of = |name: &String| {
            let found = names.iter().find(|(long, _)| *long == name).map(|(_, short)| *short);
            found.filter(is_one).unwrap_or(name).clone()
        };
        let mut all = self.clone();
        all.first.iter_mut().for_each(|name| *name = of(name));
        all.studies.iter_mut().for_each(|study| study.name = of(&study.name));
        for against in &mut all.against {
            against.runs.iter_mut().for_each(|name| *name = of(name));
            against.name = label(&against.runs);
            for within in &mut against.within {
                (within.run, within.of) = (of(&within.run), of(&within.of));
            }
        }
        all
    }
}

impl ComparedStudy {
    /// Its own name, or that of its directory.
    fn shortly(&self) -> String {
        let own = || self.name.rsplit('/').find(|part| !part.is_empty()).unwrap_or(&self.name).to_owned();
        self.own_name.clone().unwrap_or_else(own)
    }
}
