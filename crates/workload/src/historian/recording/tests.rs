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
    read_as(content, &Reading::default())
}

fn read_as(
    content: impl AsRef<[u8]>,
    reading: &Reading,
) -> Result<(Recording, Vec<Recorded>), RecordingError> {
    let file = file(content);
    let recording = Recording::open(file.path(), reading)?;
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
    assert_eq!((recording.event_count(), recording.order()), (3, Order::default()), "{text}");
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
    is_three_events(format!("sep=,\r\n{PLAIN}"));
    is_three_events(format!("\u{feff}sep=;\ntime;tag;value\n{}", PLAIN.replace(',', ";")));
    is_three_events(format!("SEP=|\n{}", PLAIN.replace(',', "|")));
    is_three_events(
        PLAIN
            .replace("1700000000.5", "1700000000500000000")
            .replace("1700000000,", "1700000000000000000,")
            .replace("1700000001,", "1700000001000000000,"),
    );
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
    let content = "0,A,true,bad\n1,A,FALSE,\n2,A,3,17\n3,A,4\n";
    let expected = [
        recorded(0, 0, 1.0, 0),
        recorded(0, 1_000, 0.0, 192),
        recorded(0, 2_000, 3.0, 17),
        recorded(0, 3_000, 4.0, 192),
    ];
    let opc = Reading { quality: Some(Qualities::Opc), ..Reading::default() };
    assert_eq!(read_as(content, &opc).unwrap().1, expected);
    // A good one tells that they are numbers of OPC.
    let (_, events) = read(format!("{content}4,A,5,192\n")).unwrap();
    assert_eq!(events[..4], expected);
}

/// A recording that was out of order was offered in bursts: 4,000 of 4,000 rows were written, and its rate was not held.
#[test]
fn a_recording_out_of_order_is_sorted_and_says_so() {
    let (recording, events) = read("100,A,1\n105,A,2\n103,A,3\n104,A,4\n90,A,5\n105,B,6\n").unwrap();
    let sorted: Vec<(u64, f64)> =
        events.iter().map(|event| (event.offset_ns / 1_000_000_000, event.value)).collect();
    assert_eq!(sorted, [(0, 5.0), (10, 1.0), (13, 3.0), (14, 4.0), (15, 2.0), (15, 6.0)]);
    assert_eq!(recording.order(), Order { late_events: 3, late_ns_max: 15_000_000_000 });
    assert_eq!((recording.first_us(), recording.last_us()), (90_000_000, 105_000_000));
    assert_eq!(recording.duration_ns(), 15_000_000_000);
    insta::assert_snapshot!(recording.notes().join("\n"), @"sorted the recording by time: 3 of its 6 events came after a later one, by 15s at most");
}

#[test]
fn a_recording_that_is_too_large_to_be_sorted_is_refused_with_a_way_out() {
    let open = |content: &str, sorted_max| {
        let file = file(content);
        Recording::open_with(file.path(), &Reading::default(), sorted_max).map_err(|error| error.to_string())
    };
    assert!(open("1,A,1\n3,A,2\n2,A,3\n", 3).is_ok());
    assert!(open("1,A,1\n2,A,2\n3,A,3\n", 2).is_ok(), "what is in order is never in memory");
    let told = open("1,A,1\n3,A,2\n2,A,3\n", 2).unwrap_err();
    assert!(told.contains("(1 of 3 events are out of order). prony sorts up to 2 in memory"), "{told}");
    assert!(told.contains("sort the lines by time"), "{told}");
}

#[test]
fn lines_without_a_value_are_passed_over_and_counted() {
    let (recording, events) =
        read("time,tag,value\n0,A,1\n1,A,\n\n2,B,NaN,bad\n3,A,null\n4,A,nan\n5,A,2\n").unwrap();
    assert_eq!(events, [recorded(0, 0, 1.0, 192), recorded(0, 5_000, 2.0, 192)]);
    assert_eq!((recording.tags(), recording.event_count()), (&["A".to_owned()][..], 2));
    insta::assert_snapshot!(recording.notes().join("\n"), @"4 lines have no value and were skipped; the first is line 3 of the recording");
    insta::assert_snapshot!(message("time,tag,value\n\n0,A,\n1,A,NaN\n"), @"the recording plant.csv has no values in the 2 lines starting at line 3: check the value column, or name it with workload.historian.columns");
    assert!(message("0,A,\nyesterday,A,\n").contains("line 2: `yesterday`"), "they are read all the same");
}

