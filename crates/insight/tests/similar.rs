//! Which texts are like which: what a search among past runs finds, and what it leaves out.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

use insight::Index;

const LOGIN: &str = "Workflow: Default Coding Workflow | Node: validate | Status: COMPLETED | \
    Task: repair the login form | analyze completed work: root_cause: the session cookie expired \
    before the token was refreshed, so that users were signed out | construct completed work: \
    fix: the token is refreshed a minute early, and the cookie is renewed with it";
const INVOICE: &str = "Workflow: Default Coding Workflow | Node: validate | Status: COMPLETED | \
    Task: print invoices as PDF | analyze completed work: layout: tables overflow the margin when \
    an amount has more than seven digits | construct completed work: columns: widths follow the \
    widest amount, and the totals stand on a page of their own";
const SEARCH: &str = "Workflow: Default Coding Workflow | Node: validate | Status: COMPLETED | \
    Task: make the catalogue search faster | analyze completed work: profile: the database scans \
    every product because the index lacks the language column | construct completed work: \
    migration: a compound index, built without locking";

#[test]
fn the_session_whose_words_are_asked_for_comes_first_and_clearly() {
    let index = index(&[("login", LOGIN), ("invoice", INVOICE), ("search", SEARCH)]);
    check_first(&index, "expired session cookie and token refresh", "login");
    check_first(&index, "users signed out", "login");
    check_first(&index, "amount overflows the table margins", "invoice");
    check_first(&index, "PDF", "invoice");
    check_first(&index, "compound database indexes", "search");
    check_first(&index, "why did the search in the catalogue scan all products?", "search");
    check_first(&index, LOGIN, "login");
}

/// Expects `id` in front, at least twice as similar as the next, and all others below 0.3.
fn check_first(index: &Index, query: &str, id: &str) {
    let found = index.search(query, 10, 0.0);
    assert_eq!(found[0].id, id, "{query}: {found:?}");
    assert!(0.1 < found[0].similarity, "{query}: {found:?}");
    assert!(2.0 * found[1].similarity < found[0].similarity, "{query}: {found:?}");
    assert!(found[1].similarity < 0.3, "{query}: {found:?}");
}

#[test]
fn the_same_text_is_wholly_similar() {
    let long = LOGIN.repeat(30) + &INVOICE.repeat(200);
    let mut chance = Chance(1);
    let made: Vec<String> = (1..400).step_by(13).map(|it| chance.text('a', it)).collect();
    let texts = [LOGIN, "x", "the", "to be or not to be", "支付失败", "🙂 smile", &long];
    for text in texts.into_iter().chain(made.iter().map(String::as_str)) {
        let index = index(&[("same", text), ("login", LOGIN), ("invoice", INVOICE)]);
        let similarity = similarity(&index, text, "same");
        assert!((similarity - 1.0).abs() < 1e-3, "{similarity}: {text}");
    }
}

#[test]
fn made_up_texts_without_a_common_word_are_not_similar() {
    let mut chance = Chance(7);
    let lengths = [1, 1, 1, 2, 2, 3, 5, 8, 13, 21, 40, 80, 150, 300, 300];
    // The alphabets share no letter, so whatever is found alike met by chance.
    let texts = [(); 2].map(|()| lengths.map(|it| chance.text('a', it)));
    let queries = [(); 2].map(|()| lengths.map(|it| chance.text('n', it)));
    let texts: Vec<&str> = texts.iter().flatten().map(String::as_str).collect();
    let together: Vec<(&str, &str)> = texts.iter().map(|it| (*it, *it)).collect();
    let alone = texts.iter().step_by(6).map(|it| index(&[(it, it)]));
    for index in alone.chain([index(&together)]) {
        for query in queries.iter().flatten() {
            assert_eq!(index.search(query, 1, 0.3), [], "{query}");
        }
    }
}

#[test]
fn one_word_does_not_meet_another_among_many_by_chance() {
    let mut chance = Chance(99);
    let words: Vec<String> = (0..1000).map(|_| chance.text('a', 1)).collect();
    let named: Vec<(&str, &str)> = words.iter().map(|it| (it.as_str(), it.as_str())).collect();
    let index = index(&named);
    for _ in 0..100 {
        let query = chance.text('n', 1);
        assert_eq!(index.search(&query, 3, 0.3), [], "{query}");
    }
}

