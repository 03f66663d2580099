//! The fonts of the pictures: DejaVu alone, which Debian installs with Chromium and has not changed for years.
//!
//! With the fonts of each machine, lines would break elsewhere and every picture would differ.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::ci::packages::Need::Font;
use crate::ci::packages::{self, Package};

/// Files of the faces that pages use.
const FILES: [&str; 4] =
    ["DejaVuSans.ttf", "DejaVuSans-Bold.ttf", "DejaVuSansMono.ttf", "DejaVuSansMono-Bold.ttf"];

/// The package with these files.
pub(super) const PACKAGE: Package = Package {
    name: "fonts-dejavu-core",
    needs: &[Font(FILES[0]), Font(FILES[1]), Font(FILES[2]), Font(FILES[3])],
    why: "report pages are shown with these fonts, the same on each machine",
};

/// Copies the fonts, writes a configuration of fontconfig that knows no others, and returns its path.
pub(super) fn configure(directory: &Path) -> Result<PathBuf> {
    let fonts = directory.join("fonts");
    fs::create_dir_all(&fonts)?;
    for file in FILES {
        let from = packages::font(file).with_context(|| format!("there is no {file}"))?;
        fs::copy(&from, fonts.join(file)).with_context(|| format!("cannot copy {}", from.display()))?;
    }
    let path = fonts.join("fonts.conf");
    fs::write(&path, configuration(&fonts)).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

fn configuration(fonts: &Path) -> String {
    let family = |generic: &str, family: &str| {
        format!("<alias><family>{generic}</family><prefer><family>{family}</family></prefer></alias>\n")
    };
    let families = [
        family("sans-serif", "DejaVu Sans"),
        family("system-ui", "DejaVu Sans"),
        family("monospace", "DejaVu Sans Mono"),
    ];
    format!(
        "<?xml version=\"1.0\"?>\n<!DOCTYPE fontconfig SYSTEM \"fonts.dtd\">\n<fontconfig>\n<dir>{0}</dir>\n\
         <cachedir>{0}/cache</cachedir>\n{1}</fontconfig>\n",
        fonts.display(),
        families.concat()
    )
}
