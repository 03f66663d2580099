//! Bare loops: rows written with nothing around them, as peers of the historian in `cargo xtask bench historian`.
//!
//! `bare URL ROWS SECONDS [STATEMENT]` empties the table `samples` that a historian left in the database of URL, writes
//! transactions of ROWS rows into it for so long, and prints rows a second and the CPU time of a row in microseconds. Every row
//! was encoded before the clock started, but for `prepared` and `bulk` on MariaDB: there the driver is handed values, one by one,
//! which is the only way it has to a prepared statement, and encodes them each time.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program for one benchmark, not a part of prony"
)]

use std::time::{Duration, Instant};

use bytes::{BufMut, Bytes, BytesMut};
use futures_util::SinkExt;
use mysql_async::Conn;
use mysql_async::prelude::Queryable;

/// Rows are made for so many transactions and then used again, with the same keys.
const ROWS_MADE_MAX: usize = 2_000_000;
const TAGS: u64 = 5_000;
const QUALITY_GOOD: i16 = 192;

#[derive(Clone, Copy)]
struct Row {
    tag: i32,
    time_us: i64,
    value: f64,
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let (url, rows, seconds) = (&arguments[1], arguments[2].parse().unwrap(), arguments[3].parse().unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let length = Duration::from_secs(seconds);
    let written = match url.split_once(':').unwrap() {
        ("sqlite", file) => sqlite(file, rows, length),
        ("postgres", _) => runtime.block_on(postgres(url, rows, length)),
        ("mysql", _) => {
            let statement = arguments.get(4).map_or("insert", String::as_str);
            runtime.block_on(mysql(url, rows, length, statement))
        }
        (scheme, _) => panic!("no bare loop for {scheme}"),
    };
    println!("{} {}", written.rows_per_s, written.cpu_us_per_row);
}

/// Random tags in the order of time, as a plant's changes come.
fn batches(rows: usize) -> Vec<Vec<Row>> {
    let mut random = 42u64;
    let mut time_us = 1_700_000_000_000_000;
    let mut row = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        time_us += 10;
        Row { tag: ((random >> 33) % TAGS) as i32 + 1, time_us, value: (random >> 11) as f64 / 1e9 }
    };
    (0..(ROWS_MADE_MAX / rows).max(1)).map(|_| (0..rows).map(|_| row()).collect()).collect()
}

/// Rows a second after the first second, which counts for nothing here as in prony's run.
struct Speed {
    begin: Instant,
    length: Duration,
    rows: usize,
    /// The moment, and the CPU time that this process had used by then.
    counted_from: Option<(Instant, Duration)>,
}

struct Written {
    rows_per_s: f64,
    cpu_us_per_row: f64,
}

/// CPU time of all threads of this process.
fn cpu() -> Duration {
    rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime).try_into().unwrap()
}

impl Speed {
    fn new(length: Duration) -> Self {
        Self { begin: Instant::now(), length, rows: 0, counted_from: None }
    }

    /// Takes a transaction and says whether another one is wanted.
    fn take(&mut self, rows: usize) -> bool {
        let now = Instant::now();
        match self.counted_from {
            Some(_) => self.rows += rows,
            None if now - self.begin >= Duration::from_secs(1) => self.counted_from = Some((now, cpu())),
            None => {}
        }
        now - self.begin < self.length + Duration::from_secs(1)
    }

    fn written(&self) -> Written {
        let ((begin, cpu_before), rows) = (self.counted_from.unwrap(), self.rows as f64);
        Written {
            rows_per_s: rows / begin.elapsed().as_secs_f64(),
            cpu_us_per_row: (cpu() - cpu_before).as_secs_f64() * 1e6 / rows,
        }
    }
}

async fn postgres(url: &str, rows: usize, length: Duration) -> Written {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    client.batch_execute("TRUNCATE samples").await.unwrap();
    let encoded: Vec<Bytes> = batches(rows).iter().map(|batch| binary(batch)).collect();
    let mut speed = Speed::new(length);
    let copy = "COPY samples (tag_id, time_us, value, quality) FROM STDIN (FORMAT binary)";
    let copy = client.prepare(copy).await.unwrap();
    for batch in encoded.iter().cycle() {
        let mut sink = Box::pin(client.copy_in::<_, Bytes>(&copy).await.unwrap());
        sink.send(batch.clone()).await.unwrap();
        sink.as_mut().finish().await.unwrap();
        if !speed.take(rows) {
            break;
        }
    }
    let written = speed.written();
    client.batch_execute("TRUNCATE samples").await.unwrap();
    drop(client);
    connection.await.unwrap().unwrap();
    written
}

fn binary(batch: &[Row]) -> Bytes {
    let mut bytes = BytesMut::new();
    bytes.put_slice(b"PGCOPY\n\xff\r\n\0");
    bytes.put_i32(0);
    bytes.put_i32(0);
    for row in batch {
        bytes.put_i16(4);
        bytes.put_i32(4);
        bytes.put_i32(row.tag);
        bytes.put_i32(8);
        bytes.put_i64(row.time_us);
        bytes.put_i32(8);
        bytes.put_f64(row.value);
        bytes.put_i32(2);
        bytes.put_i16(QUALITY_GOOD);
    }
    bytes.put_i16(-1);
    bytes.freeze()
}

