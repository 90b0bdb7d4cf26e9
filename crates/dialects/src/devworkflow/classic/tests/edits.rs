//! What people write into a state file, by chance.

use super::{
    super::super::{
        state_file::StateFile,
        words::{PHASES, STATUSES},
    },
    player::Player,
};

/// Texts that are hard to keep apart from the file around them.
const TEXTS: [&str; 10] = [
    "plain",
    "two\nlines",
    "ends blank\n\n\n",
    "```\ncode\n```",
    "open\n```rust\nfn",
    "## Log\n# x",
    "~~~\n## Plan\n~~~",
    "<!-- No log entries yet -->\nafter",
    "a | b \\ <br> c\r\nd",
    "[10:00:00] BLUEPRINT: approve, says ann",
];

/// Files that were there before a run: with sections missing, twice, in another order and style.
const FILES: [&str; 8] = [
    "",
    "# mine\n",
    "## State\nPhase: CONSTRUCT\nStatus: RUNNING\n\n## Mine\nkept",
    "\u{feff}## Log\r\nx\r\n\r\n## State\r\n- **Phase:** BLUEPRINT\r\n- **Status:** RUNNING\r\n",
    "_Last updated: 2020-01-01_\n\n## Items\n| id | description | status |\n|--|--|--|\n\
     | 1 | Add: login | in progress |\n| 1 | again | Done |\n| 7 | c | pending |\n\n## Plan\n\n## Log\n",
    "## Plan\n1. x\n```\n## Log\nhidden\n```\n## Plan\nsecond\n## Log\n```\nopen\n",
    "## ArchiveLog\nold\n## Log\n<!-- my own words -->\n## Items\nnone\n## State\nPhase: BANANA\n",
    "## State\nPhase: VALIDATE  \nStatus: NEEDS_FIXES  \nCurrentItem: Add: login  \n\n## Log\n\n\n\n## Plan\np",
];

impl Player<'_> {
    /// Someone writes into the file.
    pub(super) fn edit(&mut self) {
        let Some(mut file) = self.file() else { return };
        let words = ["BANANA", "NEEDS_FIXES", "PAUSED"];
        match self.draw(5) {
            0 => file.set_phase(PHASES.get(self.draw(6)).copied().unwrap_or("BANANA")),
            1 => file.set_status(STATUSES.get(self.draw(6)).copied().unwrap_or("NEEDS_FIXES")),
            2 => file.set_plan(["", "1. by hand", "2. by hand"][self.draw(3)]),
            3 => {
                let mut rows = file.items();
                let word = ["Pending", "completed", "done", "in progress", ""][self.draw(5)];
                if let Some(row) = rows.first_mut() {
                    word.clone_into(&mut row.status);
                }
                file.set_items(&rows);
            }
            _ => file.set_status(words[self.draw(3)]),
        }
        self.take(file.text().to_owned());
    }

    /// Someone puts a file there that no server wrote, or cuts and adds text.
    pub(super) fn edit_oddly(&mut self) {
        let file = FILES[self.draw(FILES.len())].to_owned();
        let odd = self.odd_text();
        let text = match (self.text(), self.draw(6)) {
            (None, _) | (_, 0) => file,
            (Some(text), 1) => text.replace('\n', "\r\n"),
            (Some(text), 2) => text.trim_end().to_owned(),
            (Some(text), 3) => {
                let cut = ["## Log", "## Plan", "## Items", "## State"][self.draw(4)];
                text.replacen(cut, "## Other", 1)
            }
            (Some(text), 4) => text.replacen("## Log\n", &format!("## Log\n{odd}\n"), 1),
            (Some(text), _) => {
                let mut file = StateFile::parse(&text);
                file.set_plan(odd);
                file.text().to_owned()
            }
        };
        self.take(text);
    }

    pub(super) fn odd_text(&mut self) -> &'static str {
        TEXTS[self.draw(TEXTS.len())]
    }
}
