//! How soon a client that listens hears of what another process did.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::{
    Measured,
    figures::{Samples, time},
    peer::Peer,
    rig::Rig,
    table::Section,
    web::Web,
};

const NEWS_MAX: Duration = Duration::from_millis(100);

pub(crate) fn measure(rig: &Rig) -> Measured<Section> {
    let rounds = rig.pick(200, 40);
    let folder = rig.folder()?;
    let web = Web::start(&mut rig.web_server(folder.path()))?;
    let mut other = Peer::start(&mut rig.server(folder.path()))?;
    let run = other.begin("SPRINT_TASK")?;
    let mut line = web.connect()?;
    let uri = format!("milepost://runs/{run}");
    let wish = json!({"notifications": {"resourceSubscriptions": [uri]}});
    line.send("subscriptions/listen", wish)?;
    line.receive_head()?;
    line.next_message()?;
    let mut samples = Samples::new();
    for round in 0..rounds {
        let note = json!({"instance_id": run, "type": "note", "text": format!("news {round}")});
        other.done("record_entry", &note)?;
        let begun = Instant::now();
        let told = line.next_message()?;
        if told["params"]["uri"] != uri {
            return Err(format!("told something else: {told}").into());
        }
        samples.add(begun.elapsed());
    }
    let note = format!(
        "A client listens to a run over HTTP, another process records an entry, {rounds} times; from \
         the answer to the other until the client is told."
    );
    let mut section = Section::new("News of another process", note, &["p50", "p99"]);
    section.row(&[time(samples.median()), time(samples.quantile(99))]);
    let promise = format!("a listener hears of another process within {}", time(NEWS_MAX));
    section.target(promise, time(samples.median()), samples.median() <= NEWS_MAX);
    Ok(section)
}
