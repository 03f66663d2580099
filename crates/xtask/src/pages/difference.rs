//! How much two small pictures of a page differ.
//!
//! The measure is the share of cells that changed. A cell did not change if the other picture has about its level in the same place
//! or next to it: edges of letters that are drawn a little elsewhere change nothing, and a digit changes a few cells at most. A
//! column that moved, a line more, or a chart that is gone changes hundreds.

use super::grey::Grey;

/// A level outside of those of the other picture changed if it is farther away than this, of 255. References have 16 levels, so
/// that half a step of 17 is rounding.
const LEVELS_MOST: u8 = 20;
/// A picture of which a larger share changed is another one.
pub(super) const SHARE_MOST: f64 = 0.001;

/// The share of cells that changed, from 0 to 1. Pictures of two sizes have nothing in common.
pub(super) fn changed_share(reference: &Grey, now: &Grey) -> f64 {
    if (reference.width, reference.height) != (now.width, now.height) {
        return 1.0;
    }
    let cells = || (0..now.height).flat_map(|line| (0..now.width).map(move |column| (line, column)));
    let is_changed = |(line, column): &(usize, usize)| {
        is_outside(reference, now, *line, *column) || is_outside(now, reference, *line, *column)
    };
    cells().filter(is_changed).count() as f64 / now.levels.len().max(1) as f64
}

/// Whether the level of a cell is beyond those of the cells around it in the other picture.
fn is_outside(of: &Grey, other: &Grey, line: usize, column: usize) -> bool {
    let level = of.levels[line * of.width + column];
    let columns = column.saturating_sub(1)..(column + 2).min(other.width);
    let lines = line.saturating_sub(1)..(line + 2).min(other.height);
    let around = lines.flat_map(|line| &other.levels[line * other.width..][columns.clone()]);
    let (low, high) = around.fold((u8::MAX, u8::MIN), |(low, high), near| (low.min(*near), high.max(*near)));
    level.saturating_add(LEVELS_MOST) < low || level > high.saturating_add(LEVELS_MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHITE: u8 = 255;
    const INK: u8 = 30;
    /// Pixels of a side of a cell.
    const CELL: usize = 8;

    /// A page in the making, as it is in a window.
    #[derive(Clone)]
    struct Drawn(Grey);

    impl Drawn {
        /// A heading, five lines of text, a table of four columns, and a chart with axes and a line.
        fn page() -> Self {
            let mut page = Self(Grey::blank(1280, 900, WHITE)).text(50, 40, 500, 30);
            for line in 0..5 {
                page = page.text(50, 110 + 26 * line, 620, 16);
            }
            [50, 250, 400, 550].into_iter().fold(page, Self::column).chart(INK)
        }

        fn column(self, left: usize) -> Self {
            (0..8).fold(self, |page, row| page.text(left, 500 + 30 * row, 80, 14))
        }

        /// Axes, and a line of two pixels.
        fn chart(self, ink: u8) -> Self {
            let axes = self.filled(720, 120, 1, 300, ink).filled(720, 420, 500, 1, ink);
            (0..100).fold(axes, |page, step| page.filled(720 + 5 * step, 380 - 2 * step, 5, 2, ink))
        }

        /// Letters: strokes of two pixels, three apart.
        fn text(self, left: usize, top: usize, width: usize, height: usize) -> Self {
            (0..width / 5).fold(self, |page, stroke| page.filled(left + 5 * stroke, top, 2, height, INK))
        }

        fn filled(mut self, left: usize, top: usize, width: usize, height: usize, level: u8) -> Self {
            for line in top..top + height {
                self.0.levels[line * self.0.width + left..][..width].fill(level);
            }
            self
        }

        fn share(&self, other: &Self) -> f64 {
            changed_share(&self.0.reduced(CELL), &other.0.reduced(CELL))
        }
    }

    #[track_caller]
    fn passes(now: &Drawn) {
        let share = Drawn::page().share(now);
        assert!(share <= SHARE_MOST, "{share}");
    }

    #[track_caller]
    fn fails(now: &Drawn) {
        let share = Drawn::page().share(now);
        assert!(share > 2.0 * SHARE_MOST, "{share}");
    }

    #[test]
    fn the_same_page_and_a_noisy_one_pass() {
        assert_eq!(Drawn::page().share(&Drawn::page()), 0.0);
        let mut noisy = Drawn::page();
        for (at, level) in noisy.0.levels.iter_mut().enumerate() {
            *level = level.saturating_sub((at * 7_919 % 31) as u8);
        }
        passes(&noisy);
    }

    #[test]
    fn a_digit_of_a_text_and_of_a_large_figure_pass() {
        passes(&Drawn::page().filled(110, 110, 10, 16, WHITE));
        passes(&Drawn::page().filled(120, 40, 20, 30, WHITE));
        passes(&Drawn::page().filled(300, 530, 10, 14, INK));
    }

    #[test]
    fn a_column_that_moved_fails() {
        fails(&Drawn::page().filled(400, 500, 100, 240, WHITE).column(430));
    }

    #[test]
    fn a_chart_that_is_gone_and_one_that_is_new_fail() {
        fails(&Drawn::page().chart(WHITE));
        let share = Drawn::page().chart(WHITE).share(&Drawn::page());
        assert!(share > 2.0 * SHARE_MOST, "{share}");
    }

    #[test]
    fn a_line_more_fails() {
        let mut lower = Drawn::page();
        lower.0.levels.copy_within(..(900 - 26) * 1280, 26 * 1280);
        fails(&lower);
    }

    #[test]
    fn an_empty_page_fails_and_so_does_one_of_another_size() {
        fails(&Drawn(Grey::blank(1280, 900, WHITE)));
        fails(&Drawn(Grey::blank(1280, 892, WHITE)));
        assert_eq!(changed_share(&Grey::blank(9, 9, 0), &Grey::blank(9, 8, 0)), 1.0);
    }
}
