//! Throwaway.
#![allow(warnings, clippy::all, clippy::disallowed_methods)]
use std::{os::unix::fs::FileExt, sync::Arc, time::{Duration, Instant}, path::Path};
use engine::*;
use store::*;

fn raw(dir: &str, secs: f64) -> f64 {
    let f = std::fs::OpenOptions::new().create(true).truncate(false).write(true).read(true).open(format!("{dir}/raw.bin")).unwrap();
    const SZ: u64 = 16 << 20;
    if f.metadata().unwrap().len() < SZ { let z = vec![0u8; 1 << 20]; for i in 0..16 { f.write_all_at(&z, i << 20).unwrap(); } f.sync_all().unwrap(); }
    let b = vec![7u8; 4096]; let t0 = Instant::now(); let mut n = 0u64;
    while t0.elapsed().as_secs_f64() < secs { f.write_all_at(&b, (n * 4096) % SZ).unwrap(); f.sync_data().unwrap(); n += 1; }
    n as f64 / t0.elapsed().as_secs_f64()
}
fn event(n: u64) -> Event {
    Event::decode(1, &format!(r#"{{"kind":"StepCompleted","step":"implement-feature","report":{{"step_id":"implement-feature","result":null,"status":"success","details":{{"input_tokens":{n},"output_tokens":13}},"message":"Edited src/storage/mod.rs and src/storage/sqlite.rs, ran cargo test (183 passed, 0 failed), updated the changelog and asked for review of the migration order before merging","error":null}},"artifacts":[]}}"#)).unwrap()
}
fn id(n: u64) -> RunId { RunId::from_bytes((0x0190_0000_0000_7000_8000_0000_0000_0000u128 + ((n as u128) << 80) + n as u128).to_be_bytes()) }
fn summary(n: u64, at: i64) -> Summary {
    Summary { workflow: ["forge","dev-workflow","scene-generation"][n as usize % 3].into(), key: Some(format!("k{n}")), root: "/home/someone/work/project-one".into(), status: "running".into(), is_live: true, step: "implement-feature".into(), title: "Add the storage layer".into(), steps_done: 3, steps_total: 18, errors: 0, started_at: Timestamp(1), updated_at: Timestamp(at), ended_at: None, due_at: None }
}
fn append(n: u64, expected: u64, at: i64, request: bool) -> Append {
    Append { project: "p-0190".into(), run: id(n), expected, events: vec![Recorded { seq: expected + 1, at: Timestamp(at), by: Actor { name: Some("agent-7".into()), client: Some("claude-code 2.1".into()), ..Default::default() }, event: event(at as u64) }], summary: summary(n, at), definition: None, request: request.then(|| RequestKey { id: format!("req-{n}-{expected}"), fingerprint: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef".into() }), leases: vec![] }
}
fn cpu() -> f64 { let s = std::fs::read_to_string("/proc/self/stat").unwrap(); let r = s.rsplit(')').next().unwrap(); let v: Vec<&str> = r.split_whitespace().collect(); (v[11].parse::<f64>().unwrap() + v[12].parse::<f64>().unwrap()) / 100.0 }
fn rss() -> String { std::fs::read_to_string("/proc/self/status").unwrap().lines().filter(|l| l.starts_with("VmRSS") || l.starts_with("VmHWM")).map(|l| l.split_whitespace().nth(1).unwrap().to_string()).collect::<Vec<_>>().join("/") }

fn main() {
    let a: Vec<String> = std::env::args().collect();
    let rt = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    rt.block_on(async {
        let dir = a[2].clone();
        std::fs::create_dir_all(&dir).unwrap();
        match a[1].as_str() { "write" => write(&dir, a[3].parse().unwrap(), a[4].parse().unwrap(), &a[5]).await, "grow" => grow(&dir, a[3].parse().unwrap()).await, "open" => open(&dir).await, _ => {} }
    });
}
async fn write(dir: &str, runs: u64, secs: f64, opts: &str) {
    let cs: Vec<usize> = match std::env::var("CALLERS") { Ok(c) => c.split(',').map(|x| x.parse().unwrap()).collect(), _ => vec![1, 16, 64] };
    for callers in cs {
        let path = format!("{dir}/m.db");
        for s in ["", "-wal", "-shm"] { let _ = std::fs::remove_file(format!("{path}{s}")); }
        let mut set = SqliteSettings::default();
        if opts.contains("noindex") { set.index_idle = Duration::from_secs(3600); }
        if opts.contains("normal") { set.synchronous = Synchronous::Normal; }
        let st = Arc::new(SqliteStore::open(Path::new(&path), set).unwrap());
        let req = opts.contains("req");
        // seed
        let mut hs = vec![];
        for c in 0..64u64 { let st = st.clone(); hs.push(tokio::spawn(async move { let mut n = c; while n < runs { st.append(append(n, 0, n as i64, false)).await.unwrap(); n += 64; } })); }
        for h in hs { h.await.unwrap(); }
        tokio::time::sleep(Duration::from_millis(1500)).await;
        for _ in 0..40 { let d = dir.to_string(); let r = tokio::task::spawn_blocking(move || raw(&d, 0.15)).await.unwrap(); if r > 4000.0 || dir.contains("shm") { break; } tokio::time::sleep(Duration::from_millis(1500)).await; }
        let d = dir.to_string();
        let r0 = tokio::task::spawn_blocking(move || raw(&d, 0.5)).await.unwrap();
        store::stat(); let t0 = Instant::now(); let c0 = cpu();
        let stop = t0 + Duration::from_secs_f64(secs);
        let mut hs = vec![];
        for c in 0..callers as u64 {
            let st = st.clone();
            hs.push(tokio::spawn(async move {
                let span = (runs / callers as u64).max(1);
                let mut lens = vec![1u64; span as usize];
                let mut lat = vec![]; let mut i = 0u64;
                while Instant::now() < stop {
                    let k = i % span; let n = c * span + k;
                    let t = Instant::now();
                    st.append(append(n, lens[k as usize], 1_000_000 + (i * 64 + c) as i64, req)).await.unwrap();
                    lens[k as usize] += 1;
                    lat.push(t.elapsed().as_nanos() as u64); i += 1;
                }
                lat
            }));
        }
        let mut all = vec![]; for h in hs { all.extend(h.await.unwrap()); }
        let el = t0.elapsed().as_secs_f64(); let used = cpu() - c0; let sx = store::stat();
        let d = dir.to_string();
        let r1 = tokio::task::spawn_blocking(move || raw(&d, 0.5)).await.unwrap();
        all.sort_unstable();
        let ops = all.len() as f64 / el; let rr = (r0 + r1) / 2.0;
        println!("{opts:12} runs {runs:6} callers {callers:3}: {ops:8.0} ops/s  raw {r0:6.0} {r1:6.0}  x{:.2}  p50 {:.2} p99 {:.2} max {:.1} ms  cpu {:.0} us/op rss {} KB | {:.1} ops/commit apply {:.1} us/op commit {:.0} us  busy {:.2}", ops / rr, all[all.len()/2] as f64/1e6, all[all.len()*99/100] as f64/1e6, *all.last().unwrap() as f64/1e6, used/all.len() as f64*1e6, rss(), sx[1] as f64/sx[0] as f64, sx[2] as f64/1e3/sx[1] as f64, sx[3] as f64/1e3/sx[0] as f64, (sx[2]+sx[3]) as f64/1e9/el);
    }
}
async fn grow(dir: &str, runs: u64) {
    let path = format!("{dir}/grow.db");
    for s in ["", "-wal", "-shm"] { let _ = std::fs::remove_file(format!("{path}{s}")); }
    let mut set = SqliteSettings::default(); set.synchronous = Synchronous::Normal; set.index_idle = Duration::from_secs(3600);
    let st = Arc::new(SqliteStore::open(Path::new(&path), set).unwrap());
    let t = Instant::now();
    let mut hs = vec![];
    for c in 0..128u64 { let st = st.clone(); hs.push(tokio::spawn(async move { let mut n = c; while n < runs { let mut a = append(n, 0, n as i64 + 1, false); a.summary.status = ["completed","completed","completed","failed","cancelled","running","waiting"][(n % 97).min(6) as usize].into(); if n % 97 > 6 { a.summary.status = "completed".into() } a.summary.is_live = false; if n % 1000 == 0 { a.summary.due_at = Some(Timestamp(n as i64)); } st.append(a).await.unwrap(); n += 128; } })); }
    for h in hs { h.await.unwrap(); }
    eprintln!("built {runs} in {:?} rss {}", t.elapsed(), rss());
    let p = Some("p-0190".to_string());
    let base = Filter { project: p.clone(), limit: 50, ..Default::default() };
    for (name, f) in [
        ("project", base.clone()), ("all", Filter { project: None, ..base.clone() }),
        ("status waiting", Filter { statuses: vec!["waiting".into()], ..base.clone() }),
        ("status completed", Filter { statuses: vec!["completed".into()], ..base.clone() }),
        ("workflow", Filter { workflow: Some("forge".into()), ..base.clone() }),
        ("workflow+status", Filter { workflow: Some("forge".into()), statuses: vec!["failed".into()], ..base.clone() }),
        ("root", Filter { root: Some("/home/someone/work/project-one".into()), ..base.clone() }),
        ("other root", Filter { root: Some("/x".into()), ..base.clone() }),
        ("key", Filter { key: Some("k77".into()), ..base.clone() }),
        ("due", Filter { due_by: Some(Timestamp(50_000)), ..base.clone() }),
        ("page middle", Filter { after: Some((Timestamp(runs as i64 / 2), id(runs/2))), ..base.clone() }),
        ("id prefix", Filter { ids: Some((id(500), id(510))), ..base.clone() }),
        ("ids all", Filter { ids: Some((id(0), id(runs))), ..base.clone() }),
    ] {
        let mut lat = vec![]; let mut n = 0;
        for _ in 0..200 { let t = Instant::now(); n = st.list(f.clone()).await.unwrap().len(); lat.push(t.elapsed()); }
        lat.sort(); println!("list {name:18} {n:3} rows p50 {:?} p99 {:?}", lat[100], lat[197]);
    }
    let mut lat = vec![];
    for i in 0..2000u64 { let t = Instant::now(); st.load(id(i * 7919 % runs), 0).await.unwrap().unwrap(); lat.push(t.elapsed()); }
    lat.sort(); println!("load p50 {:?} p99 {:?}", lat[1000], lat[1980]);
    println!("figures {:?}", st.figures().await);
    let t = Instant::now();
    let hits = st.search(Search { text: "changelog review".into(), limit: 20, ..Default::default() }).await.unwrap();
    println!("first search {:?} {} hits", t.elapsed(), hits.len());
    for q in ["changelog review", "feature*", "k77", "\"migration order\""] { let t = Instant::now(); let h = st.search(Search { text: q.into(), limit: 20, ..Default::default() }).await.unwrap(); println!("search {q:20} {:?} {} hits", t.elapsed(), h.len()); }
    let t = Instant::now(); let h = st.search(Search { run: Some(id(77)), text: "changelog review".into(), limit: 20, ..Default::default() }).await.unwrap(); println!("search in run {:?} {} hits", t.elapsed(), h.len());
    println!("rss {}", rss());
    let t = Instant::now(); println!("check {:?} {:?}", st.check().await, t.elapsed());
}
async fn open(dir: &str) {
    let path = format!("{dir}/m.db");
    for _ in 0..5 { let t = Instant::now(); let st = SqliteStore::open(Path::new(&path), SqliteSettings::default()).unwrap(); let e = t.elapsed(); let t = Instant::now(); let l = st.list(Filter { limit: 5, ..Default::default() }).await.unwrap().len(); let e2 = t.elapsed(); let t = Instant::now(); drop(st); println!("open {e:?} first list {l} {e2:?} drop {:?}", t.elapsed()); }
    println!("rss {}", rss());
}
