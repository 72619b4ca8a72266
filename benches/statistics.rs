//! The arithmetic of the latency harness.
//!
//! Noise only ever adds time, so the steadiest figure of a series is its floor: the median over batches of each batch's
//! minimum. Ratios of two series come with an interval from drawing whole batches of both with replacement.

/// Samples in one batch.
pub(crate) const BATCH: usize = 10;
/// Resamplings behind an interval.
const RESAMPLES: usize = 1000;

/// The smallest sample that at least `share` of all are not above; `NaN` for none.
pub(crate) fn percentile(samples: &[f64], share: f64) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

/// The middle sample, or the mean of the two in the middle; `NaN` for none.
pub(crate) fn median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// The median over batches of each batch's minimum.
pub(crate) fn floor(samples: &[f64]) -> f64 {
    let minima: Vec<f64> =
        samples.chunks(BATCH).map(|batch| batch.iter().copied().fold(f64::INFINITY, f64::min)).collect();
    median(&minima)
}

/// The 95th percentile.
pub(crate) fn p95(samples: &[f64]) -> f64 {
    percentile(samples, 0.95)
}

/// A ratio, and where it lies with a probability of 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ratio {
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// The ratio of one figure of two series that were taken side by side.
pub(crate) fn ratio(
    above: &[f64],
    below: &[f64],
    figure: fn(&[f64]) -> f64,
    random: &mut fastrand::Rng,
) -> Ratio {
    let batches = above.len().min(below.len()).div_ceil(BATCH);
    let resampled: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            // The same batches of both: what slowed one slowed the other.
            let batches: Vec<usize> = (0..batches).map(|_| random.usize(..batches)).collect();
            figure(&drawn(above, &batches)) / figure(&drawn(below, &batches))
        })
        .collect();
    Ratio {
        value: figure(above) / figure(below),
        low: percentile(&resampled, 0.025),
        high: percentile(&resampled, 0.975),
    }
}

fn drawn(samples: &[f64], batches: &[usize]) -> Vec<f64> {
    let batch = |number: &usize| samples.chunks(BATCH).nth(*number).unwrap_or_default().iter().copied();
    batches.iter().flat_map(batch).collect()
}
