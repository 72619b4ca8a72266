//! The word that was probably meant: one slip of the fingers away, two in a long word.

/// Words beyond this are no slip of anything.
const LONGEST: usize = 40;

/// The first of the known words that is nearest to `word`, when it is near enough to be meant.
pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed: Vec<char> = word.chars().take(LONGEST + 1).collect();
    let most = match typed.len() {
        0..=1 | 41.. => return None,
        2..=5 => 1,
        _ => 2,
    };
    let slips = known.into_iter().map(|known| (distance(&typed, &known.chars().collect::<Vec<_>>()), known));
    slips
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// Insertions, deletions, replacements and swaps of neighbours between two words.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut earlier: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    for (row, a) in left.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, b) in right.iter().enumerate() {
            let replaced = above[column] + usize::from(a != b);
            let mut least = replaced.min(above[column + 1] + 1).min(line[column] + 1);
            let swapped = row > 0 && column > 0 && *a == right[column - 1] && left[row - 1] == *b;
            if swapped {
                least = least.min(earlier[column - 1] + 1);
            }
            line.push(least);
        }
        earlier = std::mem::replace(&mut above, line);
    }
    above[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        let known = ["card", "claim", "list", "transition", "title"];
        for (typed, meant) in [
            ("crad", Some("card")),
            ("lst", Some("list")),
            ("titel", Some("title")),
            ("transitoin", Some("transition")),
            ("transtion", Some("transition")),
            ("board", None),
            ("c", None),
            ("", None),
            ("delete", None),
        ] {
            assert_eq!(nearest(typed, known), meant, "{typed}");
        }
        assert_eq!(nearest(&"x".repeat(1_000_000), known), None);
    }

    #[test]
    fn a_swap_of_neighbours_is_one_slip() {
        let letters = |word: &str| word.chars().collect::<Vec<_>>();
        let between = |a: &str, b: &str| distance(&letters(a), &letters(b));
        assert_eq!((between("ab", "ba"), between("", "abc"), between("kitten", "sitting")), (1, 3, 3));
    }
}
