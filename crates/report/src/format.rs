//! Numbers and units as text. Knows nothing of what the numbers mean.

use record::{Loop, State, shown};

/// Units of bytes in powers of ten.
const DECIMAL_UNITS: [(&str, f64); 4] = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];

/// Stands where a figure is unknown or too few samples support it.
pub(crate) const UNKNOWN: &str = "–";

/// A whole number with thousands separators.
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number as a whole one.
pub(crate) fn whole(value: f64) -> String {
    grouped(value.round() as u64)
}

/// A text with a capital as its first letter.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// `yes` or `no`.
pub(crate) fn yes(holds: bool) -> String {
    if holds { "yes" } else { "no" }.to_owned()
}

/// A measured figure with three significant digits, four above a thousand: more would be noise.
pub fn figure(value: f64) -> String {
    if !value.is_finite() {
        return UNKNOWN.to_owned();
    }
    if value < 0.0 {
        return format!("−{}", figure(-value));
    }
    if value >= 999.5 {
        let step = 10f64.powf((value.log10().floor() - 3.0).max(0.0));
        return grouped(((value / step).round() * step) as u64);
    }
    let decimals = match value {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.9995 => 2,
        v if v >= 0.09995 => 3,
        v if v > 0.0 => 4,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// A latency given in microseconds, in the unit that suits its size.
pub fn latency(us: f64) -> String {
    match us {
        us if us < 999.5 => format!("{} µs", figure(us)),
        us if us < 999_500.0 => format!("{} ms", figure(us / 1e3)),
        us => format!("{} s", figure(us / 1e6)),
    }
}

/// A latency that was set and not measured: without needless digits.
pub(crate) fn plain_latency(us: f64) -> String {
    match us {
        us if us < 999.5 => format!("{} µs", plain(us)),
        us if us < 999_500.0 => format!("{} ms", plain(us / 1e3)),
        us => format!("{} s", plain(us / 1e6)),
    }
}

/// A number that was set and not measured: without needless digits.
pub(crate) fn plain(value: f64) -> String {
    if value >= 1000.0 {
        return grouped(value.round() as u64);
    }
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// As [`latency`], or a dash.
pub(crate) fn latency_or_dash(us: Option<f64>) -> String {
    us.map_or_else(|| UNKNOWN.to_owned(), latency)
}

/// As [`figure`], or a dash.
pub(crate) fn figure_or_dash(value: Option<f64>) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), figure)
}

/// A count that may be a mean, as a whole number.
pub(crate) fn count(value: f64) -> String {
    grouped(value.round() as u64)
}

/// A share (0–1) in per cent.
pub(crate) fn per_cent(share: f64) -> String {
    let value = share * 100.0;
    let digits = if value.abs() < 9.95 { 1 } else { 0 };
    let text = format!("{value:.digits$}%");
    text.replace('-', "−")
}

/// A measured figure that may be negative, or 0 by rounding.
pub(crate) fn signed(value: f64) -> String {
    if value.abs() < 5e-5 { "0".to_owned() } else { figure(value) }
}

/// An interval, its ends with the minus of [`figure`].
pub(crate) fn range(low: f64, high: f64) -> String {
    let between = if high < 0.0 { " to " } else { "–" };
    format!("{}{between}{}", signed(low), signed(high))
}

/// An interval whose upper end may be infinite: `from 12.3 on`.
pub(crate) fn open_range((low, high): (f64, f64)) -> String {
    if high.is_finite() { range(low, high) } else { format!("from {} on", signed(low)) }
}

/// A change in per cent, without the unit: whole per cent, with one digit below ten.
pub(crate) fn points(per_cent: f64) -> String {
    if per_cent.abs() >= 999.5 {
        return figure(per_cent);
    }
    let digits = usize::from(per_cent.abs() < 9.95);
    let text = format!("{per_cent:.digits$}");
    let is_zero = text.chars().all(|c| matches!(c, '-' | '0' | '.'));
    if is_zero { "0".to_owned() } else { text.trim_end_matches(".0").replace('-', "−") }
}

