//! The budgets: what each path may cost, and what it cost when that was last recorded.

use std::fmt::Write as _;

/// The file.
pub(crate) const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/budgets.tsv");

/// What is counted, in the order of the columns.
pub(crate) const COUNTED: [&str; 4] = ["instructions", "system calls", "page faults", "KiB of memory"];

/// The place in [`COUNTED`] of the most memory in use: a figure of the whole process in every row.
pub(crate) const MEMORY: usize = 3;

/// One number for each of [`COUNTED`]; `None` when there is none.
pub(crate) type Counts = [Option<u64>; COUNTED.len()];

/// One line of the file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Budget {
    /// The path through the program.
    pub(crate) path: String,
    /// What it must not cost more than.
    pub(crate) most: Counts,
    /// What it cost.
    pub(crate) recorded: Counts,
}

impl Budget {
    fn parse(line: &str) -> Result<Self, String> {
        let mut fields = line.split('\t');
        let path = fields.next().unwrap_or_default().to_owned();
        let numbers: Option<Vec<Option<u64>>> = fields
            .map(|field| if field == "-" { Some(None) } else { field.parse().ok().map(Some) })
            .collect();
        let halves = numbers.as_deref().and_then(|numbers| numbers.split_at_checked(COUNTED.len()));
        let halves =
            halves.and_then(|(most, recorded)| Some((most.try_into().ok()?, recorded.try_into().ok()?)));
        let Some((most, recorded)) = halves else {
            return Err(format!("not a path and eight numbers or `-`, tabs between them: {line}"));
        };
        Ok(Self { path, most, recorded })
    }

    fn line(&self) -> String {
        let mut out = self.path.clone();
        for number in self.most.iter().chain(&self.recorded) {
            let _ = match number {
                Some(number) => write!(out, "\t{number}"),
                None => write!(out, "\t-"),
            };
        }
        out
    }

    /// What there is to say about a measurement.
    pub(crate) fn judge(&self, measured: Counts) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (count, what) in COUNTED.into_iter().enumerate() {
            let Some(now) = measured[count] else { continue };
            let mut say = |verdict, than| findings.push(Finding { verdict, what, now, than });
            match self.most[count] {
                Some(most) if now > most => say(Verdict::AboveCeiling, most),
                Some(most) if is_well_below(now, most) => say(Verdict::CeilingCanComeDown, most),
                _ => {}
            }
            match self.recorded[count] {
                Some(recorded) if now > recorded + slack(count, recorded) => {
                    say(Verdict::AboveRecord, recorded);
                }
                Some(recorded) if is_well_below(now, recorded) => say(Verdict::RecordCanComeDown, recorded),
                None => say(Verdict::NoRecord, now),
                _ => {}
            }
        }
        findings
    }
}

/// What a count may grow by before it is a regression. Instructions move a little with lengths of process ids and inodes;
/// a listing takes as many calls as the file system likes; where the stack begins and how a file lies in the page cache decide
/// over a few pages, here and in the row that is taken off. The kernel maps whole pieces of the program's file, of 64 KiB or
/// 128 KiB each, and one or two more of them are no regression.
const fn slack(count: usize, recorded: u64) -> u64 {
    match count {
        0 => recorded / 50,
        1 => recorded / 500,
        MEMORY => recorded / 20 + 256,
        _ => recorded / 20 + 4,
    }
}

/// By more than a twentieth.
const fn is_well_below(now: u64, than: u64) -> bool {
    now + than / 20 < than
}

/// What a measurement means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    AboveCeiling,
    AboveRecord,
    NoRecord,
    CeilingCanComeDown,
    RecordCanComeDown,
}

impl Verdict {
    /// Whether the gate fails for it.
    pub(crate) const fn is_failure(self) -> bool {
        matches!(self, Self::AboveCeiling | Self::AboveRecord | Self::NoRecord)
    }
}

/// One thing to say about a measurement.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) verdict: Verdict,
    pub(crate) what: &'static str,
    pub(crate) now: u64,
    pub(crate) than: u64,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { verdict, what, now, than } = self;
        match verdict {
            Verdict::AboveCeiling => write!(f, "{now} {what}, the ceiling is {than}"),
            Verdict::AboveRecord => write!(f, "{now} {what}, the record is {than}"),
            Verdict::NoRecord => write!(f, "{now} {what} and no record: `-- --record`"),
            Verdict::CeilingCanComeDown => write!(f, "{now} {what}, the ceiling of {than} can come down"),
            Verdict::RecordCanComeDown => {
                write!(f, "{now} {what}, the record of {than} can come down: `-- --record`")
            }
        }
    }
}

/// Reads the budgets: a line each, `#` before remarks, the names of the columns in the first line that is neither.
pub(crate) fn parse(text: &str) -> Result<Vec<Budget>, String> {
    lines(text).map(Budget::parse).collect()
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| is_budget(line))
}

fn is_budget(line: &str) -> bool {
    !line.is_empty() && !line.starts_with('#') && !line.starts_with("path\t")
}

/// The text with new records; remarks, ceilings and what was not measured stay.
pub(crate) fn record(text: &str, measured: &[(&str, Counts)]) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        if is_budget(line) {
            let mut budget = Budget::parse(line)?;
            if let Some((_, counts)) = measured.iter().find(|(path, _)| *path == budget.path) {
                for (old, new) in budget.recorded.iter_mut().zip(counts) {
                    *old = new.or(*old);
                }
            }
            out.push_str(&budget.line());
        } else {
            out.push_str(line);
        }
        out.push('\n');
    }
    Ok(out)
}
