//! The measured side of `cargo xtask bench encryption` and `bench calls`: what one session of an address does in a second, and what that
//! costs.
//!
//! `session KIND ADDRESS SECONDS`, of which KIND is `flush` (1,000 rows of a historian, in bulk), `call` (a prepared statement with one
//! parameter and one row) or `connect` (a session that is opened and let go). Prints two numbers, medians of its seconds: how many a second,
//! and microseconds of this process's processor time for each.

use std::time::{Duration, Instant};

use database::{Column, Kind, Rows, Session, Table, Url, Value, WriteMethod};
use rustix::time::{ClockId, clock_gettime};

type Failure = Box<dyn std::error::Error>;

static SAMPLES: Table = Table {
    name: "bench_samples",
    columns: &[
        Column { name: "tag", kind: Kind::I32 },
        Column { name: "time", kind: Kind::I64 },
        Column { name: "value", kind: Kind::F64 },
        Column { name: "quality", kind: Kind::I16 },
    ],
};
const ROWS: i64 = 1_000;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, kind, address, seconds] = arguments.as_slice() else {
        return Err("give a kind, an address and seconds".into());
    };
    let (url, seconds): (Url, u32) = (address.parse()?, seconds.parse()?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (rate, cpu_us) = runtime.block_on(measured(kind, &url, seconds))?;
    #[expect(clippy::print_stdout, reason = "what it is asked for")]
    {
        println!("{rate} {cpu_us}");
    }
    Ok(())
}

async fn measured(kind: &str, url: &Url, seconds: u32) -> Result<(f64, f64), Failure> {
    let mut session = Session::open(url).await?.without_limit();
    if kind == "flush" {
        session.script("DROP TABLE IF EXISTS bench_samples").await?;
        let columns = "tag integer NOT NULL, time bigint NOT NULL, value double precision NOT NULL, quality smallint NOT NULL";
        session.script(&format!("CREATE TABLE bench_samples ({columns})")).await?;
    }
    let (mut rates, mut costs) = (Vec::new(), Vec::new());
    for _ in 0..seconds {
        let (begin, cpu, mut done) = (Instant::now(), cpu_us(), 0_u32);
        while begin.elapsed() < Duration::from_secs(1) {
            once(kind, url, &mut session).await?;
            done += 1;
        }
        rates.push(f64::from(done) / begin.elapsed().as_secs_f64());
        costs.push((cpu_us() - cpu) / f64::from(done));
    }
    let of = |values| median(values).ok_or("no second was measured");
    Ok((of(rates)?, of(costs)?))
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Processor time of this process.
fn cpu_us() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
}

async fn once(kind: &str, url: &Url, session: &mut Session) -> Result<(), Failure> {
    match kind {
        "flush" => {
            let mut rows = Rows::with_capacity(4, 1_000);
            for number in 0..ROWS {
                let tag = Value::I32(i32::try_from(number)?);
                rows.push([tag, Value::I64(number * 1_000), Value::F64(0.1), Value::I16(192)]);
            }
            session.append(&SAMPLES, &mut rows, WriteMethod::Bulk).await?;
        }
        "call" => {
            let sql = format!("SELECT 1 + {}", session.dialect().placeholder(1));
            session.query(&sql, &[Value::I64(1)]).await?;
        }
        "connect" => drop(Session::open(url).await?),
        other => return Err(format!("`{other}` is none of flush, call and connect").into()),
    }
    Ok(())
}
