//! Words that say nothing of what is wrong.

/// Left out of patterns.
pub(super) const STOP_WORDS: &[&str] = &[
    "a", "about", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "being",
    "but", "by", "can", "could", "do", "does", "for", "from", "had", "has", "have", "if", "in",
    "into", "is", "it", "its", "may", "might", "more", "most", "of", "on", "or", "our", "over",
    "shall", "should", "so", "some", "such", "than", "that", "the", "their", "them", "then",
    "there", "these", "they", "this", "those", "to", "too", "under", "was", "we", "were", "when",
    "where", "which", "while", "will", "with", "would", "you", "your",
];