#[test]
fn what_spreadsheets_and_historians_write_is_read() {
    is_three_events(PLAIN.replace(',', "\t"));
    is_three_events(format!("Time\tTag\tValue\n{}", PLAIN.replace(',', "\t")));
    for delimiter in [";", "\t"] {
        is_three_events(
            PLAIN
                .replace(',', delimiter)
                .replace('.', ",")
                .replace("P1,FT101,PV", "P1.FT101.PV")
                .replace("P1,TT101,PV", "P1.TT101.PV"),
        );
    }
    is_three_events(
        "Tag Name;Timestamp;Note;Value\nP1.FT101.PV;1700000000;;1,5\nP1.TT101.PV;1700000000,5;a,b;20\nP1.FT101.PV;1700000001;;-2,0\n",
    );
    for separator in [" ", "T"] {
        let local = PLAIN
            .replace("1700000000.5", "2023-11-14#23:13:20.5")
            .replace("1700000000,", "2023-11-14#23:13:20,")
            .replace("1700000001,", "2023-11-14#23:13:21,")
            .replace('#', separator);
        let reading = Reading { time_zone: Some("+01:00".parse().unwrap()), ..Reading::default() };
        let (recording, events) = read_as(&local, &reading).unwrap();
        assert_eq!(events, read(PLAIN).unwrap().1);
        assert_eq!(recording.first_us(), 1_700_000_000_000_000);
        insta::allow_duplicates! {
            insta::assert_snapshot!(message(&local).replace("T23", " 23"), @"the recording plant.csv has local times, such as `2023-11-14 23:13:20` in line 1: give their time zone with workload.historian.time_zone, such as Europe/Berlin, UTC or +02:00");
        }
    }
}

#[test]
fn decimal_commas_are_told_and_not_mixed_with_points() {
    let (recording, _) = read("0;A;1\n1;A;1,5\n2;A;-0,25\n").unwrap();
    insta::assert_snapshot!(recording.notes().join("\n"), @"commas in values of the recording are read as decimal commas; the first is in line 2");
    insta::assert_snapshot!(message("0;A;1,5\n1;A;1.234\n2;A;1.234,5\n"), @"the recording plant.csv has 2 mistakes: line 2: `1.234`: use a decimal comma, as in earlier values, and no thousands separator; line 3: `1.234,5`: give a number with a decimal point or comma, true or false, or nothing");
    // As many commas as semicolons: read with commas it would be the value 5 of a tag `5;A;1`.
    let (recording, events) = read("1700000000,5;A;1,5\n").unwrap();
    assert_eq!((recording.tags(), events[0].value), (&["A".to_owned()][..], 1.5));
    assert_eq!(read("1,A;B;C,1\n").unwrap().0.tags(), ["A;B;C"]);
}

#[test]
fn columns_are_those_that_are_named() {
    let as_columns =
        |columns: &str| Reading { columns: Some(columns.parse().unwrap()), ..Reading::default() };
    let content = "id,what,when,how much,how good\n7,A,0,1.5,bad\n8,B,1,2,good\n";
    let expected = [recorded(0, 0, 1.5, 0), recorded(1, 1_000, 2.0, 192)];
    for columns in [
        "time=when,tag=what,value=How Much,quality=how good",
        "time=3,tag=2,value=4,quality=5",
        "tag=2,time=when,value=4,quality=5",
    ] {
        assert_eq!(read_as(content, &as_columns(columns)).unwrap().1, expected, "{columns}");
    }
    let (_, headless) = read_as("x,0,A,1.5\ny,1,B,2\n", &as_columns("time=2,tag=3,value=4")).unwrap();
    assert_eq!(headless, [recorded(0, 0, 1.5, 192), recorded(1, 1_000, 2.0, 192)]);
    insta::assert_snapshot!(message_as(content, &as_columns("time=when,tag=Name,value=4")), @"the recording plant.csv does not have exactly one column `Name`: its first line names id, what, when, how much, how good; give workload.historian.columns with some of these names, or with numbers");
    insta::assert_snapshot!(message_as("a,0,A\n", &as_columns("time=2,tag=3,value=4")), @"the recording plant.csv has 1 mistake: line 1: `a 0 A`: give at least 4 fields, up to the last of time, tag and value");
    insta::assert_snapshot!(message(content), @"the recording plant.csv has 2 mistakes: line 2: `7 A 0 1.5 bad`: give time, tag and value, and quality if there is one, or say which columns they are: workload.historian.columns time=1,tag=2,value=3; line 3: `8 B 1 2 good`: give time, tag and value, and quality if there is one, or say which columns they are: workload.historian.columns time=1,tag=2,value=3");
}

