//! Mutations of a results directory: what a bad disk, a bad copy or a hostile sender makes of it.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::random::Random;

/// Texts that stand where a number stood.
const NUMBERS: [&str; 10] = [
    "18446744073709551615",
    "18446744073709551616",
    "-1",
    "1e308",
    "1e999",
    "99999999999999999999999999999999",
    "0",
    "-9223372036854775808",
    "null",
    "0.1",
];

#[derive(Clone, Copy, Debug)]
enum Mutation {
    Flip,
    Truncate,
    Delete,
    DoubleLines,
    Swap,
    Number,
    Link,
    Empty,
    Directory,
    Fifo,
    Garbage,
}

const MUTATIONS: [Mutation; 11] = [
    Mutation::Flip,
    Mutation::Truncate,
    Mutation::Delete,
    Mutation::DoubleLines,
    Mutation::Swap,
    Mutation::Number,
    Mutation::Link,
    Mutation::Empty,
    Mutation::Directory,
    Mutation::Fifo,
    Mutation::Garbage,
];

/// Changes something in a directory and says what. `victim` is a file elsewhere that a link may lead to.
pub(super) fn mutate(directory: &Path, victim: &Path, random: &mut Random) -> Result<String> {
    let files = files_below(directory)?;
    if files.is_empty() {
        return Ok("nothing is left to change".to_owned());
    }
    let path = random.pick(&files).clone();
    let other = random.pick(&files).clone();
    let mutation = *random.pick(&MUTATIONS);
    apply(mutation, &path, &other, victim, random)
        .with_context(|| format!("cannot make {mutation:?} of {}", path.display()))?;
    let shown = path.strip_prefix(directory).unwrap_or(&path).display();
    Ok(format!("{mutation:?} {shown}"))
}

fn apply(mutation: Mutation, path: &Path, other: &Path, victim: &Path, random: &mut Random) -> Result<()> {
    match mutation {
        Mutation::Delete => fs::remove_file(path)?,
        Mutation::Empty => fs::write(path, "")?,
        Mutation::Directory => {
            fs::remove_file(path)?;
            fs::create_dir(path)?;
        }
        Mutation::Link => {
            fs::remove_file(path)?;
            std::os::unix::fs::symlink(victim, path)?;
        }
        Mutation::Fifo => {
            fs::remove_file(path)?;
            nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRUSR | nix::sys::stat::Mode::S_IWUSR)?;
        }
        Mutation::Swap => {
            let (one, two) = (fs::read(path)?, fs::read(other)?);
            fs::write(path, two)?;
            fs::write(other, one)?;
        }
        Mutation::Garbage => {
            let bytes: Vec<u8> = (0..random.below(4096)).map(|_| random_byte(random)).collect();
            OpenOptions::new().append(true).open(path)?.write_all(&bytes)?;
        }
        Mutation::Flip | Mutation::Truncate | Mutation::DoubleLines | Mutation::Number => {
            let bytes = fs::read(path)?;
            fs::write(path, changed(mutation, bytes, random))?;
        }
    }
    Ok(())
}

fn random_byte(random: &mut Random) -> u8 {
    random.next().to_le_bytes()[0]
}

/// The content of a file after a change of it.
fn changed(mutation: Mutation, mut bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
    if bytes.is_empty() {
        return bytes;
    }
    let at = random.index(bytes.len());
    match mutation {
        Mutation::Flip => bytes[at] ^= 1 << random.below(8),
        Mutation::Truncate => bytes.truncate(at),
        Mutation::DoubleLines => {
            let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
            let twice = random.index(lines.len());
            let copy = |(number, line): (usize, &&[u8])| line.repeat(1 + usize::from(number == twice));
            bytes = lines.iter().enumerate().flat_map(copy).collect();
        }
        _ => {
            let number = *random.pick(&NUMBERS);
            bytes = with_number(&bytes, at, number);
        }
    }
    bytes
}

/// With the first number at or after a place replaced; as it was if there is none.
fn with_number(bytes: &[u8], at: usize, number: &str) -> Vec<u8> {
    let Some(begin) = bytes[at..].iter().position(u8::is_ascii_digit).map(|offset| at + offset) else {
        return bytes.to_vec();
    };
    let begin = begin - bytes[..begin].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let length = bytes[begin..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    [&bytes[..begin], number.as_bytes(), &bytes[begin + length..]].concat()
}

/// Plain files, in order, so that the same choices meet the same files.
fn files_below(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(path) = open.pop() {
        for entry in fs::read_dir(&path)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Copies plain files and directories.
pub(super) fn copy_below(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_below(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_replaced_as_a_whole() {
        for (at, expected) in [(0, "a -1, b 56"), (3, "a -1, b 56"), (7, "a 1234, b -1")] {
            let bytes = with_number(b"a 1234, b 56", at, "-1");
            assert_eq!(String::from_utf8(bytes).unwrap(), expected, "{at}");
        }
        assert_eq!(with_number(b"a 1 b", 3, "-1"), b"a 1 b");
    }

    #[test]
    fn each_mutation_leaves_what_a_link_leads_to() {
        let place = tempfile::tempdir().unwrap();
        let victim = place.path().join("victim");
        fs::write(&victim, "a year of data").unwrap();
        for case in 0..300 {
            let directory = place.path().join(case.to_string());
            fs::create_dir(&directory).unwrap();
            fs::write(directory.join("one"), "{\"a\": 12}\n{\"b\": 3}\n").unwrap();
            fs::write(directory.join("two"), "text").unwrap();
            let mut random = Random::new(1, "mutations", case);
            (0..3).for_each(|_| drop(mutate(&directory, &victim, &mut random).unwrap()));
        }
        assert_eq!(fs::read_to_string(victim).unwrap(), "a year of data");
    }
}
