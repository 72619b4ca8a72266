//! What a version may look like: one text that is a single line, in the form that the project has chosen.

use crate::clock;
use crate::failure::{Code, Failure};
use crate::path::{is_control, trim};
use crate::workspace::ReleaseStrategy;

/// The version as it is written, trimmed. `RELEASE_VERSION_REQUIRED`, `RELEASE_VERSION_INVALID`.
pub(super) fn check(version: &str, strategy: ReleaseStrategy) -> Result<&str, Failure> {
    let version = trim(version);
    if version.is_empty() {
        let failure = Failure::new(Code::RELEASE_VERSION_REQUIRED, "a release needs a version");
        return Err(failure.remedy("workfile changelog release VERSION"));
    }
    if is_valid(version, strategy) {
        return Ok(version);
    }
    let wanted = match strategy {
        ReleaseStrategy::Semver => "a version like 1.4.0, 1.4.0-rc.1 or v1.4.0",
        ReleaseStrategy::Calendar => "a day written YYYY-MM-DD",
        ReleaseStrategy::Freeform => "a single line",
    };
    let text = format!("`{version}` is not {wanted}, as `changelog.releaseStrategy` wants it");
    Err(Failure::new(Code::RELEASE_VERSION_INVALID, text).with("version", version))
}

/// Whether a version, as it stands in a release, has the form of the strategy.
pub(super) fn is_valid(version: &str, strategy: ReleaseStrategy) -> bool {
    match strategy {
        ReleaseStrategy::Semver => is_semantic(version),
        ReleaseStrategy::Calendar => clock::is_date(version),
        ReleaseStrategy::Freeform => !version.contains(is_control),
    }
}

/// `1.2.3`, perhaps `v` in front, `-` and a label behind it, `+` and another.
fn is_semantic(version: &str) -> bool {
    let version = version.strip_prefix('v').unwrap_or(version);
    let (rest, build) = match version.split_once('+') {
        Some((rest, build)) => (rest, Some(build)),
        None => (version, None),
    };
    let (core, label) = match rest.split_once('-') {
        Some((core, label)) => (core, Some(label)),
        None => (rest, None),
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_label = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'))
    };
    let numbers: Vec<&str> = core.split('.').collect();
    numbers.len() == 3
        && numbers.into_iter().all(is_number)
        && label.is_none_or(is_label)
        && build.is_none_or(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_strategy_takes_its_own_form() {
        for (strategy, good, bad) in [
            (
                ReleaseStrategy::Semver,
                &["1.0.0", "v1.0.0", "01.2.30", "1.0.0-rc.1", "1.0.0--", "1.0.0+b-1.x", "1.0.0-a+b"][..],
                &[
                    "1.0",
                    "1.0.0.0",
                    "V1.0.0",
                    "vv1.0.0",
                    "1.0.0-",
                    "1.0.0+",
                    "1.0.0-+b",
                    "1.0.0+a+b",
                    "1.0.0-é",
                    "1.0.0-a_b",
                    "1.0.0 ",
                    "1..0",
                    "-1.0.0",
                    "١.0.0",
                    "1.0.0\n",
                    "v",
                    "",
                ][..],
            ),
            (
                ReleaseStrategy::Calendar,
                &["2026-03-01", "2024-02-29"],
                &["2026-02-29", "2026-3-1", "2026-03-01T00:00:00Z", "1.0.0", ""],
            ),
            (ReleaseStrategy::Freeform, &["Spring Drop!", "…", "-x"], &["a\nb", "a\u{1b}[31m", "a\u{2028}b"]),
        ] {
            for version in good {
                assert!(is_valid(version, strategy), "{strategy:?} {version}");
            }
            for version in bad {
                assert!(!is_valid(version, strategy), "{strategy:?} {version}");
            }
        }
    }

    #[test]
    fn a_version_is_trimmed_and_must_be_there() {
        assert_eq!(check(" 1.0.0 ", ReleaseStrategy::Semver).unwrap(), "1.0.0");
        for blank in ["", " \u{a0}\n"] {
            let refused = check(blank, ReleaseStrategy::Freeform).unwrap_err();
            assert_eq!(refused.code, Code::RELEASE_VERSION_REQUIRED);
        }
        let refused = check("1.0", ReleaseStrategy::Semver).unwrap_err();
        assert_eq!(
            (refused.code, &refused.details["version"]),
            (Code::RELEASE_VERSION_INVALID, &"1.0".into())
        );
    }
}