#[test]
fn times_of_a_zone_are_told_where_clocks_were_changed() {
    let reading = Reading { time_zone: Some("Europe/Berlin".parse().unwrap()), ..Reading::default() };
    let content = "2025-10-26 01:59:59,A,1\n2025-10-26 02:50:00,A,2\n2025-10-26 02:10:00,A,3\n2025-10-26 02:30:00,A,4\n2025-10-26 03:00:00,A,5\n";
    let (recording, events) = read_as(content, &reading).unwrap();
    let offsets_s: Vec<u64> = events.iter().map(|event| event.offset_ns / 1_000_000_000).collect();
    assert_eq!(offsets_s, [0, 3_001, 4_201, 5_401, 7_201]);
    insta::assert_snapshot!(recording.notes().join("\n"), @"3 times of the recording occurred twice in Europe/Berlin, when clocks went back. Where the times of a tag go back, the events after this point are counted in the repeated hour");
    insta::assert_snapshot!(message_as("2025-03-30 01:59:59,A,1\n2025-03-30 02:00:00,A,1\n", &reading), @"the recording plant.csv has 1 mistake: line 2: `2025-03-30 02:00:00`: this time does not exist in Europe/Berlin, because clocks went forward: give the time zone of these times, such as workload.historian.time_zone UTC");
    let (recording, _) = read_as(PLAIN, &reading).unwrap();
    insta::assert_snapshot!(recording.notes().join("\n"), @"the times of the recording include their zone: Europe/Berlin was not needed");
}

/// The message without the path, which is another one each time.
fn message(content: impl AsRef<[u8]>) -> String {
    message_as(content, &Reading::default())
}

fn message_as(content: impl AsRef<[u8]>, reading: &Reading) -> String {
    let file = file(content);
    let error = Recording::open(file.path(), reading).unwrap_err().to_string();
    error.replace(file.path().to_str().unwrap(), "plant.csv").replace(['‹', '›'], "")
}

fn reading(time_format: &str, zone: &str) -> Reading {
    let time_zone = (!zone.is_empty()).then(|| zone.parse().unwrap());
    Reading { time_zone, time_format: Some(time_format.parse().unwrap()), ..Reading::default() }
}

/// Days of a spreadsheet were taken for seconds since 1970: two events an hour apart were replayed 42 ms apart, without a word.
#[test]
fn times_of_other_programs_are_refused_with_their_readings_or_read_as_told() {
    let excel = "time;tag;value\n46174,25;A;1,5\n46174,2916666667;A;1,6\n46174,3333333333;A;1,7\n";
    insta::assert_snapshot!(message(excel), @"line 2 of the recording plant.csv has `46174,25`: this can mean 1970-01-01 12:49:34.25 UTC as seconds since 1970, or 2026-06-01 06:00:00 as days of a spreadsheet; say which with workload.historian.time_format unix-s or workload.historian.time_format excel");
    let (recording, events) = read_as(excel, &reading("excel", "UTC")).unwrap();
    assert_eq!(recording.first_us(), 1_780_293_600_000_000);
    let offsets_s: Vec<u64> = events.iter().map(|event| event.offset_ns / 1_000_000_000).collect();
    assert_eq!(offsets_s, [0, 3_600, 7_200]);
    insta::assert_snapshot!(message_as(excel, &reading("excel", "")), @"the recording plant.csv has local times, such as `46174,25` in line 2: give their time zone with workload.historian.time_zone, such as Europe/Berlin, UTC or +02:00");
    insta::assert_snapshot!(message_as("time;tag;value\n46174,25;A;1,5\nsoon;A;1\n", &reading("excel", "UTC")), @"the recording plant.csv has 1 mistake: line 3: `soon`: give a time in the format that workload.historian.time_format excel specifies");

    let day_first = "01.05.2026 08:00:00,123;A;1,5\n01.05.2026 08:00:01;A;1\n";
    insta::assert_snapshot!(message(day_first), @"line 1 of the recording plant.csv has `01.05.2026 08:00:00,123`: this can mean 2026-05-01 08:00:00.123 as day, month, year, or 2026-01-05 08:00:00.123 as month, day, year; say which with workload.historian.time_format '%d.%m.%Y %H:%M:%S%.f' or workload.historian.time_format '%m.%d.%Y %H:%M:%S%.f'");
    let (recording, events) = read_as(day_first, &reading("%d.%m.%Y %H:%M:%S%.f", "+02:00")).unwrap();
    assert_eq!((recording.first_us(), events[1].offset_ns), (1_777_615_200_123_000, 877_000_000));
    let (recording, _) = read_as(day_first, &reading("%m.%d.%Y %H:%M:%S%.f", "+02:00")).unwrap();
    assert_eq!(recording.first_us(), 1_767_592_800_123_000);

    for (name, time) in
        [("filetime", "134247672000000000"), ("%Y%m%d%H%M%S", "20260601060000"), ("wincc", "46174250000")]
    {
        let content = format!("{time},A,1\n");
        assert!(message(&content).contains(&format!("time_format {name}")), "{}", message(&content));
        let zone = if name == "filetime" { "" } else { "UTC" };
        assert_eq!(
            read_as(&content, &reading(name, zone)).unwrap().0.first_us(),
            1_780_293_600_000_000,
            "{name}"
        );
    }
}