/// Bytes in binary units.
pub fn bytes(count: u64) -> String {
    const UNITS: [(&str, u64); 4] = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    for (unit, size) in UNITS {
        if count >= size {
            let value = count as f64 / size as f64;
            let text = if value.fract() == 0.0 { grouped(value as u64) } else { figure(value) };
            return format!("{text} {unit}");
        }
    }
    format!("{} B", grouped(count))
}

/// Bytes in units of powers of ten, as disks are sold.
pub(crate) fn decimal_bytes(count: f64) -> String {
    let unit = DECIMAL_UNITS.into_iter().find(|(_, size)| count >= size * 0.9995);
    unit.map_or_else(
        || format!("{} B", figure(count)),
        |(unit, size)| format!("{} {unit}", figure(count / size)),
    )
}

/// Bytes that were set and not measured, in units of powers of ten: without needless digits.
pub(crate) fn plain_bytes(count: f64) -> String {
    let unit = DECIMAL_UNITS.into_iter().find(|(_, size)| count >= size * 0.9995);
    unit.map_or_else(|| plain(count), |(unit, size)| format!("{} {unit}", plain(count / size)))
}

/// A span of years in the unit that suits its length.
pub(crate) fn time_until(years: f64) -> String {
    const DAYS: f64 = 365.25;
    match years {
        years if years >= 2.0 => format!("{} years", figure(years)),
        years if years * DAYS >= 2.0 => format!("{} days", figure(years * DAYS)),
        years => format!("{} hours", figure(years * DAYS * 24.0)),
    }
}

/// Seconds, with minutes and hours where they help.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        _ if seconds > 0.0 && seconds < 0.9995 => latency(seconds * 1e6),
        // The sum of nothing is -0.
        0..=9 => format!("{} s", figure(seconds + 0.0)),
        10..=119 => format!("{whole} s"),
        120..=7_199 if whole.is_multiple_of(60) => format!("{} min", whole / 60),
        120..=7_199 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// A moment of a run: `0:47`.
pub(crate) fn clock(seconds: f64) -> String {
    let whole = seconds.max(0.0) as u64;
    format!("{}:{:02}", whole / 60, whole % 60)
}

/// `one trial`, `3 trials`.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    if count == 1 { format!("one {one}") } else { format!("{} {many}", grouped(count as u64)) }
}

/// Words as a shell takes them for the same words.
pub(crate) fn command_line(words: &[String]) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "_@%+=:,./-".contains(letter);
    let quoted = |word: &String| match !word.is_empty() && word.chars().all(is_plain) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// Items that a sentence names before it counts.
const NAMED: usize = 6;

/// `a, b and 3 more`: the first few, then how many there are.
pub(crate) fn listed<T: AsRef<str>>(items: &[T]) -> String {
    listed_by(", ", items)
}

/// The same of items that have commas of their own, by what stands between two of them.
pub(crate) fn listed_by<T: AsRef<str>>(between: &str, items: &[T]) -> String {
    let named: Vec<&str> = items.iter().take(NAMED).map(AsRef::as_ref).collect();
    match items.len() {
        count if count > NAMED => format!("{} and {} more", named.join(between), count - NAMED),
        _ => named.join(between),
    }
}

/// The state in a word.
pub fn state(state: State) -> &'static str {
    match state {
        State::Planned => "planned",
        State::Running => "running",
        State::Complete => "complete",
        State::Failed => "failed",
        State::Aborted => "aborted",
        State::Invalid => "invalid",
        State::Skipped => "skipped",
    }
}

/// Breaks text into lines of at most `width` characters at spaces, but not between a figure and its unit; a longer
/// word keeps its own line. A line that stands in the text itself ends none here.
#[must_use]
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    const UNITS: [&str; 13] =
        ["%", "µs", "ms", "s", "IOPS", "GiB", "MiB", "TB", "GB", "MB", "rows", "years", "min"];
    let is_unit = |word: &str| {
        let word = word.trim_end_matches([',', ';', '.', ')']);
        UNITS.contains(&word) || word.ends_with("/s") || word.ends_with("/min")
    };
    let mut words: Vec<String> = Vec::new();
    for word in shown(text).split(' ') {
        match words.last_mut().filter(|last| is_unit(word) && last.ends_with(|c: char| c.is_ascii_digit())) {
            Some(figure) => *figure = format!("{figure} {word}"),
            None => words.push(word.to_owned()),
        }
    }
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

