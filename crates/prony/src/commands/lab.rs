//! `prony lab`: laboratories of loop devices.

use anyhow::anyhow;
use instance::Standing;
use jiff::Timestamp;
use record::Lines;
use runner::{KnownLab, LabFault, WantedLab};
use serde_json::{Value, json};
use study::LabVolume;

use crate::arguments::{CreateLab, Lab, ListLabs};
use crate::exit::{Exit, Failure};
use crate::{interrupt, terminal};

pub(crate) fn run(lab: &Lab) -> Result<Exit, Failure> {
    match lab {
        Lab::Create(create) => self::create(create),
        Lab::List(list) => self::list(list),
        Lab::Remove(lab) => self::remove(&lab.name),
    }
}

/// A failure of a laboratory: what is missing can be brought, so that it is one of what was asked for.
pub(crate) fn failure(fault: LabFault) -> Failure {
    match fault {
        LabFault::Interrupted => Failure::interrupted(fault),
        LabFault::Lab { .. } | LabFault::Unproved { .. } => Failure::runtime(fault),
    }
}

fn create(create: &CreateLab) -> Result<Exit, Failure> {
    let volume = LabVolume {
        kind: create.kind,
        file_system: create.file_system,
        block_size: create.block_size,
        sector_size: create.sector_size,
        devices: create.devices,
        size: create.size,
        read_iops: create.read_iops,
        write_iops: create.write_iops,
        read_rate: create.read_rate,
        write_rate: create.write_rate,
        count: None,
    };
    let mount = create.mount_point.clone().unwrap_or_else(|| runner::lab_mount_point(&create.name));
    let wanted = WantedLab {
        name: &create.name,
        volume: &volume,
        directory: &create.directory,
        mount: &mount,
        in_memory: create.in_memory,
    };
    wanted.look().map_err(|fault| Failure::usage(anyhow!(fault)))?;
    let stop = interrupt::flag_on_signal()?;
    let made = wanted.make_to_stay(&stop).map_err(failure)?;
    announce!("{}", report::lab_volume(&made));
    report::lab_proofs(&made).iter().for_each(|line| announce!("{line}"));
    announce!("{}", report::LAB_MEANING);
    announce!("lab {0} is kept. To delete it and its data: prony lab remove {0}", create.name);
    terminal::print(&Lines::each([made.mount]))?;
    Ok(Exit::Pass)
}

fn list(list: &ListLabs) -> Result<Exit, Failure> {
    let all = KnownLab::all().map_err(Failure::runtime)?;
    if list.json {
        let all: Vec<Value> = all.iter().map(document).collect();
        let text = serde_json::to_string_pretty(&json!({ "labs": all })).map_err(Failure::runtime)?;
        terminal::print_json(&(text + "\n"))?;
    } else if all.is_empty() {
        tell!("prony has no labs here");
    } else {
        terminal::print(&Lines::each(all.iter().flat_map(entry)))?;
    }
    Ok(Exit::Pass)
}

fn told(standing: Standing) -> String {
    match standing {
        Standing::Running => "kept until removed".to_owned(),
        Standing::Held(pid) => format!("deleted when prony process {pid} ends"),
        Standing::Stopped | Standing::Left => {
            "left behind by a prony that was killed. To delete the rest: prony lab remove".to_owned()
        }
    }
}

fn made(known: &KnownLab) -> String {
    let at = i64::try_from(known.made_s).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    at.map(|at| at.to_string()).unwrap_or_default()
}

/// Name and how it stands; what it is; where its files are.
fn entry(known: &KnownLab) -> Vec<String> {
    vec![
        format!("{}  {}  {}", known.name, made(known), told(known.standing())),
        format!("    {}", report::lab_volume(&runner::recorded(known))),
        format!("    files in {}", known.backing.path.display()),
    ]
}

fn document(known: &KnownLab) -> Value {
    let standing = match known.standing() {
        Standing::Running => "stays",
        Standing::Held(_) => "held",
        Standing::Stopped | Standing::Left => "left",
    };
    json!({
        "name": known.name,
        "made": made(known),
        "standing": standing,
        "volume": runner::recorded(known),
    })
}

fn remove(name: &str) -> Result<Exit, Failure> {
    let all = KnownLab::all().map_err(Failure::runtime)?;
    let names: Vec<&str> = all.iter().map(|known| known.name.as_str()).collect();
    let there_are = match names.as_slice() {
        [] => "there are none".to_owned(),
        names => format!("labs: {}", names.join(", ")),
    };
    let known = all
        .iter()
        .find(|known| known.name == name)
        .ok_or_else(|| Failure::usage(anyhow!("no lab named {name} ({there_are})")))?;
    known.remove().map_err(Failure::runtime)?;
    announce!("deleted lab {name} and its data");
    Ok(Exit::Pass)
}
