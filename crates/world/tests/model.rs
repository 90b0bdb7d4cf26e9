//! The language model, against one on this computer that speaks the three APIs and misbehaves on
//! request.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

#[path = "../../../surfaces/cli/tests/support/model.rs"]
mod model;

use std::time::Duration;

use engine::{Fact, ModelFact, ModelFailureKind, Question};
use model::{FakeModel, Turn};
use runtime::World as _;
use world::{Api, ModelSettings, RealWorld, Secret, WorldSettings};

const KEY: &str = "sk-very-secret-1234";
const APIS: [Api; 3] = [Api::Anthropic, Api::OpenAi, Api::Gemini];

fn settings(api: Api, fake: &FakeModel) -> ModelSettings {
    ModelSettings {
        api,
        endpoint: fake.endpoint.clone(),
        key: Some(Secret::new(KEY)),
        name: "m-1".to_owned(),
        timeout: Duration::from_secs(20),
        budget: Duration::from_secs(60),
        tries_max: 4,
        backoff: Duration::from_millis(1),
    }
}

/// Asks a model once.
async fn ask(world: &RealWorld) -> ModelFact {
    let names = vec!["FINISH".to_owned(), "b".to_owned()];
    let question =
        Question::Model { system: "be brief".to_owned(), user: "what next?".to_owned(), names };
    // A model needs no folder.
    match world.look(("/nowhere", "/nowhere/at/all"), &question).await {
        Some(Fact::Model(fact)) => fact,
        other => panic!("{other:?}"),
    }
}

fn world(settings: ModelSettings) -> RealWorld {
    RealWorld::new(WorldSettings { model: Some(settings), ..WorldSettings::default() })
}

/// Asks a model of each API that takes these turns, and has `check` look at what came of it.
async fn with_each(turns: &[Turn], check: impl Fn(&FakeModel, &ModelFact)) {
    for api in APIS {
        let fake = FakeModel::start(turns.to_vec());
        let fact = ask(&world(settings(api, &fake))).await;
        assert!(!format!("{fact:?}").contains(KEY), "the key is told: {fact:?}");
        check(&fake, &fact);
    }
}

fn says(text: &str) -> Turn {
    Turn::Says(text.to_owned())
}

fn refuses(status: u16, body: &str) -> Turn {
    Turn::Refuses(status, "", body.to_owned())
}

