//! `latency.hlog`: the HdrHistogram log, version 1.3, that other tools plot and merge.
//!
//! Each interval leaves one line a histogram: `Tag=read,<start_s>,<length_s>,<max_ms>,<base64>`. The tag is the
//! operation kind for what users feel (response time in an open loop, service time in a closed one); an open
//! loop adds `<kind>.service` and `<kind>.lag`. Start and length are seconds since the load began. The log does
//! not tell phases: those stand in `samples.ndjson`, under the same end of the interval.

use std::fmt::Write as _;

use record::{HistogramError, Interval, Latency, OperationInterval};

use crate::sum::{Adder, Sum};

const SERVICE: &str = ".service";
const LAG: &str = ".lag";

/// The lines before the first histogram.
pub(crate) fn header(load_started: Option<&str>) -> String {
    let mut text = "#[Histogram log format version 1.3]\n".to_owned();
    let started = load_started.and_then(|text| text.parse::<jiff::Timestamp>().ok());
    if let Some(started) = started {
        let seconds = started.as_millisecond() as f64 / 1e3;
        let _ = writeln!(text, "#[StartTime: {seconds:.3} (seconds since epoch), {started}]");
    }
    text.push_str("#[Time stamps are seconds since the load began]\n");
    text.push_str("#[Histograms are in nanoseconds, Interval_Max is in milliseconds]\n");
    text.push_str(
        "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
    );
    text
}

/// The lines of one interval, of all of its operation kinds.
pub(crate) fn lines(interval: &Interval) -> String {
    let mut text = String::new();
    for (kind, operation) in &interval.operations {
        assert!(is_tag(kind), "invalid operation kind for a histogram log: {kind:?}");
        line(&mut text, kind, "", interval, operation.latency());
        if operation.response.is_some() {
            line(&mut text, kind, SERVICE, interval, &operation.service);
        }
        if let Some(lag) = &operation.lag {
            line(&mut text, kind, LAG, interval, lag);
        }
    }
    text
}

/// Whether a reader of the log can tell where the tag ends and which part of it is the kind.
fn is_tag(kind: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_graphic() && byte != b',';
    !kind.is_empty() && kind.bytes().all(plain) && !kind.ends_with(SERVICE) && !kind.ends_with(LAG)
}

fn line(text: &mut String, kind: &str, suffix: &str, interval: &Interval, latency: &Latency) {
    let start_s = interval.end_s - interval.length_s;
    let length_s = interval.length_s;
    let max_ms = latency.max_us().unwrap_or(0.0) / 1e3;
    let histogram = latency.to_base64();
    let _ = writeln!(text, "Tag={kind}{suffix},{start_s:.9},{length_s:.9},{max_ms:.6},{histogram}");
}

/// What a histogram line holds of an operation kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// What users feel.
    Latency,
    /// Service time in an open loop.
    Service,
    /// Lag in an open loop.
    Lag,
}

/// A line of the log whose histogram is not decoded yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Line<'a> {
    pub(crate) kind: &'a str,
    pub(crate) part: Part,
    pub(crate) end_s: f64,
    pub(crate) histogram: &'a str,
}

/// Reads one line; `None` for the header and comments.
pub(crate) fn parse(line: &str) -> Option<Result<Line<'_>, String>> {
    if line.is_empty() || line.starts_with('#') || line.starts_with('"') {
        return None;
    }
    Some(parse_histogram_line(line).ok_or_else(|| "not a tagged histogram line".to_owned()))
}

fn parse_histogram_line(line: &str) -> Option<Line<'_>> {
    let mut fields = line.strip_prefix("Tag=")?.split(',');
    let tag = fields.next()?;
    let start_s: f64 = fields.next()?.parse().ok()?;
    let length_s: f64 = fields.next()?.parse().ok()?;
    let _max_ms: f64 = fields.next()?.parse().ok()?;
    let histogram = fields.next()?;
    let (kind, part) = split_tag(tag);
    fields.next().is_none().then_some(Line { kind, part, end_s: start_s + length_s, histogram })
}

fn split_tag(tag: &str) -> (&str, Part) {
    if let Some(kind) = tag.strip_suffix(SERVICE) {
        (kind, Part::Service)
    } else if let Some(kind) = tag.strip_suffix(LAG) {
        (kind, Part::Lag)
    } else {
        (tag, Part::Latency)
    }
}

/// The histograms of one operation kind, summed as their lines come.
#[derive(Debug, Default)]
pub(crate) struct Summed {
    latency: Sum,
    service: Option<Sum>,
    lag: Option<Sum>,
}

