//! The status page: version, project, how many runs there are, the newest ones, and how to connect
//! a client. One HTML text without anything from elsewhere.

use runtime::{Row, RunFilter};

use crate::{
    commands::run::{STATUSES, short},
    failure::Failure,
    join::Joined,
    output::text,
};

/// How many runs the table shows.
const ROWS_MAX: u32 = 25;
/// How far runs are counted.
const COUNTED_MAX: u32 = 100;

const STYLE: &str = "\
:root{color-scheme:light dark;--line:#8884;--dim:#888}\
body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}\
h1{font-size:1.4rem;margin:0}h2{font-size:1.1rem;margin-top:2rem}\
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem}dt{color:var(--dim)}dd{margin:0}\
.counts{display:flex;gap:.5rem;flex-wrap:wrap;margin:1rem 0;padding:0;list-style:none}\
.counts li{border:1px solid var(--line);border-radius:.5rem;padding:.4rem .9rem}\
.counts b{font-size:1.3rem;margin-right:.4rem}\
.table{overflow-x:auto}table{border-collapse:collapse;width:100%}\
th,td{text-align:left;padding:.35rem .7rem;border-bottom:1px solid var(--line);vertical-align:top}\
th{font-weight:600;color:var(--dim)}td:first-child,td:nth-child(6){white-space:nowrap}\
code,pre{font-family:ui-monospace,monospace;font-size:.92em}\
pre{border:1px solid var(--line);border-radius:.5rem;padding:.7rem;overflow-x:auto}\
.waiting{color:#b26a00}.completed{color:#2a8c3c}.failed{color:#d02f2f}.cancelled{color:var(--dim)}\
footer{color:var(--dim);margin-top:2rem}";

/// Returns the page.
pub(super) async fn render(joined: &Joined) -> Result<String, Failure> {
    let mut counts = String::new();
    for status in STATUSES {
        let statuses = vec![status.to_owned()];
        let filter = RunFilter { statuses, limit: COUNTED_MAX, ..RunFilter::default() };
        let page = joined.runtime.list_runs(filter).await?;
        let more = if page.next.is_some() { "+" } else { "" };
        let count = page.rows.len();
        counts.push_str(&format!("<li class={status}><b>{count}{more}</b>{status}</li>"));
    }
    let newest = RunFilter { limit: ROWS_MAX, ..RunFilter::default() };
    let page = joined.runtime.list_runs(newest).await?;
    let runs = if page.rows.is_empty() {
        "<p>No run has been started yet.</p>".to_owned()
    } else {
        let rows: String = page.rows.iter().map(|it| row(joined, it)).collect();
        format!(
            "<div class=table><table><thead><tr><th>Run<th>Workflow<th>Status<th>Step<th>Done\
             <th>Changed<th>About<tbody>{rows}</table></div>"
        )
    };
    let version = env!("CARGO_PKG_VERSION");
    let project = escape(&joined.config.places.project.display().to_string());
    let database = escape(&joined.database.to_string());
    let workflows = joined.runtime.list_workflows().0.len();
    Ok(format!(
        "<!doctype html><html lang=en><meta charset=utf-8>\
         <meta name=viewport content=\"width=device-width,initial-scale=1\">\
         <meta http-equiv=refresh content=10><title>Milepost</title><style>{STYLE}</style>\
         <h1>Milepost</h1>\
         <dl><dt>version<dd>{version}<dt>project<dd>{project}<dt>database<dd>{database}\
         <dt>workflows<dd>{workflows}</dl>\
         <ul class=counts>{counts}</ul>\
         <h2>Newest runs</h2>{runs}\
         <h2>Connect a client</h2>\
         <pre>milepost setup</pre>\
         <p>or, in a client's own file:</p>\
         <pre>{{\"mcpServers\": {{\"milepost\": {{\"command\": \"milepost\", \"args\": [\"mcp\"]}}}}}}</pre>\
         <p>Then tell the agent: <em>Start the workflow WORK with milepost.</em></p>\
         <footer>This page looks again every ten seconds.</footer>"
    ))
}

fn row(joined: &Joined, row: &Row) -> String {
    let it = &row.summary;
    let about = if it.title.is_empty() { it.key.as_deref().unwrap_or_default() } else { &it.title };
    let changed = text::ago(joined.runtime.now(), it.updated_at);
    let (id, full) = (short(row.run), row.run.short());
    let (workflow, step, about) = (escape(&it.workflow), escape(&it.step), escape(about));
    let status = escape(&it.status);
    let (done, total) = it.progress();
    format!(
        "<tr><td><code title=\"{full}\">{id}</code><td>{workflow}<td class={status}>{status}\
         <td>{step}<td>{done}/{total}<td>{changed}<td>{about}"
    )
}

fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text::line(text).chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            letter => safe.push(letter),
        }
    }
    safe
}
