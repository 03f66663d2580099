//! The rate of the watched configuration, round by round, and the window that was judged.

use crate::chart::Chart;
use crate::chart::canvas::{Ink, Side, TEXT, svg};
use crate::chart::frame::{Axis, Frame, HEIGHT, WIDTH};
use crate::chart::scale::{Scale, Spread};
use crate::disk::SteadyState;
use crate::format::{self, plain};
use crate::table::{Column, Row, Table};

/// None of fewer than two rounds.
pub(crate) fn rounds(state: &SteadyState) -> Option<Chart> {
    let count = state.rounds_per_s.len();
    let most = state.rounds_per_s.iter().copied().reduce(f64::max).filter(|_| count > 1)?;
    let (top, bottom) = Frame::heights(HEIGHT);
    let y = Axis { scale: Scale::from_zero(most * 1.05, bottom, top), title: "IOPS", print: plain };
    let frame = Frame::new(HEIGHT, &y, []);
    let (low, high) = (0.5, count as f64 + 0.5);
    let scale = Scale { spread: Spread::Time, low, high, from: frame.left, to: frame.right };
    let x = Axis { scale, title: "round", print: plain };
    let title = format!("Rate of each round: {}", state.watched);
    let points = || (1u32..).map(f64::from).zip(&state.rounds_per_s);
    let each = |(round, rate): (f64, &f64)| format!("round {round}: {}", format::figure(*rate));
    let description = points().map(each).collect::<Vec<String>>().join("; ");
    let svg = svg((WIDTH, HEIGHT), &title, &description, |canvas| {
        if let Some((first, last)) = state.window {
            let (left, right) = (scale.at(f64::from(first) - 0.5), scale.at(f64::from(last) + 0.5));
            canvas.rectangle(Ink::Shade, 1.0, (left, frame.top), (right, frame.bottom));
            if let Some(mean) = state.window_mean_per_s {
                let height = y.scale.at(mean);
                canvas.dashes(Ink::Text, (left, height), (right, height));
                let text = format!("mean {}", format::figure(mean));
                canvas.text(Ink::Text, Side::Left, (right - 4.0, height + TEXT), &text);
            }
        }
        frame.draw(canvas, &x, &y);
        let points: Vec<(f64, f64)> =
            points().map(|(round, rate)| (scale.at(round), y.scale.at(*rate))).collect();
        canvas.path(Ink::Series(0), 2.0, &points);
        points.iter().for_each(|&point| canvas.dot(Ink::Series(0), 3.0, point));
    });
    let rows = points().map(|(round, rate)| Row::of(vec![plain(round), format::figure(*rate)]));
    let table = Table {
        title: title.clone(),
        columns: vec![Column::number("round"), Column::number("IOPS")],
        rows: rows.collect(),
    };
    let caption = match state.reached_in_round {
        Some(round) => format!("Shaded: the five rounds that first met the rule, in round {round}."),
        None => "Shaded: the last five rounds. They do not meet the rule.".to_owned(),
    };
    Some(Chart { heading: title, svg, legend: Vec::new(), caption, table })
}