fn sqlite(file: &str, rows: usize, length: Duration) -> Written {
    // On a connection of its own, so that the log begins small, as it does for a program that is started.
    rusqlite::Connection::open(file).unwrap().execute("DELETE FROM samples", []).unwrap();
    let mut connection = rusqlite::Connection::open(file).unwrap();
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    connection.pragma_update(None, "synchronous", "FULL").unwrap();
    connection.pragma_update(None, "cache_size", -64 * 1024).unwrap();
    connection.pragma_update(None, "wal_autocheckpoint", 16 * 1024).unwrap();
    let batches = batches(rows);
    let mut speed = Speed::new(length);
    for batch in batches.iter().cycle() {
        let transaction = connection.transaction().unwrap();
        {
            let insert = "INSERT INTO samples (tag_id, time_us, value, quality) VALUES (?1, ?2, ?3, ?4)";
            let mut insert = transaction.prepare_cached(insert).unwrap();
            for row in batch {
                insert.execute((row.tag, row.time_us, row.value, QUALITY_GOOD)).unwrap();
            }
        }
        transaction.commit().unwrap();
        if !speed.take(rows) {
            break;
        }
    }
    let written = speed.written();
    connection.execute("DELETE FROM samples", []).unwrap();
    written
}

async fn mysql(url: &str, rows: usize, length: Duration, statement: &str) -> Written {
    let options = mysql_async::Opts::from_url(url).unwrap();
    let mut connection = Conn::new(options).await.unwrap();
    connection.query_drop("TRUNCATE samples").await.unwrap();
    let batches = batches(rows);
    let written = match statement {
        "insert" => mysql_insert(&mut connection, &batches, length).await,
        "load-data" => mysql_load_data(&mut connection, &batches, length).await,
        "prepared" => mysql_prepared(&mut connection, &batches, length).await,
        "bulk" => mysql_bulk(&mut connection, &batches, length).await,
        other => panic!("no bare loop of {other}"),
    };
    connection.query_drop("TRUNCATE samples").await.unwrap();
    connection.disconnect().await.unwrap();
    written
}

/// One INSERT of all rows, as a text.
async fn mysql_insert(connection: &mut Conn, batches: &[Vec<Row>], length: Duration) -> Written {
    let texts: Vec<Bytes> = batches.iter().map(|batch| insert(batch)).collect();
    let mut speed = Speed::new(length);
    for text in texts.iter().cycle() {
        connection.query_drop(&text[..]).await.unwrap();
        if !speed.take(batches[0].len()) {
            break;
        }
    }
    speed.written()
}

async fn mysql_load_data(connection: &mut Conn, batches: &[Vec<Row>], length: Duration) -> Written {
    let texts: Vec<Bytes> = batches.iter().map(|batch| lines(batch)).collect();
    let mut speed = Speed::new(length);
    for text in texts.iter().cycle() {
        let text = text.clone();
        connection.set_infile_handler(async move {
            Ok(Box::pin(futures_util::stream::once(async move { Ok(text) })) as _)
        });
        let load = "LOAD DATA LOCAL INFILE 'rows' INTO TABLE samples (tag_id, time_us, value, quality)";
        connection.query_drop(load).await.unwrap();
        if !speed.take(batches[0].len()) {
            break;
        }
    }
    speed.written()
}

/// One prepared INSERT of all rows, whose values are made each time.
async fn mysql_prepared(connection: &mut Conn, batches: &[Vec<Row>], length: Duration) -> Written {
    let places = vec!["(?,?,?,?)"; batches[0].len()].join(",");
    let insert = format!("INSERT INTO samples (tag_id, time_us, value, quality) VALUES {places}");
    let insert = connection.prep(insert).await.unwrap();
    let mut speed = Speed::new(length);
    for batch in batches.iter().cycle() {
        let values = batch.iter().flat_map(Row::values).collect();
        connection.exec_drop(&insert, mysql_async::Params::Positional(values)).await.unwrap();
        if !speed.take(batch.len()) {
            break;
        }
    }
    speed.written()
}

/// The rows of one prepared INSERT of one row in one packet, which MariaDB alone knows, in a transaction.
async fn mysql_bulk(connection: &mut Conn, batches: &[Vec<Row>], length: Duration) -> Written {
    let insert = "INSERT INTO samples (tag_id, time_us, value, quality) VALUES (?,?,?,?)";
    let insert = connection.prep(insert).await.unwrap();
    let mut speed = Speed::new(length);
    for batch in batches.iter().cycle() {
        let rows = batch.iter().map(|row| mysql_async::Params::Positional(row.values().to_vec()));
        connection.exec_batch(&insert, rows).await.unwrap();
        if !speed.take(batch.len()) {
            break;
        }
    }
    speed.written()
}

impl Row {
    /// As the driver of MariaDB takes them.
    fn values(&self) -> [mysql_async::Value; 4] {
        [self.tag.into(), self.time_us.into(), self.value.into(), QUALITY_GOOD.into()]
    }
}

fn lines(batch: &[Row]) -> Bytes {
    let line = |row: &Row| format!("{}\t{}\t{}\t{QUALITY_GOOD}\n", row.tag, row.time_us, row.value);
    batch.iter().map(line).collect::<String>().into()
}

fn insert(batch: &[Row]) -> Bytes {
    let values: Vec<String> = batch
        .iter()
        .map(|row| format!("({},{},{},{QUALITY_GOOD})", row.tag, row.time_us, row.value))
        .collect();
    format!("INSERT INTO samples (tag_id, time_us, value, quality) VALUES {}", values.join(",")).into()
}
