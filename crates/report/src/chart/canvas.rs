//! Drawing into an SVG by plotters' backend, with named inks in place of colours.
//!
//! The backend knows whole pixels and fixed colours only. So a canvas draws at four times the size and scales by the
//! view box, and each ink is drawn in a colour that stands for it and is exchanged for a CSS variable in the end.

use maud::Markup;
use plotters::prelude::{DrawingBackend, IntoFont, RGBColor, SVGBackend, ShapeStyle, TextStyle};
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Backend pixels a unit.
const SCALE: f64 = 4.0;

/// Size of all text, in units. The page makes it greater where the chart is shown small; see [`TEXT_WIDEST`].
pub(crate) const TEXT: f64 = 13.0;

/// Size of a large number, in units. The page enlarges it together with all other text.
pub(crate) const LARGE: f64 = 20.0;

/// Width of a character of the text at the greatest size that the page gives it, in units: room is kept for this.
const TEXT_WIDEST: f64 = 9.4;

/// What something is drawn in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    /// Text of axes and remarks.
    Text,
    /// Numbers that are themselves the drawing.
    Strong,
    /// Lines that help the eye.
    Grid,
    /// Axes and marks.
    Axis,
    /// Background of warm-up and of intervals.
    Shade,
    /// Data; numbers past the last wrap around.
    Series(usize),
    /// Times in which something happened, such as an audit. There are two.
    Event(usize),
}

/// Placeholder colours that mark the start and the end of a group.
const GROUP_BEGIN: RGBColor = RGBColor(1, 2, 0);
const GROUP_END: RGBColor = RGBColor(1, 2, 1);

/// Colours for data. Readers do not tell more of them apart.
pub(crate) const SERIES: usize = 4;

/// Colours for events.
const EVENTS: usize = 2;

impl Ink {
    const PLAIN: [(Self, &'static str); 5] = [
        (Self::Text, "soft"),
        (Self::Grid, "grid"),
        (Self::Axis, "axis"),
        (Self::Shade, "shade"),
        (Self::Strong, "ink"),
    ];

    fn number(self) -> u8 {
        match self {
            Self::Text => 0,
            Self::Grid => 1,
            Self::Axis => 2,
            Self::Shade => 3,
            Self::Strong => 4,
            Self::Series(index) => 5 + (index % SERIES) as u8,
            Self::Event(index) => 5 + (SERIES + index % EVENTS) as u8,
        }
    }

    /// The variable of the page that it is drawn in.
    pub(crate) fn variable(self) -> String {
        match self {
            Self::Series(index) => format!("series-{}", index % SERIES + 1),
            Self::Event(index) => format!("event-{}", index % EVENTS + 1),
            plain => {
                Self::PLAIN.iter().find(|(ink, _)| *ink == plain).map_or("ink", |(_, name)| *name).to_owned()
            }
        }
    }

    /// A colour that stands for the ink until the drawing is done.
    fn stand_in(self) -> RGBColor {
        RGBColor(1, 1, self.number())
    }

    fn stroke(self, width: f64, opacity: f64) -> ShapeStyle {
        ShapeStyle {
            color: self.stand_in().mix(opacity),
            filled: false,
            stroke_width: (width * SCALE).round() as u32,
        }
    }
}

/// Side of its point that a text stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Begins at the point.
    Right,
    /// Ends at the point.
    Left,
    /// Is centred on it.
    Middle,
}

fn type_of(ink: Ink, side: Side, size: f64) -> TextStyle<'static> {
    let side = match side {
        Side::Right => HPos::Left,
        Side::Left => HPos::Right,
        Side::Middle => HPos::Center,
    };
    // The backend divides by 1.24.
    let font = ("sans-serif", size * SCALE * 1.24).into_font();
    TextStyle {
        color: ink.stand_in().to_backend_color(),
        pos: Pos::new(side, VPos::Center),
        ..TextStyle::from(font)
    }
}

/// Room that a text may take, in units.
pub(crate) fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * TEXT_WIDEST
}

/// A surface with its origin at the upper left, and the groups that were started on it.
pub(crate) struct Canvas<'a>(SVGBackend<'a>, Vec<Markup>);