/// An amount with two digits after the point.
pub(crate) fn money(amount: f64) -> String {
    let cents = (amount * 100.0).round() as u64;
    format!("{}.{:02}", grouped(cents / 100), cents % 100)
}

/// The cost of an order a minute: as money from a tenth on, below with more digits.
pub(crate) fn small_money(amount: f64) -> String {
    if amount >= 0.095 { money(amount) } else { figure(amount) }
}

/// The loop in words.
pub(crate) fn pacing(pacing: Loop) -> String {
    match pacing {
        Loop::Closed { think_time_us } if think_time_us > 0.0 => {
            format!("closed loop, {} think time", latency(think_time_us))
        }
        Loop::Closed { .. } => "closed loop".to_owned(),
        Loop::Open { rate_per_s, poisson: true } => {
            format!("open loop, {}/s (Poisson)", figure(rate_per_s))
        }
        Loop::Open { rate_per_s, poisson: false } => {
            format!("open loop, {}/s (evenly spaced)", figure(rate_per_s))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page showed `--fault kill at 3s`, which fails when it is pasted.
    #[test]
    fn a_command_line_can_be_pasted_into_a_shell() {
        let words =
            |words: &[&str]| command_line(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
        assert_eq!(
            words(&["prony", "register", "--fault", "kill at 3s"]),
            "prony register --fault 'kill at 3s'"
        );
        assert_eq!(
            words(&["--threshold", "p99_ms < 20", "--tag=it's", ""]),
            r"--threshold 'p99_ms < 20' '--tag=it'\''s' ''"
        );
        assert_eq!(
            words(&["prony", "disk", "/data/a-b_c", "--block-size=8KiB"]),
            "prony disk /data/a-b_c --block-size=8KiB"
        );
        assert_eq!(words(&["$(reboot)"]), "'$(reboot)'");
    }

    #[test]
    fn figures_keep_three_or_four_significant_digits() {
        let given =
            [0.0, 0.0712, 0.5, 1.0, 9.996, 12.34, 99.96, 781.4, 999.7, 12_345.0, 74_123.0, 3_512_345.0];
        let text: Vec<String> = given.into_iter().map(figure).collect();
        let wanted = [
            "0",
            "0.0712",
            "0.500",
            "1.00",
            "10.0",
            "12.3",
            "100",
            "781",
            "1,000",
            "12,350",
            "74,120",
            "3,512,000",
        ];
        assert_eq!(text, wanted);
        assert_eq!(figure(f64::NAN), UNKNOWN);
        assert_eq!(figure(-3.2), "−3.20");
    }

    #[test]
    fn units_follow_the_magnitude_after_rounding() {
        assert_eq!(latency(0.85), "0.850 µs");
        assert_eq!(latency(999.7), "1.00 ms");
        assert_eq!(latency(912.0), "912 µs");
        assert_eq!(latency(2_500_000.0), "2.50 s");
        assert_eq!(bytes(4096), "4 KiB");
        assert_eq!(bytes(1536), "1.50 KiB");
        assert_eq!(bytes(512), "512 B");
        assert_eq!(duration(3600.0), "60 min");
        assert_eq!([0.0819, 0.0, 1.0, 9.4].map(duration), ["81.9 ms", "0 s", "1.00 s", "9.40 s"]);
        assert_eq!(duration(125.0), "2 min 5 s");
        assert_eq!(decimal_bytes(6.5e9), "6.50 GB");
        assert_eq!(decimal_bytes(999_800.0), "1.00 MB");
        assert_eq!(decimal_bytes(512.0), "512 B");
        assert_eq!(time_until(12.3), "12.3 years");
        assert_eq!(time_until(0.5), "183 days");
        assert_eq!(time_until(0.001), "8.77 hours");
        assert_eq!(per_cent(0.1234), "12%");
        assert_eq!(per_cent(-0.0512), "−5.1%");
    }

    #[test]
    fn wrapping_keeps_every_word() {
        let text = "one two three four fifteencharacters six";
        let lines = wrapped(text, 9);
        assert_eq!(lines.join(" "), text);
        assert_eq!(lines[0], "one two");
        assert_eq!(wrapped("it took 12 ms, no more", 10), ["it took", "12 ms, no", "more"]);
    }
}