/// 1 for valid was taken for OPC's 1, which is bad.
#[test]
fn flags_of_validity_are_not_taken_for_opc() {
    let flags = "0,A,1,1\n1,A,2,0\n";
    insta::assert_snapshot!(message(flags), @"line 1 of the recording plant.csv has `1`: this quality is bad as OPC DA, or good as a flag, bad as an error number, or good as an OPC UA status code. No line has a good OPC DA value, 192 or more. Give the kind with workload.historian.quality opc, workload.historian.quality flag, workload.historian.quality error or workload.historian.quality opc-ua");
    let as_meant = |quality| {
        let reading = Reading { quality: Some(quality), ..Reading::default() };
        read_as(flags, &reading).unwrap().1.iter().map(|event| event.quality).collect::<Vec<_>>()
    };
    assert_eq!(as_meant(Qualities::Flag), [192, 0]);
    assert_eq!(as_meant(Qualities::Opc), [1, 0]);
    assert_eq!(as_meant(Qualities::OpcUa), [192, 192]);
    assert_eq!(as_meant(Qualities::Error), [0, 192]);
    insta::assert_snapshot!(message("0,A,1,192\n1,A,2,valid\n"), @"the recording plant.csv has 1 mistake: line 2: `valid`: give a quality from 0 to 255, or good, uncertain or bad, or nothing; for numbers and flags of other programs, specify their meaning with workload.historian.quality");
}

