//! `cargo xtask bench restore`: bringing the files of a server back to what they were, against `cp --reflink=auto` of the same files.
//!
//! Both take turns on the same volume, and both end when all is on it: between trials nothing may be left to be written. How long the
//! bare copy takes, without that wait, is printed beside it.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use instance::{Engine, Instance, Options};

use super::{RestoreOptions, ratio};
use crate::workspace::{Workspace, line_of};

/// Least speed of a restore, as a share of that of the copy.
const GOAL: f64 = 0.8;
/// Size of one of the files that are added to an empty server; PostgreSQL's own are of up to 1 GiB.
const FILE_BYTES: u64 = 16 << 20;
const MIB: u64 = 1 << 20;

pub(super) fn run(options: &RestoreOptions, workspace: &Workspace) -> Result<()> {
    let parent = options.directory.clone().unwrap_or_else(|| workspace.target_directory().to_owned());
    let place = tempfile::Builder::new().prefix("bench-").tempdir_in(&parent)?;
    open_to_all(place.path())?;
    let server = Options::default().parent_directory(place.path());
    let mut server = Instance::start(Engine::Postgres, &server).context("cannot start PostgreSQL")?;
    server.stop()?;
    let data = data_of(&mut server)?;
    fill(&data.join("bench"), options.mib)?;
    server.save()?;
    let bytes = bytes_below(&data)?;
    println!("Restoring {} MiB in {}, in turn with cp --reflink=auto", bytes / MIB, parent.display());
    let peer = place.path().join("peer");
    let (mut ratios, mut bare) = (Vec::new(), Vec::new());
    for number in 1..=options.pairs {
        let (copied, on_volume) = copy(&data, &peer)?;
        let begin = Instant::now();
        server.restore()?;
        let restored = begin.elapsed();
        ensure!(bytes_below(&data)? == bytes, "the restore did not bring back all of it");
        line(number, bytes, copied, on_volume, restored);
        ratios.push(on_volume.as_secs_f64() / restored.as_secs_f64());
        bare.push(copied.as_secs_f64() / restored.as_secs_f64());
    }
    println!("{}", ratio::at_least("speed, restore/cp and sync", ratios, GOAL));
    println!("{}", ratio::told("speed, restore/cp alone", bare));
    Ok(())
}

fn line(number: u32, bytes: u64, copied: Duration, on_volume: Duration, restored: Duration) {
    let rate = |took: Duration| bytes as f64 / MIB as f64 / took.as_secs_f64();
    println!(
        "  {number:>3} cp {:>6.2} s, on the volume {:>6.2} s ({:.0} MiB/s)   restore {:>6.2} s ({:.0} MiB/s)",
        copied.as_secs_f64(),
        on_volume.as_secs_f64(),
        rate(on_volume),
        restored.as_secs_f64(),
        rate(restored)
    );
}

fn data_of(server: &mut Instance) -> Result<PathBuf> {
    let places = server.places().into_iter();
    let mut data = places.filter(|(what, _)| what == "data").map(|(_, path)| path);
    data.next().context("the server tells no directory of its data")
}

/// The server's user passes through it.
fn open_to_all(directory: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(fs::set_permissions(directory, fs::Permissions::from_mode(0o755))?)
}

/// Files of numbers that no file system makes smaller.
fn fill(directory: &Path, mib: u64) -> Result<()> {
    fs::create_dir(directory)?;
    open_to_all(directory)?;
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for number in 0..(mib * MIB).div_ceil(FILE_BYTES) {
        let content: Vec<u8> = (0..FILE_BYTES / 8).flat_map(|_| next().to_ne_bytes()).collect();
        fs::File::create(directory.join(number.to_string()))?.write_all(&content)?;
    }
    Ok(())
}

fn bytes_below(directory: &Path) -> Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        sum += if metadata.is_dir() { bytes_below(&entry.path())? } else { metadata.len() };
    }
    Ok(sum)
}

/// How long the bare copy takes, and until all of it is on the volume. The copy is made where none is yet.
fn copy(from: &Path, to: &Path) -> Result<(Duration, Duration)> {
    if to.exists() {
        fs::remove_dir_all(to)?;
        ended(Command::new("sync").arg("--file-system").arg(from))?;
    }
    let begin = Instant::now();
    ended(Command::new("cp").args(["--archive", "--reflink=auto"]).arg(from).arg(to))?;
    let copied = begin.elapsed();
    ended(Command::new("sync").arg("--file-system").arg(to))?;
    Ok((copied, begin.elapsed()))
}

fn ended(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start `{}`", line_of(command)))?;
    ensure!(status.success(), "`{}` ended with {status}", line_of(command));
    Ok(())
}
