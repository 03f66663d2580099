//! The ground of a chart: margins, axes, grid and their texts.

use maud::html;

use super::canvas::{Canvas, Ink, Side, text_width};
use super::scale::Scale;
use crate::format::plain;

/// Width of every chart in units; two stand side by side on a wide page, one fills a telephone.
pub(crate) const WIDTH: f64 = 480.0;

/// Height of most charts.
pub(crate) const HEIGHT: f64 = 250.0;

const TOP: f64 = 36.0;
/// Height of the title of a vertical axis.
pub(crate) const TITLE: f64 = 9.0;
const BELOW: f64 = 44.0;
const ROOM: f64 = 8.0;

/// Where the data goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
}

/// An axis with its texts.
pub(crate) struct Axis<'a> {
    pub(crate) scale: Scale,
    pub(crate) title: &'a str,
    pub(crate) print: fn(f64) -> String,
}

impl Frame {
    /// Upper and lower end of the data in a chart of this height.
    pub(crate) const fn heights(height: f64) -> (f64, f64) {
        (TOP, height - BELOW)
    }

    /// The frame that leaves room for the texts of the vertical axis and for the labels right of the data.
    pub(crate) fn new<'t>(height: f64, y: &Axis<'_>, labels: impl IntoIterator<Item = &'t str>) -> Self {
        let widest = |width: f64, text: f64| width.max(text);
        let ticks = y.scale.ticks().into_iter().map(|tick| text_width(&(y.print)(tick))).fold(0.0, widest);
        let labels = labels.into_iter().map(text_width).fold(0.0, widest);
        let (top, bottom) = Self::heights(height);
        let right = if labels > 0.0 { WIDTH - labels - 2.0 * ROOM } else { WIDTH - 2.0 * ROOM };
        Self { left: ticks + ROOM, right, top, bottom }
    }

    /// Grid, ticks and titles of both axes.
    pub(crate) fn draw(&self, canvas: &mut Canvas<'_>, x: &Axis<'_>, y: &Axis<'_>) {
        self.vertical(canvas, y);
        self.horizontal(canvas, x);
    }

    /// The vertical axis alone, with its grid.
    pub(crate) fn vertical(&self, canvas: &mut Canvas<'_>, y: &Axis<'_>) {
        self.vertical_titled(canvas, y, TITLE);
    }

    /// The vertical axis with its title at this height.
    pub(crate) fn vertical_titled(&self, canvas: &mut Canvas<'_>, y: &Axis<'_>, height: f64) {
        canvas.text(Ink::Text, Side::Right, (0.0, height), &titled(y));
        for tick in y.scale.ticks() {
            let height = y.scale.at(tick);
            canvas.line(Ink::Grid, 1.0, (self.left, height), (self.right, height));
            canvas.text(Ink::Text, Side::Left, (self.left - ROOM, height), &(y.print)(tick));
        }
    }

    /// The horizontal axis only. Its line and ticks are one group: the script of the page replaces the ticks when it zooms in on the time.
    pub(crate) fn horizontal(&self, canvas: &mut Canvas<'_>, x: &Axis<'_>) {
        canvas.group(html! { g data-ticks="" {} }, |canvas| self.ticks(canvas, x));
        canvas.text(Ink::Text, Side::Left, (self.right, self.bottom + 34.0), &titled(x));
    }

    fn ticks(&self, canvas: &mut Canvas<'_>, x: &Axis<'_>) {
        canvas.line(Ink::Axis, 1.0, (self.left, self.bottom), (self.right, self.bottom));
        let mut free = 0.0;
        for tick in x.scale.ticks() {
            let at = x.scale.at(tick);
            canvas.line(Ink::Axis, 1.0, (at, self.bottom), (at, self.bottom + 4.0));
            let text = (x.print)(tick);
            let half = text_width(&text) / 2.0;
            if at - half >= free && at + half <= WIDTH {
                canvas.text(Ink::Text, Side::Middle, (at, self.bottom + 15.0), &text);
                free = at + half + ROOM / 2.0;
            }
        }
    }
}

fn titled(axis: &Axis<'_>) -> String {
    format!("{}{}", axis.title, axis.scale.remark())
}

/// Seconds on an axis: `90`, or `12 min` and `1.5 h` where the axis is long.
pub(crate) fn time_tick(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{} s", plain(s)),
        s if s < 7200.0 => format!("{} min", plain(s / 60.0)),
        s => format!("{} h", plain(s / 3600.0)),
    }
}

/// Rates and sizes that are always below this are drawn from zero on a scale up to it.
const LEAST: f64 = 1.0;

/// An even axis from zero.
pub(crate) fn from_zero(most: f64, title: &str) -> Axis<'_> {
    let (top, bottom) = Frame::heights(HEIGHT);
    Axis { scale: Scale::from_zero(most.max(LEAST) * 1.05, bottom, top), title, print: plain }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::canvas::svg;

    /// Of four charts of one quantity three were logarithmic, and none said so.
    #[test]
    fn an_axis_by_factors_says_so() {
        let (top, bottom) = Frame::heights(HEIGHT);
        let drawn = |scale: Scale| {
            let y = Axis { scale, title: "IOPS", print: plain };
            let frame = Frame::new(HEIGHT, &y, []);
            let x = Axis {
                scale: Scale::time(0.0, 9.0, frame.left, frame.right),
                title: "time",
                print: time_tick,
            };
            svg((WIDTH, HEIGHT), "title", "description", |canvas| frame.draw(canvas, &x, &y))
        };
        let by_factors = drawn(Scale::decades(10.0, 5_000.0, bottom, top));
        assert!(by_factors.contains("IOPS (logarithmic)") && !by_factors.contains("time (logarithmic)"));
        assert!(!drawn(Scale::from_zero(5_000.0, bottom, top)).contains("logarithmic"));
    }
}
