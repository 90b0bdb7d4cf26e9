//! Porter's stemmer, rule for rule as `SQLite`'s `porter` tokenizer has it, so that words are marked
//! and compared here as they are there.

/// Longer words are left as they are.
const BYTES_MAX: usize = 64;

/// What a word's ending becomes, if it is longer than the ending and what is before it passes.
type Rule = (&'static str, &'static str);

const STEP_2: &[Rule] = &[
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("logi", "log"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
];

const STEP_3: &[Rule] = &[
    ("ical", "ic"),
    ("ness", ""),
    ("icate", "ic"),
    ("iciti", "ic"),
    ("ful", ""),
    ("ative", ""),
    ("alize", "al"),
];

const STEP_4: &[Rule] = &[
    ("al", ""),
    ("ance", ""),
    ("ence", ""),
    ("er", ""),
    ("ic", ""),
    ("able", ""),
    ("ible", ""),
    ("ant", ""),
    ("ement", ""),
    ("ment", ""),
    ("ent", ""),
    ("ion", ""),
    ("ou", ""),
    ("ism", ""),
    ("ate", ""),
    ("iti", ""),
    ("ous", ""),
    ("ive", ""),
    ("ize", ""),
];

/// Returns the stem of a folded word.
pub(super) fn stem(word: &str) -> String {
    if word.len() < 3 || BYTES_MAX < word.len() {
        return word.to_owned();
    }
    let mut stem = word.as_bytes().to_vec();
    drop_plural(&mut stem);
    drop_past(&mut stem);
    if stem.last() == Some(&b'y') && has_vowel(before(&stem, 1)) {
        replace(&mut stem, 1, "i");
    }
    apply(&mut stem, STEP_2, |before, _| 0 < measure(before));
    apply(&mut stem, STEP_3, |before, _| 0 < measure(before));
    apply(&mut stem, STEP_4, |before, ending| {
        1 < measure(before) && (ending != "ion" || before.ends_with(b"s") || before.ends_with(b"t"))
    });
    let rest = before(&stem, 1);
    if stem.ends_with(b"e")
        && (1 < measure(rest) || (measure(rest) == 1 && !ends_consonant_vowel_consonant(rest)))
    {
        stem.pop();
    }
    if stem.ends_with(b"ll") && 1 < measure(before(&stem, 1)) {
        stem.pop();
    }
    // Only whole ASCII endings were taken off, so this is still UTF-8.
    String::from_utf8(stem).unwrap_or_else(|_| word.to_owned())
}

fn drop_plural(stem: &mut Vec<u8>) {
    if !stem.ends_with(b"s") || stem.ends_with(b"ss") {
        return;
    }
    let is_two =
        (4 < stem.len() && stem.ends_with(b"sses")) || (3 < stem.len() && stem.ends_with(b"ies"));
    replace(stem, if is_two { 2 } else { 1 }, "");
}

fn drop_past(stem: &mut Vec<u8>) {
    if 3 < stem.len() && stem.ends_with(b"eed") {
        if 0 < measure(before(stem, 3)) {
            replace(stem, 3, "ee");
        }
        return;
    }
    let dropped = if 2 < stem.len() && stem.ends_with(b"ed") {
        2
    } else if 3 < stem.len() && stem.ends_with(b"ing") {
        3
    } else {
        return;
    };
    if !has_vowel(before(stem, dropped)) {
        return;
    }
    replace(stem, dropped, "");
    if 2 < stem.len() && ["at", "bl", "iz"].iter().any(|it| stem.ends_with(it.as_bytes())) {
        stem.push(b'e');
        return;
    }
    let is_double = matches!(stem.as_slice(), [.., one, two] if one == two);
    let last = stem.last().copied().unwrap_or_default();
    if is_double && !is_vowel(last, false) && !matches!(last, b'l' | b's' | b'z') {
        stem.pop();
    } else if measure(stem) == 1 && ends_consonant_vowel_consonant(stem) {
        stem.push(b'e');
    }
}

/// Applies the first rule whose ending is there, if `may` says so of what comes before it.
fn apply(stem: &mut Vec<u8>, rules: &[Rule], may: impl Fn(&[u8], &str) -> bool) {
    let found = rules
        .iter()
        .find(|(ending, _)| ending.len() < stem.len() && stem.ends_with(ending.as_bytes()));
    if let Some((ending, new)) = found
        && may(before(stem, ending.len()), ending)
    {
        replace(stem, ending.len(), new);
    }
}

fn replace(stem: &mut Vec<u8>, dropped: usize, new: &str) {
    stem.truncate(stem.len().saturating_sub(dropped));
    stem.extend_from_slice(new.as_bytes());
}

fn before(stem: &[u8], ending: usize) -> &[u8] {
    stem.get(..stem.len().saturating_sub(ending)).unwrap_or_default()
}

fn is_vowel(letter: u8, is_after_consonant: bool) -> bool {
    matches!(letter, b'a' | b'e' | b'i' | b'o' | b'u') || (is_after_consonant && letter == b'y')
}

fn has_vowel(stem: &[u8]) -> bool {
    stem.iter().enumerate().any(|(index, letter)| is_vowel(*letter, 0 < index))
}

/// Yields for each letter whether it is a consonant.
fn consonants(stem: &[u8]) -> impl Iterator<Item = bool> {
    stem.iter().scan(false, |is_consonant, letter| {
        *is_consonant = !is_vowel(*letter, *is_consonant);
        Some(*is_consonant)
    })
}

/// Porter's measure: how often vowels are followed by consonants.
fn measure(stem: &[u8]) -> usize {
    let mut is_after_vowel = false;
    let mut count = 0;
    for is_consonant in consonants(stem) {
        count += usize::from(is_after_vowel && is_consonant);
        is_after_vowel = !is_consonant;
    }
    count
}

fn ends_consonant_vowel_consonant(stem: &[u8]) -> bool {
    let mut last = [false; 3];
    for is_consonant in consonants(stem) {
        last = [last[1], last[2], is_consonant];
    }
    3 <= stem.len()
        && last == [true, false, true]
        && !matches!(stem.last(), Some(b'w' | b'x' | b'y'))
}
