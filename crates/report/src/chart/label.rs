//! Labels at the ends of lines that do not cover each other.

use super::canvas::{Canvas, Ink, Side};

/// Least distance of two labels, in units.
const APART: f64 = 16.0;

/// A label beside a height.
pub(crate) struct Label {
    pub(crate) ink: Ink,
    pub(crate) y: f64,
    pub(crate) text: String,
}

/// Writes the labels at `x`, moved up and down as little as keeps them apart and between `top` and `bottom`.
pub(crate) fn beside(canvas: &mut Canvas<'_>, x: f64, (top, bottom): (f64, f64), mut labels: Vec<Label>) {
    labels.sort_by(|a, b| a.y.total_cmp(&b.y));
    let heights = apart(&labels.iter().map(|label| label.y).collect::<Vec<_>>(), top, bottom);
    for (label, y) in labels.iter().zip(heights) {
        canvas.text(label.ink, Side::Right, (x, y), &label.text);
    }
}

/// Heights in the same order, apart from each other. More than fit are spread evenly.
fn apart(heights: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let distance = APART.min((bottom - top) / heights.len().saturating_sub(1).max(1) as f64);
    let mut placed: Vec<f64> = heights.iter().map(|height| height.clamp(top, bottom)).collect();
    for index in 1..placed.len() {
        placed[index] = placed[index].max(placed[index - 1] + distance);
    }
    let mut most = bottom;
    for height in placed.iter_mut().rev() {
        *height = height.min(most);
        most = *height - distance;
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn labels_never_cover_each_other(mut heights in prop::collection::vec(0.0f64..200.0, 0..12)) {
            heights.sort_by(f64::total_cmp);
            let placed = apart(&heights, 10.0, 190.0);
            prop_assert!(placed.windows(2).all(|pair| pair[1] - pair[0] >= APART - 1e-9));
            prop_assert!(placed.iter().all(|y| (10.0 - 1e-9..=190.0 + 1e-9).contains(y)));
        }
    }
}
