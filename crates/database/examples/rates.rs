//! Temporary measurement.
#![allow(missing_docs, clippy::all, clippy::unwrap_used, clippy::print_stdout)]
use std::time::{Duration, Instant};
use bytes::{BufMut, Bytes, BytesMut};
use database::*;
use futures_util::SinkExt;
use mysql_async::prelude::*;

const T: Table = Table { name: "s", columns: &[
    Column { name: "tag", kind: Kind::I32 }, Column { name: "time", kind: Kind::I64 },
    Column { name: "value", kind: Kind::F64 }, Column { name: "quality", kind: Kind::I16 } ] };
const MAKE: &str = "CREATE TABLE s (tag integer NOT NULL, time bigint NOT NULL, value double precision, quality smallint)";
fn rows(n: i64, t: &mut i64) -> Rows {
    let mut rows = Rows::with_capacity(4, n as usize);
    fill(&mut rows, n, t); rows
}
fn fill(rows: &mut Rows, n: i64, t: &mut i64) {
    rows.clear();
    for i in 0..n { *t += 1; rows.push([Value::I32((i * 7919 % 5000) as i32), Value::I64(*t), Value::F64(*t as f64 * 0.1), Value::I16(192)]); }
}
const SPAN: Duration = Duration::from_millis(1000);
async fn ours(s: &mut Session, n: i64, m: WriteMethod, t: &mut i64) -> f64 {
    let mut r = rows(n, t);
    s.append(&T, &mut r, m).await.unwrap();
    let (b, mut c) = (Instant::now(), 0);
    while b.elapsed() < SPAN { fill(&mut r, n, t); s.append(&T, &mut r, m).await.unwrap(); c += n; }
    c as f64 / b.elapsed().as_secs_f64()
}
fn median(mut v: Vec<f64>) -> f64 { v.sort_by(f64::total_cmp); v[v.len() / 2] }

