//! The ways in which each page is looked at: windows of three widths, dark colours, and paper.

/// One way. A picture of it has cells with sides of `cell` pixels.
#[derive(Debug)]
pub(super) struct View {
    /// As it stands in names of files.
    pub(super) name: &'static str,
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) cell: usize,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Light,
    Dark,
    Paper,
}

/// As wide and as high as two sheets of A4 without their margins.
pub(super) const PAPER: View =
    View { name: "print", width: 718, height: 2 * 1047, cell: 8, kind: Kind::Paper };

/// All of them.
pub(super) const VIEWS: [View; 5] = [
    View { name: "1280", width: 1280, height: 900, cell: 8, kind: Kind::Light },
    View { name: "400", width: 400, height: 900, cell: 4, kind: Kind::Light },
    View { name: "1920", width: 1920, height: 1080, cell: 12, kind: Kind::Light },
    View { name: "dark", width: 1280, height: 900, cell: 8, kind: Kind::Dark },
    PAPER,
];

impl View {
    /// The medium that style sheets ask for.
    pub(super) fn medium(&self) -> &'static str {
        if self.is_paper() { "print" } else { "screen" }
    }

    /// The colours that a reader has asked for.
    pub(super) fn scheme(&self) -> &'static str {
        if self.is_dark() { "dark" } else { "light" }
    }

    /// Whether it is a window of a desk: there all tables fit, and the first screen has the chart that is the answer.
    pub(super) fn is_desk(&self) -> bool {
        self.width == 1280
    }

    pub(super) fn is_dark(&self) -> bool {
        self.kind == Kind::Dark
    }

    pub(super) fn is_paper(&self) -> bool {
        self.kind == Kind::Paper
    }
}
