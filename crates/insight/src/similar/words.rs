//! The words of a text, in a form in which kindred words are the same.
//!
//! Words are cut to their stems by a few English endings. Scripts that put no space between words
//! give pairs of neighbouring characters instead.

use std::{collections::BTreeSet, sync::LazyLock};

/// Words that say nothing of what a text is about.
static EMPTY_WORDS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| EMPTY.split(' ').collect());

/// They are English for the most part, with some of its neighbours.
const EMPTY: &str = "\
    a about after all also am an and any are as at be because been before being between both but by \
    can could d did do does doing don down during each else etc for from further had has have having \
    he her here hers him his how i if in into is it its just ll m may me might more most must my no \
    nor not now of off on once only or other our out over own per re s same shall she should so some \
    such t than that the their them then there these they this those through to too under until up \
    upon us ve very via was we were what when where whether which while who whom why will with would \
    you your \
    au aus avec con da das dans de del dem den der des die du ein eine el en es est et fur il im ist \
    la las le les los mit nicht ou para pas por pour que qui se sich sie sur um un una und une uno von \
    y zu zum zur";

/// English endings, longest first, and how many letters must be left.
const ENDINGS: &[(&str, usize)] = &[
    ("ation", 3),
    ("ating", 3),
    ("ator", 3),
    ("ated", 3),
    ("ment", 3),
    ("ate", 3),
    ("ing", 2),
    ("ies", 2),
    ("ied", 2),
    ("ed", 2),
    ("er", 2),
    ("ly", 4),
    ("e", 2),
    ("s", 2),
    ("y", 2),
];

/// A word, or what stands for one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Term {
    /// A stem.
    Stem(String),
    /// Neighbouring characters of a script without spaces.
    Characters(String),
}

/// Returns the terms of a text in order. Empty words are left out unless there are no others.
pub(super) fn terms(text: &str) -> Vec<Term> {
    let mut found = Vec::new();
    let mut empty = Vec::new();
    for run in runs(text) {
        if run.starts_with(is_unspaced) {
            found.extend(pairs(run));
            continue;
        }
        let pieces = pieces(run);
        let whole = std::iter::once(run).filter(|_| pieces.len() != 1);
        for word in whole.chain(pieces.iter().copied()).map(fold) {
            if EMPTY_WORDS.contains(word.as_str()) {
                empty.push(Term::Stem(word));
            } else if !word.is_empty() {
                found.push(Term::Stem(stem(word)));
            }
        }
    }
    if found.is_empty() { empty } else { found }
}

/// Returns the longest runs of letters and digits that are in one kind of script.
fn runs(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|it: char| !it.is_alphanumeric() && !is_combining(it));
    words.flat_map(|word| split_between(word, |a, b| is_unspaced(a) != is_unspaced(b)))
}

/// Returns the pieces of a name like `parseConfig`.
fn pieces(word: &str) -> Vec<&str> {
    split_between(word, |a, b| a.is_lowercase() && b.is_uppercase())
}

/// Cuts a text between each two neighbouring characters that are to be parted.
fn split_between(text: &str, is_apart: impl Fn(char, char) -> bool) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    for ((_, a), (at, b)) in text.char_indices().zip(text.char_indices().skip(1)) {
        if is_apart(a, b) {
            found.extend(text.get(start..at));
            start = at;
        }
    }
    found.extend(text.get(start..).filter(|it| !it.is_empty()));
    found
}

/// Returns each pair of neighbours; a character without one stands alone.
fn pairs(run: &str) -> Vec<Term> {
    let characters: Vec<char> = run.chars().collect();
    if characters.len() == 1 {
        return vec![Term::Characters(run.to_owned())];
    }
    characters.windows(2).map(|it| Term::Characters(it.iter().collect())).collect()
}

/// Returns a word in lower case and without the accents of Latin letters.
fn fold(word: &str) -> String {
    word.chars().flat_map(char::to_lowercase).filter(|it| !is_combining(*it)).map(plain).collect()
}

fn plain(letter: char) -> char {
    match letter {
        'à'..='å' | 'ā' | 'ă' | 'ą' => 'a',
        'ç' | 'ć' | 'č' => 'c',
        'è'..='ë' | 'ē' | 'ę' | 'ě' => 'e',
        'ì'..='ï' | 'ī' | 'ı' => 'i',
        'ł' => 'l',
        'ñ' | 'ń' | 'ň' => 'n',
        'ò'..='ö' | 'ø' | 'ō' | 'ő' => 'o',
        'ř' => 'r',
        'ś' | 'š' | 'ş' => 's',
        'ù'..='ü' | 'ū' | 'ů' | 'ű' => 'u',
        'ý' | 'ÿ' => 'y',
        'ź' | 'ż' | 'ž' => 'z',
        'ς' => 'σ',
        other => other,
    }
}

/// Takes English endings off, as long as there is one: `tests` and `testing` become `test`.
fn stem(mut word: String) -> String {
    if !word.bytes().all(|it| it.is_ascii_lowercase()) {
        return word;
    }
    while let Some(ending) = find_ending(&word) {
        word.truncate(word.len() - ending.len());
    }
    // What is doubled before an ending (`planned`) is single without it (`plan`).
    let mut last = word.bytes().rev();
    let (one, other) = (last.next(), last.next());
    if 3 < word.len() && one == other {
        word.pop();
    }
    word
}

fn find_ending(word: &str) -> Option<&'static str> {
    let (ending, _) = ENDINGS.iter().find(|(ending, least)| {
        word.strip_suffix(ending).is_some_and(|rest| *least <= rest.len() && can_lose(rest, ending))
    })?;
    Some(ending)
}

/// Whether the ending is one, and not a part of the word as in `string`, `speed`, `status` or `key`.
fn can_lose(rest: &str, ending: &str) -> bool {
    let is_vowel = |it| matches!(it, 'a' | 'e' | 'i' | 'o' | 'u' | 'y');
    let before = rest.chars().next_back();
    let is_inside = match ending {
        "s" => matches!(before, Some('s' | 'u' | 'i')),
        "y" => before.is_some_and(is_vowel),
        "ed" | "er" => before == Some('e'),
        _ => false,
    };
    !is_inside && rest.contains(is_vowel)
}

fn is_combining(it: char) -> bool {
    matches!(it, '\u{300}'..='\u{36f}')
}

/// Whether the character is of a script that puts no space between words.
fn is_unspaced(it: char) -> bool {
    matches!(it,
        '\u{e00}'..='\u{eff}'          // Thai, Lao
        | '\u{1000}'..='\u{109f}'      // Myanmar
        | '\u{1780}'..='\u{17ff}'      // Khmer
        | '\u{3040}'..='\u{30ff}'      // Hiragana, Katakana
        | '\u{3400}'..='\u{9fff}'      // Han
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}'
    )
}
