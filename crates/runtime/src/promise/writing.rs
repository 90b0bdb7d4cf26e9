//! Writes a promised file, and keeps what it takes the place of.

use super::{Known, Promise, Rendering, looking::Left, shown};
use crate::{Place, Stat};

impl Promise<'_> {
    /// Returns the file of the run as it is before anything happened.
    pub(super) fn blank(&self) -> Rendering {
        Rendering::blank(self.projection, &self.workflow, self.run)
    }

    pub(super) async fn write(&self, known: &mut Known) -> Result<Stat, String> {
        let text = known.text().to_owned();
        if self.projection.layout().is_private {
            return self.file_system.write_for_owner(&self.place, text).await;
        }
        self.file_system.write(&self.place, text).await
    }

    /// Whether the run is over once its file was taken away.
    pub(super) fn ends_with_file(&self) -> bool {
        !self.projection.outlives_file(&self.key)
    }

    /// Keeps what is in a file elsewhere, and returns where; `None` where there is nothing to keep.
    /// What is not text is only given a place: it is moved there.
    pub(super) async fn keep(&self, aside: Place, left: &Left) -> Result<Option<Place>, String> {
        match left {
            Left::Nothing => Ok(None),
            Left::Text(text) => self.keep_text(aside, text).await.map(Some),
            Left::Bytes => self.find_free(aside, None).await.map(|(place, _)| Some(place)),
        }
    }

    /// Keeps a text elsewhere, and returns where.
    pub(super) async fn keep_text(&self, place: Place, text: &str) -> Result<Place, String> {
        let (place, is_kept) = self.find_free(place, Some(text)).await?;
        if !is_kept {
            // It is nowhere else.
            let text = text.to_owned();
            let kept = if self.projection.layout().is_private {
                self.file_system.write_privately(&place, text).await
            } else {
                self.file_system.write_durably(&place, text).await
            };
            kept.map_err(|problem| format!("`{}`: {problem}", self.named(&place)))?;
        }
        Ok(place)
    }

    /// Returns where a text of the file is kept that has to make room.
    pub(super) fn aside(&self, text: &str) -> Place {
        Place { path: self.projection.aside(&self.key, text), ..self.place.clone() }
    }

    /// Returns how people name a place.
    pub(super) fn named(&self, place: &Place) -> String {
        shown(&**self.projection, &place.path)
    }

    /// Returns a place that no file has, with a number where it needs one; or the one that has this
    /// text already, and that it does.
    async fn find_free(
        &self,
        mut place: Place,
        text: Option<&str>,
    ) -> Result<(Place, bool), String> {
        let wanted = place.path.clone();
        let mut number = 1;
        while self.file_system.stat(&place).await?.is_some() {
            if let (Some(text), Ok(Some((bytes, _)))) = (text, self.file_system.read(&place).await)
                && text.as_bytes() == bytes
            {
                return Ok((place, true));
            }
            number += 1;
            place.path = match wanted.rsplit_once('.') {
                Some((stem, ending)) => format!("{stem}-{number}.{ending}"),
                None => format!("{wanted}-{number}"),
            };
        }
        Ok((place, false))
    }
}