impl Canvas<'_> {
    /// Draws one group, which the script of the page can move or hide. `group` is the empty element `<g>`.
    pub(crate) fn group(&mut self, group: Markup, draw: impl FnOnce(&mut Self)) {
        self.1.push(group);
        self.edge(GROUP_BEGIN);
        draw(self);
        self.edge(GROUP_END);
    }

    /// Draws an empty rectangle in a reserved colour to mark the start or the end of a group: the backend has no groups.
    fn edge(&mut self, colour: RGBColor) {
        let style = ShapeStyle { color: colour.to_rgba(), filled: true, stroke_width: 0 };
        drawn(self.0.draw_rect((0, 0), (0, 0), &style, true));
    }

    pub(crate) fn path(&mut self, ink: Ink, width: f64, points: &[(f64, f64)]) {
        if points.len() > 1 {
            drawn(self.0.draw_path(points.iter().copied().map(pixel), &ink.stroke(width, 1.0)));
        }
    }

    pub(crate) fn line(&mut self, ink: Ink, width: f64, from: (f64, f64), to: (f64, f64)) {
        drawn(self.0.draw_line(pixel(from), pixel(to), &ink.stroke(width, 1.0)));
    }

    /// A dashed horizontal or vertical line, whose beginning is its left or upper end.
    pub(crate) fn dashes(&mut self, ink: Ink, from: (f64, f64), to: (f64, f64)) {
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let at = |along: f64| {
            let share = (along / length).min(1.0);
            (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share)
        };
        for dash in 0..(length / 7.0).ceil() as usize {
            let begin = dash as f64 * 7.0;
            self.line(ink, 1.0, at(begin), at(begin + 4.0));
        }
    }

    pub(crate) fn rectangle(
        &mut self,
        ink: Ink,
        opacity: f64,
        upper_left: (f64, f64),
        lower_right: (f64, f64),
    ) {
        drawn(self.0.draw_rect(pixel(upper_left), pixel(lower_right), &ink.stroke(0.0, opacity), true));
    }

    /// A filled area; its outline is closed.
    pub(crate) fn area(&mut self, ink: Ink, opacity: f64, outline: &[(f64, f64)]) {
        if outline.len() > 2 {
            drawn(self.0.fill_polygon(outline.iter().copied().map(pixel), &ink.stroke(0.0, opacity)));
        }
    }

    pub(crate) fn dot(&mut self, ink: Ink, radius: f64, centre: (f64, f64)) {
        drawn(self.0.draw_circle(pixel(centre), (radius * SCALE) as u32, &ink.stroke(0.0, 1.0), true));
    }

    pub(crate) fn ring(&mut self, ink: Ink, radius: f64, centre: (f64, f64)) {
        drawn(self.0.draw_circle(pixel(centre), (radius * SCALE) as u32, &ink.stroke(2.0, 1.0), false));
    }

    pub(crate) fn text(&mut self, ink: Ink, side: Side, at: (f64, f64), text: &str) {
        drawn(self.0.draw_text(text, &type_of(ink, side, TEXT), pixel(at)));
    }

    /// Draws a large number.
    pub(crate) fn large(&mut self, side: Side, at: (f64, f64), text: &str) {
        drawn(self.0.draw_text(text, &type_of(Ink::Strong, side, LARGE), pixel(at)));
    }
}

/// Converts a point from units to pixels of the drawing.
pub(super) fn pixel((x, y): (f64, f64)) -> (i32, i32) {
    ((x * SCALE).round() as i32, (y * SCALE).round() as i32)
}

fn drawn<E: std::error::Error>(result: Result<(), E>) {
    if let Err(error) = result {
        unreachable!("drawing into memory cannot fail: {error}");
    }
}

