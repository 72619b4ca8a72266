//! The arithmetic of the benches: what `cargo bench` cannot test, for it has no test harness there.

#[path = "../benches/budgets.rs"]
mod budgets;
#[path = "../benches/statistics.rs"]
mod statistics;

use budgets::Verdict::{AboveCeiling, AboveRecord, CeilingCanComeDown, RecordCanComeDown};
use budgets::{Budget, FILE, Verdict, parse, record};
use statistics::{BATCH, Ratio, floor, median, p95, percentile, ratio};

const TEXT: &str = "# Remarks.\npath\ta\tb\tc\td\te\tf\tg\th\nnop\t-\t31\t36\t900\t36000\t15\t30\t800\npre\t100\t8\t-\t-\t-\t8\t-\t-\n";

#[test]
fn budgets_are_read() {
    let budgets = parse(TEXT).unwrap();
    assert_eq!(budgets.len(), 2);
    assert_eq!(budgets[0].most, [None, Some(31), Some(36), Some(900)]);
    assert_eq!(budgets[1].recorded, [None, Some(8), None, None]);
    for damaged in [
        "nop\t1\t2\t3\t4\t5\t6\t7",
        "nop\t1\t2\t3\t4\t5\t6\t7\tx",
        "nop 1 2 3 4 5 6 7 8",
        "nop\t1\t2\t3\t4\t5\t6\t7\t8\t9",
        "nop",
    ] {
        assert!(parse(damaged).unwrap_err().contains(damaged));
    }
}

#[test]
fn the_committed_budgets_can_be_read_and_are_written_as_they_are() {
    let text = std::fs::read_to_string(FILE).unwrap();
    assert!(parse(&text).unwrap().len() > 10);
    assert_eq!(record(&text, &[]).unwrap(), text);
}

#[test]
fn recording_changes_records_alone() {
    let text = record(TEXT, &[("nop", [Some(1), Some(2), None, Some(3)]), ("other", [Some(9); 4])]).unwrap();
    assert_eq!(text, TEXT.replace("36000\t15\t30\t800", "1\t2\t30\t3"));
}

#[test]
fn every_verdict_has_its_bound() {
    let budget = Budget {
        path: "pre".to_owned(),
        most: [Some(60_000), Some(16), None, Some(1536)],
        recorded: [Some(50_000), Some(14), Some(9), Some(1000)],
    };
    let verdicts = |measured| -> Vec<Verdict> {
        budget.judge(measured).into_iter().map(|finding| finding.verdict).collect()
    };
    assert_eq!(verdicts([None, None, None, None]), []);
    assert_eq!(verdicts([Some(57_000), None, None, None]), [AboveRecord]);
    assert_eq!(verdicts([Some(60_000), None, None, None]), [AboveRecord]);
    assert_eq!(verdicts([Some(60_001), None, None, None]), [AboveCeiling, AboveRecord]);
    assert_eq!(verdicts([Some(51_000), None, None, None]), [CeilingCanComeDown]);
    assert_eq!(verdicts([Some(51_001), None, None, None]), [CeilingCanComeDown, AboveRecord]);
    assert_eq!(verdicts([Some(47_500), None, None, None]), [CeilingCanComeDown]);
    assert_eq!(verdicts([Some(47_499), None, None, None]), [CeilingCanComeDown, RecordCanComeDown]);
    assert_eq!(verdicts([None, Some(14), None, None]), [CeilingCanComeDown]);
    assert_eq!(verdicts([None, Some(16), None, None]), [AboveRecord], "two calls too many");
    assert_eq!(verdicts([None, None, Some(13), None]), []);
    assert_eq!(verdicts([None, None, Some(14), None]), [AboveRecord]);
    assert_eq!(verdicts([None, None, None, Some(1306)]), [CeilingCanComeDown]);
    assert_eq!(verdicts([None, None, None, Some(1307)]), [CeilingCanComeDown, AboveRecord]);
    assert_eq!(verdicts([None, None, None, Some(1537)]), [AboveCeiling, AboveRecord]);
}

#[test]
fn what_was_never_recorded_fails() {
    let budget = Budget { path: "pre".to_owned(), most: [None; 4], recorded: [None; 4] };
    let findings = budget.judge([None, Some(5), None, None]);
    assert_eq!(findings[0].to_string(), "5 system calls and no record: `-- --record`");
    assert!(findings[0].verdict.is_failure() && !Verdict::RecordCanComeDown.is_failure());
}

#[test]
fn findings_say_both_numbers() {
    let budget = Budget {
        path: "pre".to_owned(),
        most: [Some(10), None, None, None],
        recorded: [Some(5), None, None, None],
    };
    let said: Vec<String> =
        budget.judge([Some(11), None, None, None]).iter().map(ToString::to_string).collect();
    assert_eq!(said, ["11 instructions, the ceiling is 10", "11 instructions, the record is 5"]);
}

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() < 1e-9
}

#[test]
fn a_percentile_is_a_sample() {
    let samples: Vec<f64> = (1..=200).rev().map(f64::from).collect();
    for (share, wanted) in [(0.5, 100.0), (0.95, 190.0), (0.99, 198.0), (1.0, 200.0), (0.0, 1.0)] {
        assert!(close(percentile(&samples, share), wanted), "{share}");
    }
    assert!(close(p95(&[3.0, 1.0]), 3.0));
    assert!(percentile(&[], 0.5).is_nan());
}

#[test]
fn a_median_is_in_the_middle() {
    assert!(close(median(&[3.0, 1.0, 2.0]), 2.0));
    assert!(close(median(&[4.0, 1.0, 2.0, 3.0]), 2.5));
    assert!(median(&[]).is_nan());
}

#[test]
fn the_floor_leaves_noise_out() {
    let mut samples = vec![50.0; 30];
    for batch in 0..3 {
        samples[batch * BATCH + 4] = 10.0 + batch as f64;
    }
    assert!(close(floor(&samples), 11.0));
    assert!(close(median(&samples), 50.0));
}

#[test]
fn the_interval_of_steady_series_is_their_ratio() {
    let ratio = ratio(&[30.0; 100], &[10.0; 100], floor, &mut fastrand::Rng::with_seed(1));
    assert_eq!(ratio, Ratio { value: 3.0, low: 3.0, high: 3.0 });
}

#[test]
fn what_slows_both_series_leaves_their_ratio_alone() {
    let mut random = fastrand::Rng::with_seed(3);
    let busy: Vec<f64> =
        (0..50 * BATCH).map(|sample| if (sample / BATCH).is_multiple_of(3) { 9.0 } else { 1.0 }).collect();
    let twice: Vec<f64> = busy.iter().map(|sample| 2.0 * sample).collect();
    assert_eq!(ratio(&twice, &busy, p95, &mut random), Ratio { value: 2.0, low: 2.0, high: 2.0 });
}

#[test]
fn the_interval_holds_the_true_ratio_and_narrows_with_samples() {
    let width = |count: usize| {
        let mut random = fastrand::Rng::with_seed(7);
        let mut series = |base: f64| (0..count).map(|_| base * (1.0 + random.f64())).collect::<Vec<f64>>();
        let (above, below) = (series(300.0), series(100.0));
        let ratio = ratio(&above, &below, p95, &mut random);
        assert!(ratio.low < 3.0 && 3.0 < ratio.high, "{ratio:?}");
        assert!(ratio.low <= ratio.value && ratio.value <= ratio.high, "{ratio:?}");
        ratio.high - ratio.low
    };
    assert!(width(1000) < width(100) / 2.0);
}