impl Summed {
    /// The sum that a line belongs to.
    pub(crate) fn part(&mut self, part: Part) -> &mut Sum {
        match part {
            Part::Latency => &mut self.latency,
            Part::Service => self.service.get_or_insert_default(),
            Part::Lag => self.lag.get_or_insert_default(),
        }
    }

    /// The filled cells of what users feel, if they can be counted.
    pub(crate) fn cells(&self) -> Option<&[u64]> {
        self.latency.cells()
    }

    /// The operations, yet without counts. A service time of its own tells an open loop.
    pub(crate) fn operation(&self, adder: &Adder) -> Result<OperationInterval, HistogramError> {
        let latency = adder.total(&self.latency)?;
        let (service, response) = match &self.service {
            Some(service) => (adder.total(service)?, Some(latency)),
            None => (latency, None),
        };
        let lag = self.lag.as_ref().map(|lag| adder.total(lag)).transpose()?;
        Ok(OperationInterval { service, response, lag, ..OperationInterval::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
    use record::Phase;

    fn of(latency_ns: u64) -> Latency {
        let mut latency = Latency::new();
        latency.record_ns(latency_ns);
        latency
    }

    fn open_loop_interval() -> Interval {
        let read = OperationInterval {
            count: 1,
            service: of(1_000_000),
            response: Some(of(2_500_000)),
            lag: Some(of(1_500_000)),
            ..OperationInterval::default()
        };
        Interval {
            end_s: 3.25,
            length_s: 0.25,
            phase: Phase::Measure,
            operations: BTreeMap::from([("read".to_owned(), read)]),
            gauges: BTreeMap::new(),
            generator_cpu_us: 0,
            generator_busiest_share: 0.0,
            generator_pauses: None,
        }
    }

    #[test]
    fn other_tools_read_the_log() {
        let log = header(Some("2026-11-21T07:30:00Z")) + &lines(&open_loop_interval());
        let entries: Vec<LogEntry<'_>> =
            IntervalLogIterator::new(log.as_bytes()).collect::<Result<_, _>>().unwrap();
        let mut tags = Vec::new();
        for entry in &entries {
            match entry {
                LogEntry::Interval(line) => tags.push((line.tag().unwrap().to_string(), line.max())),
                LogEntry::StartTime(time) => assert_eq!(time.as_secs(), 1_795_246_200),
                other => panic!("{other:?}"),
            }
        }
        let names: Vec<&str> = tags.iter().map(|(tag, _)| tag.as_str()).collect();
        assert_eq!(names, ["read", "read.service", "read.lag"]);
        assert!((tags[0].1 - 2.5).abs() < 0.01, "Interval_Max is in milliseconds: {tags:?}");
        assert_eq!(entries.len(), 4);
    }

    #[test]
    fn a_line_is_read_back_with_its_part_and_end() {
        let log = lines(&open_loop_interval());
        let read: Vec<Line<'_>> = log.lines().map(|line| parse(line).unwrap().unwrap()).collect();
        let parts: Vec<Part> = read.iter().map(|line| line.part).collect();
        assert_eq!(parts, [Part::Latency, Part::Service, Part::Lag]);
        assert!(read.iter().all(|line| line.kind == "read" && (line.end_s - 3.25).abs() < 1e-9));
        let mut adder = Adder::new();
        let mut summed = Summed::default();
        for line in &read {
            adder.add(line.histogram, summed.part(line.part)).unwrap();
        }
        let operation = summed.operation(&adder).unwrap();
        let expected = &open_loop_interval().operations["read"];
        assert_eq!(operation.response, expected.response);
        assert_eq!(operation.service, expected.service);
        assert_eq!(operation.lag, expected.lag);
    }

    #[test]
    fn header_without_a_start_is_still_a_log() {
        let log = header(None);
        assert!(!log.contains("StartTime:"));
        assert!(log.lines().all(|line| parse(line).is_none()));
        assert!(IntervalLogIterator::new(log.as_bytes()).all(|entry| entry.is_ok()));
    }

    #[test]
    #[should_panic(expected = "invalid operation kind for a histogram log")]
    fn a_kind_that_would_break_the_log_is_our_mistake() {
        let mut interval = open_loop_interval();
        let read = interval.operations.remove("read").unwrap();
        interval.operations.insert("read, then write".to_owned(), read);
        let _ = lines(&interval);
    }
}