/// Checks that an answer came, after so many tries.
fn answered(fact: &ModelFact, tries: u32) {
    match fact {
        ModelFact::Replied { text, usage } => {
            assert_eq!(text, r#"{"next_step_name":"b"}"#);
            assert_eq!((usage.tokens_in, usage.tokens_out, usage.tries), (7, 3, tries));
            assert_eq!(usage.model, "m-1");
        }
        ModelFact::Failed { .. } => panic!("{fact:?}"),
    }
}

/// Checks that none came, for what reason, after how many tries.
fn failed(fact: &ModelFact, kind: ModelFailureKind, word: &str, tries: u32) {
    match fact {
        ModelFact::Failed { failure, usage } => {
            assert_eq!((failure.kind, usage.tries), (kind, tries), "{fact:?}");
            assert!(failure.message.contains(word), "{fact:?}");
        }
        ModelFact::Replied { .. } => panic!("{fact:?}"),
    }
}

const REPLY: &str = r#"{"next_step_name":"b"}"#;

#[tokio::test]
async fn each_api_is_asked_in_its_own_words_and_answers_in_them() {
    with_each(&[says(REPLY)], |fake, fact| {
        answered(fact, 1);
        let heard = fake.heard();
        assert_eq!(heard.len(), 1);
        let (path, head, body) = (heard[0].path.as_str(), &heard[0].head, &heard[0].body);
        let names = serde_json::json!(["FINISH", "b"]);
        match path {
            "/v1/messages" => {
                assert!(head.contains(&format!("x-api-key: {KEY}\r\n")), "{head}");
                assert!(head.contains("anthropic-version: 2023-06-01"), "{head}");
                assert_eq!(body["system"], "be brief");
                assert_eq!(body["tool_choice"]["name"], body["tools"][0]["name"]);
                let form = &body["tools"][0]["input_schema"];
                assert_eq!(form["properties"]["next_step_name"]["enum"], names);
            }
            "/v1/chat/completions" => {
                assert!(head.contains(&format!("authorization: bearer {KEY}\r\n")), "{head}");
                assert_eq!(body["messages"][1]["content"], "what next?");
                let form = &body["response_format"]["json_schema"]["schema"];
                assert_eq!(form["properties"]["next_step_name"]["enum"], names);
            }
            "/v1beta/models/m-1:generateContent" => {
                assert!(head.contains(&format!("x-goog-api-key: {KEY}\r\n")), "{head}");
                let form = &body["generationConfig"]["responseSchema"];
                assert_eq!(form["properties"]["next_step_name"]["enum"], names);
                assert_eq!(body["generationConfig"]["responseMimeType"], "application/json");
            }
            other => panic!("asked at {other}"),
        }
    })
    .await;
}

#[tokio::test]
async fn what_may_pass_is_tried_again() {
    let broken = Turn::BreaksOff("HTTP/1.1 200 X\r\ncontent-length: 99\r\n\r\n{\"half".to_owned());
    with_each(&[refuses(503, "{}"), broken, refuses(429, ""), says(REPLY)], |fake, fact| {
        answered(fact, 4);
        assert_eq!(fake.heard().len(), 4);
    })
    .await;
}

#[tokio::test]
async fn tries_are_counted_and_end() {
    let turns = [503, 500, 408, 503].map(|it| refuses(it, r#"{"error":{"message":"overloaded"}}"#));
    with_each(&turns, |_, fact| {
        failed(fact, ModelFailureKind::Api, "overloaded", 4);
    })
    .await;
}

#[tokio::test]
async fn what_cannot_pass_is_not_tried_again() {
    let quoted = format!(r#"{{"error":{{"message":"wrong key {KEY}"}}}}"#);
    with_each(&[refuses(401, &quoted), says(REPLY)], |_, fact| {
        failed(fact, ModelFailureKind::Api, "401", 1);
    })
    .await;
    with_each(&[refuses(400, &quoted), says(REPLY)], |_, fact| {
        failed(fact, ModelFailureKind::Api, "wrong key ***", 1);
    })
    .await;
    with_each(&[refuses(302, ""), says(REPLY)], |_, fact| {
        failed(fact, ModelFailureKind::Api, "302", 1);
    })
    .await;
}

#[tokio::test]
async fn an_endpoint_that_asks_for_a_pause_longer_than_the_budget_is_left() {
    let later = Turn::Refuses(429, "retry-after: 3600\r\n", String::new());
    with_each(&[later, says(REPLY)], |fake, fact| {
        failed(fact, ModelFailureKind::Api, "429", 1);
        assert_eq!(fake.heard().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_try_that_takes_too_long_is_given_up() {
    for api in APIS {
        let fake = FakeModel::start([Turn::Waits(REPLY.to_owned()), says(REPLY)]);
        let slow = ModelSettings { timeout: Duration::from_millis(200), ..settings(api, &fake) };
        answered(&ask(&world(slow.clone())).await, 2);
        let fake = FakeModel::start([Turn::Waits(REPLY.to_owned()), says(REPLY)]);
        let once = ModelSettings { tries_max: 1, endpoint: fake.endpoint.clone(), ..slow };
        failed(&ask(&world(once)).await, ModelFailureKind::Timeout, "longer than", 1);
        // It was asked, and heard.
        fake.wait_for(1);
        fake.let_go();
    }
}

#[tokio::test]
async fn garbage_an_empty_answer_and_one_without_end_are_no_answers() {
    let huge = "x".repeat(2 << 20);
    for (body, word) in [("garbage", "not JSON"), ("{}", "empty"), (huge.as_str(), "bytes")] {
        with_each(&[refuses(200, body)], |_, fact| {
            failed(fact, ModelFailureKind::InvalidResponse, word, 1);
        })
        .await;
    }
}

#[tokio::test]
async fn a_model_that_will_not_answer_is_not_asked_again() {
    let replies = [
        (Api::Anthropic, r#"{"stop_reason":"refusal","content":[]}"#),
        (Api::OpenAi, r#"{"choices":[{"message":{"refusal":"no"}}]}"#),
        (Api::OpenAi, r#"{"choices":[{"finish_reason":"content_filter","message":{}}]}"#),
        (Api::Gemini, r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#),
        (Api::Gemini, r#"{"candidates":[{"finishReason":"PROHIBITED_CONTENT"}]}"#),
    ];
    for (api, reply) in replies {
        let fake = FakeModel::start([refuses(200, reply), says(REPLY)]);
        let fact = ask(&world(settings(api, &fake))).await;
        failed(&fact, ModelFailureKind::Safety, "would not answer", 1);
    }
}

#[tokio::test]
async fn an_endpoint_that_keeps_failing_is_left_alone() {
    let fake = FakeModel::start([]);
    for _ in 0..5 {
        fake.add(refuses(500, ""));
    }
    let world = world(settings(Api::OpenAi, &fake));
    failed(&ask(&world).await, ModelFailureKind::Api, "500", 4);
    failed(&ask(&world).await, ModelFailureKind::Api, "left alone", 1);
    failed(&ask(&world).await, ModelFailureKind::Api, "left alone", 0);
    assert_eq!(fake.heard().len(), 5);
}

#[tokio::test]
async fn an_endpoint_that_is_not_there_is_told_without_its_address() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let gone = ModelSettings { endpoint, ..settings(Api::OpenAi, &FakeModel::start([])) };
    failed(&ask(&world(gone)).await, ModelFailureKind::Api, "cannot be reached", 4);
}

#[tokio::test]
async fn an_endpoint_that_cannot_be_trusted_is_told_nothing() {
    let fake = FakeModel::start([]);
    let endpoint = fake.endpoint.replace("http://", "https://");
    let plain = ModelSettings { endpoint, ..settings(Api::OpenAi, &fake) };
    failed(&ask(&world(plain)).await, ModelFailureKind::Api, "cannot be reached", 4);
    assert_eq!(fake.heard().len(), 0);
}

#[test]
fn a_secret_is_never_printed() {
    let fake = FakeModel::start([]);
    let world = world(settings(Api::Anthropic, &fake));
    let printed = format!("{world:?} {:?}", settings(Api::Gemini, &fake));
    assert!(!printed.contains(KEY) && printed.contains("***"), "{printed}");
}

#[test]
fn the_api_is_guessed_from_the_endpoint() {
    for (endpoint, api) in [
        ("https://api.anthropic.com", Api::Anthropic),
        ("http://127.0.0.1:1/v1/messages", Api::Anthropic),
        ("https://generativelanguage.googleapis.com", Api::Gemini),
        ("http://localhost:11434/v1", Api::OpenAi),
    ] {
        assert_eq!(Api::guess(endpoint), api, "{endpoint}");
    }
}