fn bare_sqlite(c: &rusqlite::Connection, n: i64, t: &mut i64) -> f64 {
    let (b, mut k) = (Instant::now(), 0);
    while b.elapsed() < SPAN {
        c.execute_batch("BEGIN IMMEDIATE").unwrap();
        let mut st = c.prepare_cached("INSERT INTO s (tag,time,value,quality) VALUES (?,?,?,?)").unwrap();
        for i in 0..n { *t += 1; st.execute(rusqlite::params![(i * 7919 % 5000) as i32, *t, *t as f64 * 0.1, 192i16]).unwrap(); }
        drop(st);
        c.execute_batch("COMMIT").unwrap(); k += n;
    }
    k as f64 / b.elapsed().as_secs_f64()
}
async fn bare_copy(c: &tokio_postgres::Client, n: i64, t: &mut i64) -> f64 {
    let st = c.prepare("COPY s (tag,time,value,quality) FROM STDIN (FORMAT binary)").await.unwrap();
    let mut buf = BytesMut::new();
    buf.put_slice(b"PGCOPY\n\xff\r\n\0"); buf.put_u64(0);
    for i in 0..n { *t += 1; buf.put_i16(4); buf.put_i32(4); buf.put_i32((i * 7919 % 5000) as i32); buf.put_i32(8); buf.put_i64(*t); buf.put_i32(8); buf.put_f64(*t as f64 * 0.1); buf.put_i32(2); buf.put_i16(192); }
    buf.put_i16(-1);
    let all = buf.freeze();
    let (b, mut k) = (Instant::now(), 0);
    while b.elapsed() < SPAN {
        let sink = c.copy_in::<_, Bytes>(&st).await.unwrap();
        let mut sink = std::pin::pin!(sink);
        sink.send(all.clone()).await.unwrap();
        sink.finish().await.unwrap(); k += n;
    }
    k as f64 / b.elapsed().as_secs_f64()
}
#[tokio::main(flavor = "current_thread")]
async fn main() {
    let which: Vec<String> = std::env::args().skip(1).collect();
    let has = |n: &str| which.is_empty() || which.iter().any(|w| w == n);
    let index = std::env::var("INDEX").is_ok();
    let parent = std::env::var("PARENT").unwrap_or("/tmp".into());
    let methods = [WriteMethod::MultiRow, WriteMethod::Batch, WriteMethod::Bulk];
    let mut t = 0;
    if has("sqlite") {
        let d = tempfile::tempdir_in(&parent).unwrap();
        let file = d.path().join("a.db");
        let own = Own::make(&format!("sqlite:{}", file.display()).parse().unwrap(), "x", Existing::Refuse).await.unwrap();
        let mut s = own.session().await.unwrap();
        s.script(MAKE).await.unwrap();
        if index { s.script("CREATE INDEX si ON s (tag, time)").await.unwrap(); }
        let c = rusqlite::Connection::open(&file).unwrap(); c.execute_batch("PRAGMA synchronous=full").unwrap();
        c.busy_timeout(Duration::from_secs(9)).unwrap();
        for n in [40, 1000, 10000] {
            let mut got = vec![vec![]; 4];
            for _ in 0..5 { for (i, m) in methods.iter().enumerate() { got[i].push(ours(&mut s, n, *m, &mut t).await); }
                got[3].push(bare_sqlite(&c, n, &mut t)); s.script("DELETE FROM s").await.unwrap(); }
            println!("sqlite {n}: {:?}", got.into_iter().map(|v| median(v).round()).collect::<Vec<_>>());
        }
    }
    if has("postgres") {
        let server = instance::Postgres::start(&instance::Options::default().parent_directory(&parent)).unwrap();
        let own = Own::make(&server.url().parse().unwrap(), "bench", Existing::Refuse).await.unwrap();
        let mut s = own.session().await.unwrap();
        s.script(MAKE).await.unwrap();
        if index { s.script("CREATE INDEX si ON s (tag, time)").await.unwrap(); }
        let (c, conn) = tokio_postgres::connect(&server.url().replace("/postgres", "/bench"), tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(conn);
        for n in [40, 1000, 10000] {
            let mut got = vec![vec![]; 4];
            for _ in 0..5 { for (i, m) in methods.iter().enumerate() { got[i].push(ours(&mut s, n, *m, &mut t).await); }
                got[3].push(bare_copy(&c, n, &mut t).await); s.script("TRUNCATE s").await.unwrap(); }
            println!("postgres {n}: {:?}", got.into_iter().map(|v| median(v).round()).collect::<Vec<_>>());
        }
        drop(c);
    }
    if has("mysql") {
        let server = instance::MariaDb::start(&instance::Options::default().parent_directory(&parent)).unwrap();
        let own = Own::make(&server.url().parse().unwrap(), "bench", Existing::Refuse).await.unwrap();
        let mut s = own.session().await.unwrap();
        println!("{}", s.statement_name(WriteMethod::Bulk));
        s.script(MAKE).await.unwrap();
        if index { s.script("CREATE INDEX si ON s (tag, time)").await.unwrap(); }
        let mut conn = mysql_async::Conn::from_url(server.url().replace("/mysql", "/bench")).await.unwrap();
        for n in [40, 1000, 10000] {
            let mut got = vec![vec![]; 5];
            for _ in 0..5 { for (i, m) in methods.iter().enumerate() { got[i].push(ours(&mut s, n, *m, &mut t).await); }
                got[3].push(bare_multi(&mut conn, n, &mut t).await);
                got[4].push(bare_text(&mut conn, n, &mut t).await);
                s.script("TRUNCATE s").await.unwrap(); }
            println!("mysql {n}: {:?}", got.into_iter().map(|v| median(v).round()).collect::<Vec<_>>());
        }
    }
}
async fn bare_multi(c: &mut mysql_async::Conn, n: i64, t: &mut i64) -> f64 {
    let st = c.prep(format!("INSERT INTO s (tag,time,value,quality) VALUES {}", vec!["(?,?,?,?)"; n as usize].join(","))).await.unwrap();
    let mut v: Vec<mysql_async::Value> = Vec::new();
    for i in 0..n { *t += 1; v.extend([(i * 7919 % 5000).into(), (*t).into(), (*t as f64 * 0.1).into(), 192i16.into()]); }
    let (b, mut k) = (Instant::now(), 0);
    while b.elapsed() < SPAN { c.exec_drop(&st, mysql_async::Params::Positional(v.clone())).await.unwrap(); k += n; }
    k as f64 / b.elapsed().as_secs_f64()
}
async fn bare_text(c: &mut mysql_async::Conn, n: i64, t: &mut i64) -> f64 {
    let mut sql = String::from("INSERT INTO s (tag,time,value,quality) VALUES ");
    for i in 0..n { *t += 1; if i > 0 { sql.push(','); } sql += &format!("({},{},{:e},192)", i * 7919 % 5000, *t, *t as f64 * 0.1); }
    let (b, mut k) = (Instant::now(), 0);
    while b.elapsed() < SPAN { c.query_drop(sql.as_str()).await.unwrap(); k += n; }
    k as f64 / b.elapsed().as_secs_f64()
}
