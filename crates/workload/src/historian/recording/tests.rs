//! Recordings in every form that users bring, and in forms that are none.

use proptest::prelude::*;

use super::*;

fn file(content: impl AsRef<[u8]>) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), content).unwrap();
    file
}

/// Opens a recording and reads all its events as `(tag, offset_ns, value, quality)`.
fn read(content: impl AsRef<[u8]>) -> Result<(Recording, Vec<Recorded>), RecordingError> {
    let file = file(content);
    let recording = Recording::open(file.path())?;
    let events = recording.events()?.collect::<Result<_, _>>()?;
    Ok((recording, events))
}

fn recorded(tag: u32, offset_ms: u64, value: f64, quality: u8) -> Recorded {
    Recorded { tag, offset_ns: offset_ms * 1_000_000, value, quality }
}

/// The same three events in whatever form.
fn is_three_events(content: impl AsRef<[u8]>) {
    let text = String::from_utf8_lossy(content.as_ref()).into_owned();
    let (recording, events) = read(content).unwrap();
    assert_eq!(recording.tags(), ["P1.FT101.PV", "P1.TT101.PV"], "{text}");
    let expected = [recorded(0, 0, 1.5, 192), recorded(1, 500, 20.0, 192), recorded(0, 1_000, -2.0, 192)];
    assert_eq!(events, expected, "{text}");
    assert_eq!((recording.event_count(), recording.late_events()), (3, 0), "{text}");
    assert_eq!(recording.duration_ns(), 1_000_000_000, "{text}");
    assert_eq!(recording.first_us(), 1_700_000_000_000_000, "{text}");
    assert_eq!(recording.last_us(), 1_700_000_001_000_000, "{text}");
}

const PLAIN: &str = "1700000000,P1.FT101.PV,1.5\n1700000000.5,P1.TT101.PV,20\n1700000001,P1.FT101.PV,-2\n";

#[test]
fn every_form_gives_the_same_events() {
    is_three_events(PLAIN);
    is_three_events(PLAIN.trim_end());
    is_three_events(PLAIN.replace('\n', "\r\n"));
    is_three_events(PLAIN.replace(',', ";"));
    is_three_events(PLAIN.replace(',', " , "));
    is_three_events(PLAIN.replace("P1.FT101.PV", "\"P1.FT101.PV\""));
    is_three_events(format!("\u{feff}{PLAIN}"));
    is_three_events(format!("time,tag,value\n{PLAIN}"));
    is_three_events(format!("\u{feff}\"Time\";\"Tag\";\"Value\"\r\n{}", PLAIN.replace(',', ";")));
    is_three_events(format!("\n\n{}", PLAIN.replace('\n', "\n\n")));
    is_three_events(PLAIN.replace("1700000000.5", "1700000000.500000000999"));
    is_three_events(
        PLAIN
            .replace("1700000000.5", "1700000000500")
            .replace("1700000000,", "1700000000000,")
            .replace("1700000001,", "1700000001000,"),
    );
    is_three_events(
        PLAIN
            .replace("1700000000.5", "1700000000500000")
            .replace("1700000000,", "1700000000000000,")
            .replace("1700000001,", "1700000001000000,"),
    );
    is_three_events(
        PLAIN
            .replace("1700000000.5", "2023-11-14T22:13:20.5Z")
            .replace("1700000000,", "2023-11-14T23:13:20+01:00,")
            .replace("1700000001,", "2023-11-14T22:13:21Z,"),
    );
}

#[test]
fn a_tag_may_hold_the_delimiter_in_quotes() {
    let (recording, _) = read("1,\"A,B;C\",1\n2,\"A \"\"quoted\"\"\",1\n").unwrap();
    assert_eq!(recording.tags(), ["A,B;C", "A \"quoted\""]);
}

#[test]
fn qualities_and_truths_are_read() {
    let (_, events) = read("0,A,true,bad\n1,A,FALSE,\n2,A,3,17\n3,A,4\n").unwrap();
    let expected = [
        recorded(0, 0, 1.0, 0),
        recorded(0, 1_000, 0.0, 192),
        recorded(0, 2_000, 3.0, 17),
        recorded(0, 3_000, 4.0, 192),
    ];
    assert_eq!(events, expected);
}