#[test]
fn a_log_of_wincc_is_read_once_its_user_says_what_it_is() {
    let content = "\"VarName\";\"TimeString\";\"VarValue\";\"Validity\";\"Time_ms\"\r\n\
                   \"Pump\";\"01.05.2026 08:00:00\";12,5;1;46143333333,33\r\n\
                   \"$RT_OFF$\";\"01.05.2026 08:00:01\";0;2;46143333344,91\r\n\
                   \"Pump\";\"01.05.2026 08:00:02\";12,75;0;46143333356,48\r\n\
                   \"$RT_COUNT$\";3\r\n";
    assert!(message(content).contains("day, month, year"), "{}", message(content));
    let mut as_meant = reading("%d.%m.%Y %H:%M:%S", "UTC");
    insta::assert_snapshot!(message_as(content, &as_meant), @"line 3 of the recording plant.csv has `$RT_OFF$`: this is either a WinCC mark in the log or a tag with this name; choose with workload.historian.marks skip or workload.historian.marks keep");
    as_meant.marks = Some(Marks::Skip);
    insta::assert_snapshot!(message_as(content, &as_meant), @"line 2 of the recording plant.csv has `1`: this quality is bad as OPC DA, or good as a flag, bad as an error number, or good as an OPC UA status code. No line has a good OPC DA value, 192 or more. Give the kind with workload.historian.quality opc, workload.historian.quality flag, workload.historian.quality error or workload.historian.quality opc-ua");
    as_meant.quality = Some(Qualities::Flag);
    let (recording, events) = read_as(content, &as_meant).unwrap();
    assert_eq!(recording.tags(), ["Pump"]);
    assert_eq!(events, [recorded(0, 0, 12.5, 192), recorded(0, 2_000, 12.75, 0)]);
    insta::assert_snapshot!(recording.notes().join("\n"), @r"
    2 lines are marks of WinCC and were skipped; the first is line 3 of the recording
    commas in values of the recording are read as decimal commas; the first is in line 2
    ");
    let kept = Reading { marks: Some(Marks::Keep), ..Reading::default() };
    assert_eq!(read_as("0,$A$,1\n", &kept).unwrap().0.tags(), ["$A$"]);
    assert_eq!(read("0,$a b$,1\n").unwrap().0.tags(), ["$a b$"], "no mark");
}

/// The second hour of each tag was laid onto its first, and 80 minutes without an event followed.
#[test]
fn the_hour_that_clocks_show_twice_is_told_by_each_tag() {
    let times = ["01:50", "02:10", "02:40", "02:10", "02:40", "03:10"];
    let lines = |tag: &str| times.map(|time| format!("2026-10-25 {time}:00,{tag},1\n")).concat();
    let reading = Reading { time_zone: Some("Europe/Berlin".parse().unwrap()), ..Reading::default() };
    let content = lines("A") + &lines("B");
    let (_, mut events) = read_as(&content, &reading).unwrap();
    events.sort_by_key(|event| (event.tag, event.offset_ns));
    let minutes: Vec<u64> = events.iter().map(|event| event.offset_ns / 60_000_000_000).collect();
    let right = [0, 20, 50, 80, 110, 140];
    assert_eq!(minutes, [right, right].concat());
    let (_, events) = read_as(lines("A"), &reading).unwrap();
    assert_eq!(events.iter().map(|event| event.offset_ns / 60_000_000_000).collect::<Vec<_>>(), right);
    insta::assert_snapshot!(message_as(lines("A").replace("02:40:00,A,1\n2026-10-25 03:10", "03:10:00,A,1\n2026-10-25 02:05"), &reading), @"the recording plant.csv has 1 mistake: line 6: `2026-10-25 02:05:00`: this time occurred twice in Europe/Berlin, and earlier lines do not show which one is meant: use UTC, an offset, or lines sorted by time");
}

#[test]
fn mistakes_are_told_with_line_text_and_remedy() {
    let content =
        "time,tag,value\n1,A,1\n\nyesterday,A,1\n2,,1\n3,A,\"1,5\"\n4,A\n5,A,1,fine\n6,A,NaN\n7,A,1\n8,A,?\n";
    insta::assert_snapshot!(message(content), @"the recording plant.csv has 6 mistakes: line 4: `yesterday`: give the time in the form of the first line, a number since 1970; line 5: ``: give the name of a tag; line 6: `1,5`: use a number with a decimal point, true, false or nothing. With a decimal comma, separate fields by semicolons or tabs; line 7: `4 A`: give time, tag and value, and quality if there is one, or say which columns they are: workload.historian.columns time=1,tag=2,value=3; line 8: `fine`: give a quality from 0 to 255, or good, uncertain or bad, or nothing; for numbers and flags of other programs, specify their meaning with workload.historian.quality; and 1 more");
}

#[test]
fn lines_are_numbered_as_an_editor_does() {
    let wrong = "1,A,1\n\n\n2,A,x\n3,\"B\n\nB\",x\n4,A,x\n";
    for content in
        [wrong.to_owned(), wrong.replace('\n', "\r\n"), wrong.replace('\n', "\r"), format!("\u{feff}{wrong}")]
    {
        let file = file(&content);
        let Err(RecordingError::Mistakes { first, .. }) = Recording::open(file.path(), &Reading::default())
        else {
            panic!("{content:?}");
        };
        let lines: Vec<u64> = first.iter().map(|mistake| mistake.line).collect();
        assert_eq!(lines, [4, 5, 8], "{content:?}");
    }
}

#[test]
fn a_time_of_another_form_than_the_first_is_a_mistake() {
    insta::assert_snapshot!(message("2026-03-01T07:00:00Z,A,1\n1700000000,A,1\n2026-03-01T07:00:00,A,1\n"), @"the recording plant.csv has 2 mistakes: line 2: `1700000000`: give the time in the form of the first line, 2026-03-01T07:00:00Z, with Z or an offset; line 3: `2026-03-01T07:00:00`: give the time in the form of the first line, 2026-03-01T07:00:00Z, with Z or an offset");
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
        assert!(
            told.contains("this time cannot be stored: use times from the year 1677 to 2262-04-11"),
            "{told}"
        );
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
    let told = Recording::open(&path, &Reading::default()).unwrap_err().to_string();
    assert!(told.contains("it is a FIFO: give a regular file"), "{told}");
}

#[test]
fn a_first_line_with_a_wrong_time_and_a_value_is_no_header() {
    insta::assert_snapshot!(message("01.03.2026 07:00,A,1\n1,A,1\n"), @"line 1 of the recording plant.csv has `01.03.2026 07:00`: this can mean 2026-03-01 07:00:00 as day, month, year, or 2026-01-03 07:00:00 as month, day, year; say which with workload.historian.time_format '%d.%m.%Y %H:%M' or workload.historian.time_format '%m.%d.%Y %H:%M'");
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
    insta::assert_snapshot!(message([0xff, 0xfe, b't', 0]), @"cannot read the recording plant.csv: it is UTF-16 text. Save it as UTF-8, or convert it with `iconv -f UTF-16 -t UTF-8`");
    insta::assert_snapshot!(message(b"1,K\xfchler,1\n"), @"line 1 of the recording plant.csv has `Kühler`: it is Latin-1 or Windows-1252, not UTF-8; convert the file with `iconv -f WINDOWS-1252 -t UTF-8`");
    let endless = format!("1,A,1\n2,\"A,1\n{}", "3,A,1\n".repeat(400_000));
    insta::assert_snapshot!(message(endless), @"cannot read the recording plant.csv: it has a line of more than 1 MiB: close the quotes of each field");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("plant.csv");
    let error = Recording::open(&path, &Reading::default()).unwrap_err().to_string();
    assert!(error.contains(path.to_str().unwrap()) && error.contains("No such file"), "{error}");
    assert!(matches!(
        Recording::open(directory.path(), &Reading::default()),
        Err(RecordingError::Read { .. })
    ));
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
        let recording = Recording::open(file.path(), &Reading::default()).unwrap();
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
    let recording = Recording::open(removed.path(), &Reading::default()).unwrap();
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
        let opc = Reading { quality: Some(Qualities::Opc), ..Reading::default() };
        let (recording, read) = read_as(events.iter().map(line).collect::<String>(), &opc).unwrap();
        prop_assert_eq!(read.len(), events.len());
        let mut sorted = events.clone();
        sorted.sort_by_key(|(us, ..)| *us);
        let earliest_us = sorted[0].0;
        for (event, (us, tag, value, quality)) in read.iter().zip(&sorted) {
            prop_assert_eq!(&recording.tags()[event.tag as usize], &format!("TAG{tag}"));
            prop_assert_eq!(event.offset_ns, (us - earliest_us) * 1_000);
            prop_assert_eq!((event.value, event.quality), (*value, *quality));
        }
    }

    /// As a spreadsheet of another country would save it, with gaps in it: the same events.
    #[test]
    fn other_delimiters_marks_and_columns_make_no_other_events(
        events in prop::collection::vec((0..4_000_000_000_u64, 0..20_u32, prop::option::of(-1e9..1e9_f64)), 1..100),
        is_tab in any::<bool>(),
    ) {
        prop_assume!(events.iter().any(|(.., value)| value.is_some()));
        let delimiter = if is_tab { '\t' } else { ';' };
        let usual: String = events.iter().map(|(us, tag, value)| {
            let time = jiff::Timestamp::from_microsecond(*us as i64).unwrap();
            format!("{time},TAG{tag},{}\n", value.map_or_else(|| "NaN".to_owned(), |value| value.to_string()))
        }).collect();
        let other: String = events.iter().map(|(us, tag, value)| {
            let time = jiff::Timestamp::from_microsecond(*us as i64).unwrap().to_string().replace('T', " ").replace('Z', "");
            let value = value.map(|value| value.to_string().replace('.', ",")).unwrap_or_default();
            format!("{value}{delimiter}x{delimiter}TAG{tag}{delimiter}{time}\n")
        }).collect();
        let header = format!("Wert{delimiter}?{delimiter}Tag{delimiter}Zeit\n");
        let reading = Reading { time_zone: Some("UTC".parse().unwrap()), ..Reading::default() };
        let (usual, other) = (read(usual).unwrap(), read_as(header + &other, &reading).unwrap());
        prop_assert_eq!(usual.1, other.1);
        prop_assert_eq!(usual.0.tags(), other.0.tags());
        prop_assert_eq!(usual.0.order(), other.0.order());
    }

    #[test]
    fn no_file_makes_the_reader_fail(content in prop::collection::vec(any::<u8>(), 0..300)) {
        if let Ok((recording, events)) = read(&content) {
            prop_assert_eq!(recording.event_count(), events.len() as u64);
        }
    }
}
