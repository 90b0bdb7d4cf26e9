//! Laws of leases: who holds a step, until when, and who is refused.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

use engine::{Lease, Timestamp};
use store::{Append, Heartbeat, LeaseChange, Store, Touch};

use crate::{
    log::{at_once, conflict},
    support::{append, run},
};

pub(crate) async fn a_lease_is_there_until_it_is_dropped(store: &dyn Store) {
    let (one, two) = (lease("build", None, 1, 100), lease("test", Some("3"), 2, 200));
    store.append(changing(0, vec![take(&one, None), take(&two, None)])).await.unwrap();
    assert_eq!(held(store).await, [one.clone(), two.clone()]);
    store.append(changing(1, vec![LeaseChange::Drop { generation: 1 }])).await.unwrap();
    assert_eq!(held(store).await, std::slice::from_ref(&two));
    // What is not there need not be dropped.
    store.append(changing(2, vec![LeaseChange::Drop { generation: 1 }])).await.unwrap();
    assert_eq!(held(store).await, [two]);
    assert!(store.load(run(9), 0).await.unwrap().is_none());
}

pub(crate) async fn a_step_is_held_once(store: &dyn Store) {
    store.append(changing(0, vec![take(&lease("build", None, 1, 100), None)])).await.unwrap();
    let second = lease("build", None, 2, 100);
    let refused = store.append(changing(1, vec![take(&second, None)])).await;
    assert_eq!(conflict(refused), (1, 1));
    // Another part of the step, and another step, are free; a generation is used once.
    let part = lease("build", Some("1"), 2, 100);
    let other = lease("test", None, 3, 100);
    store.append(changing(1, vec![take(&part, None), take(&other, None)])).await.unwrap();
    let reused = lease("ship", None, 3, 100);
    assert_eq!(conflict(store.append(changing(2, vec![take(&reused, None)])).await), (2, 2));
    assert_eq!(held(store).await.len(), 3);
}

pub(crate) async fn an_ended_lease_is_taken_over_as_it_was_seen(store: &dyn Store) {
    store.append(changing(0, vec![take(&lease("build", None, 1, 100), None)])).await.unwrap();
    let next = lease("build", None, 2, 900);
    for wrong in [None, Some(99)] {
        assert_eq!(conflict(store.append(changing(1, vec![take(&next, wrong)])).await), (1, 1));
    }
    store.append(changing(1, vec![take(&next, Some(100))])).await.unwrap();
    assert_eq!(held(store).await, [next]);
    // Nothing to take over where nothing is.
    let absent = lease("test", None, 3, 900);
    assert_eq!(conflict(store.append(changing(2, vec![take(&absent, Some(1))])).await), (2, 2));
    assert_eq!(store.load(run(1), 0).await.unwrap().unwrap().length, 2);
}

pub(crate) async fn a_heartbeat_moves_the_end_and_spoils_a_takeover(store: &dyn Store) {
    store.append(changing(0, vec![take(&lease("build", None, 1, 100), None)])).await.unwrap();
    assert!(store.touch(beat(1, 50, 300)).await.unwrap());
    assert_eq!(held(store).await[0].until, Timestamp(300));
    assert_eq!(store.load(run(1), 0).await.unwrap().unwrap().length, 1);
    let next = lease("build", None, 2, 900);
    assert_eq!(conflict(store.append(changing(1, vec![take(&next, Some(100))])).await), (1, 1));
    store.append(changing(1, vec![take(&next, Some(300))])).await.unwrap();
    assert!(!store.touch(beat(1, 50, 999)).await.unwrap());
}

pub(crate) async fn a_heartbeat_of_one_who_holds_nothing_is_refused(store: &dyn Store) {
    assert!(!store.touch(beat(1, 0, 100)).await.unwrap());
    store.append(changing(0, vec![take(&lease("build", None, 1, 100), None)])).await.unwrap();
    assert!(!store.touch(beat(2, 0, 100)).await.unwrap());
    // At its end it has ended.
    assert!(!store.touch(beat(1, 100, 200)).await.unwrap());
    assert!(store.touch(beat(1, 99, 200)).await.unwrap());
    store.append(changing(1, vec![LeaseChange::Drop { generation: 1 }])).await.unwrap();
    assert!(!store.touch(beat(1, 99, 300)).await.unwrap());
}

pub(crate) async fn a_heartbeat_never_shortens(store: &dyn Store) {
    store.append(changing(0, vec![take(&lease("build", None, 1, 100), None)])).await.unwrap();
    assert!(store.touch(beat(1, 10, 60)).await.unwrap());
    assert_eq!(held(store).await[0].until, Timestamp(100));
}

pub(crate) async fn leases_change_in_the_order_given(store: &dyn Store) {
    let (one, two) = (lease("build", None, 1, 100), lease("build", None, 2, 100));
    store.append(changing(0, vec![take(&one, None)])).await.unwrap();
    let wrong = vec![take(&two, None), LeaseChange::Drop { generation: 1 }];
    assert_eq!(conflict(store.append(changing(1, wrong)).await), (1, 1));
    assert_eq!(held(store).await, [one]);
    let right = vec![LeaseChange::Drop { generation: 1 }, take(&two, None)];
    store.append(changing(1, right)).await.unwrap();
    assert_eq!(held(store).await, [two]);
    // Taken and given back at once.
    let both = vec![take(&lease("test", None, 3, 100), None), LeaseChange::Drop { generation: 3 }];
    store.append(changing(2, both)).await.unwrap();
    assert_eq!(held(store).await.len(), 1);
}

pub(crate) async fn two_never_hold_one_step(store: &dyn Store) {
    const CALLERS: u64 = 8;
    store.append(append(run(1), 0, &["begin"])).await.unwrap();
    let claims = (1..=CALLERS).map(|generation| {
        let claim = take(&lease("build", None, generation, 100), None);
        store.append(changing(1, vec![claim]))
    });
    let outcomes = at_once(claims).await;
    assert_eq!(outcomes.iter().filter(|it| it.is_ok()).count(), 1);
    assert_eq!(held(store).await.len(), 1);
}

/// Appends one event to run 1, and changes its leases.
fn changing(expected: u64, leases: Vec<LeaseChange>) -> Append {
    Append { leases, ..append(run(1), expected, &["change"]) }
}

fn take(lease: &Lease, replaces: Option<i64>) -> LeaseChange {
    LeaseChange::Take { lease: lease.clone(), replaces: replaces.map(Timestamp) }
}

fn lease(step: &str, part: Option<&str>, generation: u64, until: i64) -> Lease {
    let name = |name: &str| serde_json::Value::from(name);
    Lease {
        step: serde_json::from_value(name(step)).unwrap(),
        part: part.map(|part| serde_json::from_value(name(part)).unwrap()),
        holder: format!("agent {generation}"),
        generation,
        until: Timestamp(until),
    }
}

fn beat(generation: u64, now: i64, until: i64) -> Touch {
    let (now, until) = (Timestamp(now), Timestamp(until));
    Touch::Lease(Heartbeat { run: run(1), generation, now, until })
}

async fn held(store: &dyn Store) -> Vec<Lease> {
    store.load(run(1), 0).await.unwrap().unwrap().leases
}