#[test]
fn late_events_are_counted_and_keep_their_place() {
    let (recording, events) = read("100,A,1\n105,A,2\n103,A,3\n104,A,4\n90,A,5\n105,A,6\n").unwrap();
    assert_eq!(recording.late_events(), 3);
    let offsets: Vec<u64> = events.iter().map(|event| event.offset_ns / 1_000_000_000).collect();
    assert_eq!(offsets, [0, 5, 3, 4, 0, 5]);
    assert_eq!((recording.first_us(), recording.last_us()), (90_000_000, 105_000_000));
    assert_eq!(recording.duration_ns(), 5_000_000_000);
}

/// The message without the path, which is another one each time.
fn message(content: impl AsRef<[u8]>) -> String {
    let file = file(content);
    let error = Recording::open(file.path()).unwrap_err().to_string();
    error.replace(file.path().to_str().unwrap(), "plant.csv")
}

#[test]
fn mistakes_are_told_with_line_text_and_remedy() {
    let content =
        "time,tag,value\n1,A,1\n\nyesterday,A,1\n2,,1\n3,A,\"1,5\"\n4,A\n5,A,1,fine\n6,A,NaN\n7,A,1\n8,A,?\n";
    insta::assert_snapshot!(message(content), @"the recording plant.csv has 7 mistakes: line 4: `yesterday`: give a time as a number since 1970, as the first line does; line 5: ``: give the name of a tag; line 6: `1,5`: give a number with a decimal point, or true or false; line 7: `4 A`: give time, tag and value, and quality if there is one; line 8: `fine`: give a quality from 0 to 255, or good, uncertain or bad, or nothing; and 2 more");
}

#[test]
fn lines_are_numbered_as_an_editor_does() {
    let wrong = "1,A,1\n\n\n2,A,x\n3,\"B\n\nB\",x\n4,A,x\n";
    for content in
        [wrong.to_owned(), wrong.replace('\n', "\r\n"), wrong.replace('\n', "\r"), format!("\u{feff}{wrong}")]
    {
        let file = file(&content);
        let Err(RecordingError::Mistakes { first, .. }) = Recording::open(file.path()) else {
            panic!("{content:?}");
        };
        let lines: Vec<u64> = first.iter().map(|mistake| mistake.line).collect();
        assert_eq!(lines, [4, 5, 8], "{content:?}");
    }
}

#[test]
fn a_time_of_another_form_than_the_first_is_a_mistake() {
    insta::assert_snapshot!(message("2026-03-01T07:00:00Z,A,1\n1700000000,A,1\n2026-03-01T07:00:00,A,1\n"), @"the recording plant.csv has 2 mistakes: line 2: `1700000000`: give a time as 2026-03-01T07:00:00Z, as the first line does, with Z or an offset; line 3: `2026-03-01T07:00:00`: give a time as 2026-03-01T07:00:00Z, as the first line does, with Z or an offset");
}

/// A time after 2262 was answered by "give a time as 2026-…", which it was.
#[test]
fn a_time_that_cannot_be_stored_is_told_as_that() {
    for content in [
        "2262-04-12T00:00:00Z,A,1\n",
        "2026-03-01T07:00:00Z,A,1\n9999-01-01T00:00:00Z,A,1\n",
        "1,A,1\n9300000000,A,1\n",
        "9999999999999999999,A,1\n",
    ] {
        let told = message(content);
        assert!(told.contains("from the year 1677 to 2262-04-11: give one within"), "{told}");
    }
    assert!(!message("2026-13-01T07:00:00Z,A,1\n").contains("2262"));
}

/// A recording that was a pipe was waited for.
#[test]
fn a_pipe_is_no_recording() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("plant.csv");
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let told = Recording::open(&path).unwrap_err().to_string();
    assert!(told.contains("it is a FIFO: give a file"), "{told}");
}

