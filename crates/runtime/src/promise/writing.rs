//! Writes a promised file, and keeps what it takes the place of.

use engine::{Actor, Command, Surface};

use super::{Known, Promise, shown};
use crate::{Place, Request, Stat, Target};

impl Promise<'_> {
    /// Returns what the file asks of its run.
    pub(super) fn request(&self, command: Command) -> Request {
        Request {
            target: Target::Run(self.run),
            command,
            actor: Actor { surface: Surface::File, ..Actor::default() },
            request_id: None,
        }
    }

    pub(super) async fn write(&self, known: &mut Known) -> Result<Stat, String> {
        self.write_text(&self.place, known.text().to_owned()).await
    }

    /// Writes the file, or what is kept of it elsewhere.
    async fn write_text(&self, place: &Place, text: String) -> Result<Stat, String> {
        if self.projection.is_private() {
            return self.desk.write_for_owner(place, text).await;
        }
        self.desk.write(place, text).await
    }

    /// Writes the file anew, once what is there, which is no text, was moved elsewhere.
    pub(super) async fn move_aside(
        &self,
        known: &mut Known,
        notices: &mut Vec<String>,
    ) -> Result<Stat, String> {
        let path = self.projection.aside(&self.key, "");
        self.desk.rename(&self.place, &path).await?;
        let (own, path) = (&self.shown, shown(self.projection, &path));
        notices.push(format!("`{own}` is not UTF-8 text, and was moved to `{path}`"));
        self.write(known).await
    }

    /// Writes what goes with the file. It is only ever looked at, so nobody waits for it.
    pub(super) async fn write_beside(&self, known: &Known, notices: &mut Vec<String>) {
        for (path, text) in known.sheet.beside() {
            let place = Place { path, ..self.place.clone() };
            if let Err(problem) = self.desk.write(&place, text).await {
                let path = shown(self.projection, &place.path);
                notices.push(format!("`{path}` could not be written: {problem}"));
            }
        }
    }

    /// Whether the run is over because its file was taken away.
    pub(super) fn is_over(&self, known: &Known, stat: &Result<Option<Stat>, String>) -> bool {
        *stat == Ok(None) && 0 < known.written() && !self.projection.outlives_file(&self.key)
    }

    /// Writes the file over a text that is kept elsewhere first.
    pub(super) async fn replace(
        &self,
        text: &str,
        known: &mut Known,
        notices: &mut Vec<String>,
    ) -> Result<Stat, String> {
        self.keep_aside(text, notices).await?;
        self.write(known).await
    }

    /// Keeps a text of the file elsewhere.
    pub(super) async fn keep_aside(
        &self,
        text: &str,
        notices: &mut Vec<String>,
    ) -> Result<(), String> {
        let mut place =
            Place { path: self.projection.aside(&self.key, text), ..self.place.clone() };
        let wanted = place.path.clone();
        let mut number = 1;
        while self.desk.stat(&place).await?.is_some() {
            number += 1;
            place.path = match wanted.rsplit_once('.') {
                Some((stem, ending)) => format!("{stem}-{number}.{ending}"),
                None => format!("{wanted}-{number}"),
            };
        }
        let path = shown(self.projection, &place.path);
        let kept = self.write_text(&place, text.to_owned()).await;
        kept.map_err(|problem| format!("`{path}`: {problem}"))?;
        notices.push(format!("what was in `{}` is kept in `{path}`", self.shown));
        Ok(())
    }
}
