//! The colours of the pages have enough contrast in light and in dark mode (WCAG 2.2, 1.4.3 and 1.4.11).

use std::collections::BTreeMap;

use super::STYLE;

/// Minimum contrast of text with its background.
const TEXT_LEAST: f64 = 4.5;
/// Minimum contrast of lines and areas with their background.
const DRAWN_LEAST: f64 = 3.0;

/// Colour variables in the first `:root` rule after the text `from`. This is the general rule or the rule for dark screens.
fn colours(from: &str) -> BTreeMap<&'static str, &'static str> {
    let (_, rest) = STYLE.split_once(from).unwrap();
    let (_, rest) = rest.split_once(":root {").unwrap();
    let (inside, _) = rest.split_once('}').unwrap();
    let pairs = inside.split(';').filter_map(|pair| pair.trim().split_once(": "));
    pairs.filter_map(|(name, value)| Some((name.strip_prefix("--")?, value.strip_prefix('#')?))).collect()
}

/// Relative luminance of `fff` or `17202a`.
fn luminance(colour: &str) -> f64 {
    let digits: String = match colour.len() {
        3 => colour.chars().flat_map(|digit| [digit, digit]).collect(),
        _ => colour.to_owned(),
    };
    let linear = |at: usize| {
        let share = f64::from(u8::from_str_radix(&digits[at..at + 2], 16).unwrap()) / 255.0;
        if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(0) + 0.7152 * linear(2) + 0.0722 * linear(4)
}

fn contrast(one: &str, other: &str) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn contrast_is_that_of_the_guideline() {
    assert!((contrast("000", "fff") - 21.0).abs() < 1e-9);
    assert!((contrast("777777", "ffffff") - 4.48).abs() < 0.01);
}

#[test]
fn text_and_series_stand_out_in_light_and_in_dark() {
    for (mode, from) in [("light", ""), ("dark", "prefers-color-scheme: dark")] {
        let of = colours(from);
        let is_text = |name: &str| {
            ["ink", "soft", "warning", "failure", "finding", "good", "note"].contains(&name)
                || name.starts_with("series-")
                || name.starts_with("event-")
        };
        let mut texts = 0;
        for (name, colour) in of.iter().filter(|(name, _)| is_text(name)) {
            texts += 1;
            for ground in ["paper", "card"] {
                let found = contrast(colour, of[ground]);
                assert!(found >= TEXT_LEAST, "{mode}: {name} on {ground} has {found:.2}");
            }
        }
        assert!(texts >= 12, "{mode}: {texts} colours of text");
        let axis = contrast(of["axis"], of["paper"]);
        assert!(axis >= DRAWN_LEAST, "{mode}: axes have {axis:.2}");
    }
}

#[test]
fn both_modes_have_the_same_colours() {
    let names = |from: &str| colours(from).into_keys().collect::<Vec<_>>();
    assert_eq!(names(""), names("prefers-color-scheme: dark"));
}