#[test]
fn a_first_line_with_a_wrong_time_and_a_value_is_no_header() {
    insta::assert_snapshot!(message("01.03.2026 07:00,A,1\n1,A,1\n"), @"the recording plant.csv has 1 mistake: line 1: `01.03.2026 07:00`: give a time as 2026-03-01T07:00:00Z, or as seconds, milliseconds or microseconds since 1970");
}

#[test]
fn a_recording_without_events_says_so() {
    for content in ["", "\n\n", "\u{feff}"] {
        assert_eq!(
            message(content),
            "the recording plant.csv has no events: give a line `time,tag,value` for each"
        );
    }
    insta::assert_snapshot!(message("time,tag,value\n"), @"the recording plant.csv has no events, only a header: give a line `time,tag,value` for each");
}

#[test]
fn other_encodings_and_endless_quotes_are_told() {
    insta::assert_snapshot!(message([0xff, 0xfe, b't', 0]), @"cannot read the recording plant.csv: it is UTF-16: save it as CSV in UTF-8");
    insta::assert_snapshot!(message(b"1,K\xfchler,1\n"), @"the recording plant.csv has 1 mistake: line 1: `K�hler`: save the file as UTF-8");
    let endless = format!("1,A,1\n2,\"A,1\n{}", "3,A,1\n".repeat(400_000));
    insta::assert_snapshot!(message(endless), @"cannot read the recording plant.csv: it has a line of more than 1 MiB: close the quotes of each field");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("plant.csv");
    let error = Recording::open(&path).unwrap_err().to_string();
    assert!(error.contains(path.to_str().unwrap()) && error.contains("No such file"), "{error}");
    assert!(matches!(Recording::open(directory.path()), Err(RecordingError::Read { .. })));
}

#[test]
fn a_file_that_changes_between_the_passes_is_an_error() {
    for (changed, event) in [
        (PLAIN.replace("P1.TT101.PV", "P1.NEW"), 2),
        (PLAIN.replace("20", "twenty"), 2),
        (format!("{PLAIN}1700000001,P1.FT101.PV,3\n"), 4),
        (PLAIN.lines().next().unwrap().to_owned(), 2),
        (PLAIN.replace("1700000001", "1700000009"), 3),
        (String::new(), 1),
    ] {
        let file = file(PLAIN);
        let recording = Recording::open(file.path()).unwrap();
        std::fs::write(file.path(), &changed).unwrap();
        let mut events = recording.events().unwrap();
        let error = events.by_ref().find_map(Result::err);
        let Some(RecordingError::Changed { event: told, .. }) = error else {
            panic!("{error:?} of {changed}");
        };
        assert_eq!(told, event, "{changed}");
        assert!(events.next().is_none());
    }
    let removed = file(PLAIN);
    let recording = Recording::open(removed.path()).unwrap();
    removed.close().unwrap();
    assert!(matches!(recording.events(), Err(RecordingError::Read { .. })));
}

proptest! {
    #[test]
    fn what_is_written_is_what_is_read(
        events in prop::collection::vec((0..4_000_000_000_u64, 0..20_u32, -1e9..1e9_f64, any::<u8>()), 1..200),
    ) {
        let line = |(us, tag, value, quality): &(u64, u32, f64, u8)| {
            let time = jiff::Timestamp::from_microsecond(*us as i64).unwrap();
            format!("{time},TAG{tag},{value},{quality}\n")
        };
        let (recording, read) = read(events.iter().map(line).collect::<String>()).unwrap();
        prop_assert_eq!(read.len(), events.len());
        for (event, (us, tag, value, quality)) in read.iter().zip(&events) {
            prop_assert_eq!(&recording.tags()[event.tag as usize], &format!("TAG{tag}"));
            prop_assert_eq!(event.offset_ns, us.saturating_sub(events[0].0) * 1_000);
            prop_assert_eq!((event.value, event.quality), (*value, *quality));
        }
    }

    #[test]
    fn no_file_makes_the_reader_fail(content in prop::collection::vec(any::<u8>(), 0..300)) {
        if let Ok((recording, events)) = read(&content) {
            prop_assert_eq!(recording.event_count(), events.len() as u64);
        }
    }
}