#[test]
fn texts_on_unlike_matters_are_not_similar_although_they_share_a_language() {
    let texts = [
        "The whale rose beside the boat, and the men fell silent as the water closed over it.",
        "You should always run the linter before you push, or else the pipeline will stop you.",
        "In the kitchen she cut the onions into rings and left them in cold water for an hour.",
        "Interest is added to the account at the end of each quarter if the balance is positive.",
        "It was the second time that the orchestra had played under the young conductor.",
        "Der Zug nach Hamburg ist wegen der Bauarbeiten an der Strecke heute nicht gefahren.",
        "Die Bäckerei in der Altstadt hat für den Winter und die Feiertage neue Öfen bestellt.",
        "La bibliothèque de la ville est fermée pour les travaux qui sont dans les caves.",
    ];
    for one in texts {
        // Alone in an index, nothing tells which of its words are common.
        let index = index(&[("it", one)]);
        for other in texts.into_iter().filter(|it| *it != one) {
            let similarity = similarity(&index, other, "it");
            assert!(similarity < 0.2, "{similarity}: {one} / {other}");
        }
    }
}

#[test]
fn forms_of_a_word_match() {
    let families = [
        "test tests testing tested tester",
        "use uses used using user",
        "plan plans planned planning",
        "retry retries retried",
        "cache caches cached caching",
        "validate validates validated validating validation",
        "migrate migrations migrating",
        "deploy deploys deployed deployment",
        "pass passes passed passing",
        "configure configured configuration configuring",
        "need needs needed",
        "Café cafe CAFÉ cafe\u{301}s",
    ];
    for family in families {
        let forms: Vec<(&str, &str)> = family.split(' ').map(|it| (it, it)).collect();
        let index = index(&forms);
        for (form, _) in &forms {
            let found = index.search(form, 10, 0.95);
            assert_eq!(found.len(), forms.len(), "{form}: {found:?}");
        }
    }
}

#[test]
fn words_that_only_look_as_if_they_had_an_ending_stay_apart() {
    for (one, other) in [("string", "str"), ("speed", "spe"), ("status", "stat"), ("key", "k")] {
        let similarity = similarity(&index(&[("it", one)]), other, "it");
        assert!(similarity < 0.5, "{one} / {other}: {similarity}");
    }
}

#[test]
fn a_misspelt_word_is_still_found() {
    let index = index(&[("login", LOGIN), ("invoice", INVOICE), ("search", SEARCH)]);
    assert_eq!(index.search("catalouge", 1, 0.02)[0].id, "search");
    assert_eq!(index.search("databse", 1, 0.02)[0].id, "search");
}

#[test]
fn the_parts_of_a_name_are_words_and_so_is_the_name() {
    let index = index(&[("it", "fixed parseConfigFile in src/http_server.rs of GitHub")]);
    for query in ["parse config files", "parseconfigfile", "HTTP server", "github"] {
        assert!(0.25 < similarity(&index, query, "it"), "{query}");
    }
}

#[test]
fn the_order_of_words_does_not_matter_much() {
    let mut chance = Chance(3);
    let text: Vec<String> = (0..300).map(|_| chance.text('a', 1)).collect();
    let backwards: Vec<String> = text.iter().rev().cloned().collect();
    let index = index(&[("it", &text.join(" "))]);
    assert!(0.95 < similarity(&index, &backwards.join(" "), "it"));
}

#[test]
fn a_few_words_are_found_in_a_long_text() {
    let mut chance = Chance(5);
    let text = format!("{} token refreshed {}", chance.text('a', 250), chance.text('a', 150));
    let index = index(&[("long", &text), ("invoice", INVOICE), ("search", SEARCH)]);
    check_first(&index, "refresh the token", "long");
}

#[test]
fn other_scripts_are_searched_too() {
    let index = index(&[
        ("chinese", "修复登录失败：令牌在刷新之前过期"),
        ("japanese", "請求書の印刷レイアウトを修正しました"),
        ("russian", "исправлены тесты для страницы входа, пользователи больше не теряют сессию"),
        ("greek", "η αναζήτηση προϊόντων είναι πλέον γρήγορη"),
        ("hindi", "भुगतान विफल होने पर उपयोगकर्ता को संदेश भेजा जाता है"),
        ("korean", "결제 실패 시 사용자에게 알림을 보냅니다"),
        ("thai", "แก้ไขการเข้าสู่ระบบที่ล้มเหลว"),
        ("arabic", "تم إصلاح صفحة تسجيل الدخول للمستخدمين"),
    ]);
    let queries = [
        ("令牌过期", "chinese"),
        ("登", "chinese"),
        ("印刷", "japanese"),
        ("тестирование сессии пользователя", "russian"),
        ("ΑΝΑΖΉΤΗΣΗ", "greek"),
        ("भुगतान संदेश", "hindi"),
        ("사용자 알림", "korean"),
        ("เข้าสู่ระบบ", "thai"),
        ("تسجيل المستخدم", "arabic"),
    ];
    for (query, id) in queries {
        let found = index.search(query, 2, 0.0);
        assert_eq!(found[0].id, id, "{query}: {found:?}");
        assert!(2.0 * found[1].similarity < found[0].similarity, "{query}: {found:?}");
    }
}