/// An `<svg>` of the size in units, with a title and a description, that takes the colours of its page.
pub(crate) fn svg(
    (width, height): (f64, f64),
    title: &str,
    description: &str,
    draw: impl FnOnce(&mut Canvas<'_>),
) -> String {
    let mut drawing = String::new();
    let groups;
    {
        let mut canvas = Canvas(SVGBackend::with_string(&mut drawing, pixel_size(width, height)), Vec::new());
        draw(&mut canvas);
        drawn(canvas.0.present());
        groups = canvas.1;
    }
    let body = drawing.split_once(">\n").map_or("", |(_, body)| body);
    let (width, height) = pixel_size(width, height);
    let title = maud::html! { title { (title) } desc { (description) } }.into_string();
    format!("<svg role=\"img\" viewBox=\"0 0 {width} {height}\">{title}{}", grouped(&inked(body), &groups))
}

/// Replaces the marker rectangles by the start and end tags of groups.
fn grouped(body: &str, groups: &[Markup]) -> String {
    let edge = |RGBColor(red, green, blue): RGBColor| {
        format!("<rect x=\"0\" y=\"0\" width=\"0\" height=\"0\" fill=\"#{red:02X}{green:02X}{blue:02X}\"/>")
    };
    let (begin, end) = (edge(GROUP_BEGIN), edge(GROUP_END));
    let mut pieces = body.split(&begin);
    let mut whole = pieces.next().unwrap_or_default().to_owned();
    for (group, piece) in groups.iter().zip(pieces) {
        whole.push_str(group.0.strip_suffix("</g>").unwrap_or(&group.0));
        whole.push_str(piece);
    }
    whole.replace(&end, "</g>")
}

/// An area of a drawing, and the text that a reader sees when pointing at it.
pub(crate) struct Area {
    pub(crate) upper_left: (f64, f64),
    pub(crate) lower_right: (f64, f64),
    pub(crate) text: String,
}

/// The `<svg>` with these areas on top of the drawing.
pub(crate) fn titled(svg: &str, areas: &[Area]) -> String {
    let area = |Area { upper_left, lower_right, text }: &Area| {
        let ((left, top), (right, bottom)) = (pixel(*upper_left), pixel(*lower_right));
        maud::html! {
            rect x=(left) y=(top) width=(right - left) height=(bottom - top) fill="none" pointer-events="all" {
                title { (text) }
            }
        }
        .into_string()
    };
    let drawn = svg.trim_end().trim_end_matches("</svg>");
    format!("{drawn}{}</svg>", areas.iter().map(area).collect::<String>())
}

fn pixel_size(width: f64, height: f64) -> (u32, u32) {
    ((width * SCALE) as u32, (height * SCALE) as u32)
}

/// Exchanges the stand-ins for the page's colours, and drops attributes that say what holds anyway. Texts cannot be
/// hit: their quotation marks are escaped.
fn inked(body: &str) -> String {
    let mut body = body.to_owned();
    let stand_in = |ink: Ink| format!("\"#0101{:02X}\"", ink.number());
    let variable = |name: &str| format!("\"var(--{name})\"");
    for (ink, name) in Ink::PLAIN {
        body = body.replace(&stand_in(ink), &variable(name));
    }
    for ink in (0..SERIES).map(Ink::Series).chain((0..EVENTS).map(Ink::Event)) {
        body = body.replace(&stand_in(ink), &variable(&ink.variable()));
    }
    for needless in
        [" opacity=\"1\"", " font-family=\"sans-serif\"", " stroke=\"none\"", " stroke-width=\"0\""]
    {
        body = body.replace(needless, "");
    }
    body.replace(" \"/>", "\"/>").replace(">\n", ">").replace("\n</text>", "</text>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_hold_what_is_drawn_in_them_whatever_texts_say() {
        let evil = "<rect x=\"0\" y=\"0\" width=\"0\" height=\"0\" fill=\"#010201\"/></script>\u{1b}";
        let drawn = svg((10.0, 10.0), evil, evil, |canvas| {
            canvas.group(maud::html! { g data-name=(evil) {} }, |canvas| {
                canvas.text(Ink::Text, Side::Right, (1.0, 1.0), evil);
                canvas
                    .group(maud::html! { g id="inner" {} }, |canvas| canvas.dot(Ink::Axis, 1.0, (1.0, 1.0)));
            });
            canvas.line(Ink::Axis, 1.0, (0.0, 0.0), (1.0, 1.0));
        });
        let drawn = record::escaped(&drawn);
        let document = roxmltree::Document::parse(&drawn).unwrap();
        let names = |node: roxmltree::Node<'_, '_>| {
            node.children().map(|child| child.tag_name().name().to_owned()).collect::<Vec<String>>()
        };
        assert_eq!(names(document.root_element()), ["title", "desc", "g", "line"]);
        let outer = document.descendants().find(|node| node.has_attribute("data-name")).unwrap();
        assert_eq!(names(outer), ["text", "g"]);
        assert_eq!(outer.attribute("data-name"), Some(evil.replace('\u{1b}', "\\x1b").as_str()));
        assert_eq!(names(outer.last_child().unwrap()), ["circle"]);
    }
}
