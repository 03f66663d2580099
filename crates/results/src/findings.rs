//! What a verifying trial found wrong, as a bundle that can be sent to whoever made the storage: a file a finding, and none of the
//! user's data, which findings do not hold.

use ownership::Directory;
use record::{Outcome, TrialRecord};

use crate::durable::{WriteError, replace, sync};
use crate::name;
use crate::write::made_below;

/// Stores the findings of a trial, if it has any. The directory is made for the first.
pub(crate) fn store(results: &Directory, record: &TrialRecord) -> Result<(), WriteError> {
    let verified = record.outcome.as_ref().and_then(Outcome::verified);
    let findings = verified.iter().flat_map(|verified| &verified.findings);
    let mut directory = None;
    for (index, finding) in findings.enumerate() {
        let directory = match &directory {
            Some(directory) => directory,
            None => directory.insert(made_below(results, name::FINDINGS)?),
        };
        let class = finding.damage.to_string().to_lowercase().replace([' ', '/'], "-");
        let name = format!("{:04}-{:03}-{class}.txt", record.number, index + 1);
        let text = finding.lines().join("\n") + "\n";
        replace(directory, &name, text.as_bytes())?;
    }
    directory.as_ref().map_or(Ok(()), sync)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{Damage, DiskOutcome, Finding, Verified, Workload};

    #[test]
    fn each_finding_is_a_file_and_no_finding_is_none() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::open(place.path()).unwrap();
        let mut record = TrialRecord::planned(Workload::Disk, 7);
        store(&directory, &record).unwrap();
        assert!(!place.path().join("findings").exists());
        let finding = Finding {
            damage: Damage::LostWrite,
            path: "/data/file".to_owned(),
            offset: 24_576,
            page: 3,
            bytes: 8_192,
            at_s: 1.5,
            expected: Some([7, 7]),
            found: Some(6),
            written_ns: None,
            recovered: false,
            detail: "version 6 where 7 was acknowledged".to_owned(),
            view: vec!["sector 0 (bytes 0-511) as it is:".to_owned()],
        };
        let verified = Verified {
            findings: vec![finding.clone(), Finding { damage: Damage::Failed, ..finding }],
            ..Verified::default()
        };
        record.outcome =
            Some(Outcome::Disk(DiskOutcome { verified: Some(Box::new(verified)), ..DiskOutcome::default() }));
        store(&directory, &record).unwrap();
        let text = std::fs::read_to_string(place.path().join("findings/0007-001-lost-write.txt")).unwrap();
        let wanted = "lost write: a write was acknowledged, but the device returns an older version\n\
                      file      /data/file\n\
                      offset    24576 (page 3 of 8192 bytes)\n\
                      found     1.500 s after the load began\n\
                      expected  version 7\n\
                      holds     version 6\n\
                      again     the same when it was read again directly\n\
                      detail    version 6 where 7 was acknowledged\n\
                      \n\
                      sector 0 (bytes 0-511) as it is:\n";
        assert_eq!(text, wanted);
        assert!(place.path().join("findings/0007-002-i-o-error.txt").exists());
    }
}