#[test]
fn a_query_without_a_word_finds_nothing() {
    let index = index(&[("login", LOGIN), ("nothing", "")]);
    for query in ["", "  \n", "?! -- ...", "🙂"] {
        assert_eq!(index.search(query, 10, 0.0), [], "{query:?}");
    }
}

#[test]
fn a_text_without_a_word_is_held_and_similar_to_nothing() {
    let index = index(&[("nothing", " ... ")]);
    assert_eq!(index.version("nothing"), Some(0));
    assert_eq!(similarity(&index, "anything", "nothing").to_bits(), 0);
}

#[test]
fn no_more_is_found_than_asked_for_and_nothing_less_similar() {
    let index = index(&[("login", LOGIN), ("invoice", INVOICE), ("search", SEARCH)]);
    let all = index.search("the default coding workflow", 10, 0.0);
    assert_eq!(all.len(), 3);
    assert!(all.is_sorted_by(|a, b| b.similarity <= a.similarity));
    assert!(all.iter().all(|it| 0.0 <= it.similarity && it.similarity <= 1.0));
    assert_eq!(index.search("cookie", 10, 0.1).len(), 1);
    assert_eq!(index.search("the default coding workflow", 2, 0.0), all[..2]);
    assert_eq!(index.search("cookie", 0, 0.0), []);
    assert_eq!(index.search("cookie", 10, f32::NAN), []);
}

#[test]
fn of_equals_the_higher_version_comes_first() {
    let mut index = Index::new(10);
    for (id, version) in [("a", 4), ("b", 9), ("c", 6)] {
        index.put(id, version, LOGIN);
    }
    assert_eq!(ids(&index, "cookie"), ["b", "c", "a"]);
}

#[test]
fn a_text_that_is_put_again_replaces_the_one_before() {
    let mut index = index(&[("one", LOGIN), ("other", SEARCH)]);
    index.put("one", 8, INVOICE);
    assert_eq!((index.len(), index.version("one")), (2, Some(8)));
    assert_eq!(ids(&index, "invoices"), ["one"]);
    assert_eq!(ids(&index, "cookie"), [""; 0]);
}

#[test]
fn what_is_removed_is_not_found_and_leaves_no_trace() {
    let mut index = index(&[("login", LOGIN), ("invoice", INVOICE), ("search", SEARCH)]);
    index.remove("login");
    index.remove("unknown");
    assert_eq!((index.len(), index.version("login")), (2, None));
    let never = self::index(&[("search", SEARCH), ("invoice", INVOICE)]);
    let query = "cookie index amount";
    assert_eq!(index.search(query, 10, 0.0), never.search(query, 10, 0.0));
    index.clear();
    assert!(index.is_empty() && index.search(query, 10, 0.0).is_empty());
}

#[test]
fn the_least_recently_used_is_dropped_when_there_are_too_many() {
    let mut index = Index::new(2);
    index.put("login", 1, LOGIN);
    index.put("invoice", 1, INVOICE);
    assert_eq!(ids(&index, "cookie"), ["login"]);
    index.put("search", 1, SEARCH);
    assert_eq!((index.len(), index.version("invoice")), (2, None));
    index.put("invoice", 2, INVOICE);
    assert_eq!((index.len(), index.version("login")), (2, None));
}

#[test]
fn an_index_of_nothing_stays_empty() {
    let mut index = Index::new(0);
    index.put("login", 1, LOGIN);
    assert!(index.is_empty() && index.search("cookie", 10, 0.0).is_empty());
}

#[test]
fn a_huge_text_takes_little_memory() {
    let mut chance = Chance(11);
    let mut index = Index::new(10);
    index.put("huge", 1, &chance.text('a', 500_000));
    assert!(index.bytes() < 60_000, "{}", index.bytes());
}

fn index(texts: &[(&str, &str)]) -> Index {
    let mut index = Index::new(10_000);
    for (id, text) in texts {
        index.put(id, 0, text);
    }
    index
}

fn similarity(index: &Index, query: &str, id: &str) -> f32 {
    let found = index.search(query, 100, 0.0);
    found.into_iter().find(|it| it.id == id).unwrap().similarity
}

fn ids(index: &Index, query: &str) -> Vec<String> {
    index.search(query, 10, 0.05).into_iter().map(|it| it.id).collect()
}

/// Numbers that look like chance, and are the same every time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        u32::try_from(self.0 >> 33).unwrap() % end
    }

    /// Makes words up, of the thirteen letters from `first` on.
    fn text(&mut self, first: char, words: usize) -> String {
        let words: Vec<String> = (0..words).map(|_| self.word(first)).collect();
        words.join(" ")
    }

    fn word(&mut self, first: char) -> String {
        let length = 4 + self.below(6);
        let letter = |_| char::from_u32(u32::from(first) + self.below(13)).unwrap();
        (0..length).map(letter).collect()
    }
}
