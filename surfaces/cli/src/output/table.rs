//! Tables that fit the width.

use anstyle::Style;
use comfy_table::{ColumnConstraint, ContentArrangement, Row, Table, TableStyle};

use super::{BOLD, text};

/// Stands for the beginning of a style while columns are laid out: it has no width. The letters
/// after it name the styles; none of them can come from anyone's text, which is cleaned.
const MARK: u32 = 0x2061;
/// Stands for the end of a style.
const END: char = '\u{2060}';
/// How many styles there can be in one table.
const STYLES_MAX: u32 = 4;

/// A table without lines: a head, and rows.
pub(crate) struct Grid {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
    styles: Vec<Style>,
    /// The columns that give way where there is no room. The others are always whole.
    flexible: Vec<usize>,
    /// Whether long texts go on in the next line, or are cut.
    is_wrapped: bool,
}

impl Grid {
    /// Begins a table whose long texts are cut, in its last column only.
    pub(crate) fn new(head: &[&str]) -> Self {
        let flexible = vec![head.len().saturating_sub(1)];
        let head = head.iter().map(|it| (*it).to_owned()).collect();
        Self { head, rows: Vec::new(), styles: Vec::new(), flexible, is_wrapped: false }
    }

    /// Says which columns give way where there is no room.
    #[must_use]
    pub(crate) fn flexible(self, flexible: &[usize]) -> Self {
        Self { flexible: flexible.to_vec(), ..self }
    }

    /// Begins a table whose long texts go on in the next line.
    pub(crate) fn wrapped(head: &[&str]) -> Self {
        Self { is_wrapped: true, ..Self::new(head) }
    }

    /// Adds a row.
    pub(crate) fn add(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    /// Returns a cell in a style. For columns that are always whole.
    pub(crate) fn paint(&mut self, style: Style, cell: &str) -> String {
        let found = self.styles.iter().position(|it| *it == style);
        let index = found.unwrap_or_else(|| {
            self.styles.push(style);
            self.styles.len() - 1
        });
        let index = u32::try_from(index).unwrap_or(STYLES_MAX);
        let mark = char::from_u32(MARK + index).filter(|_| index < STYLES_MAX);
        let clean = text::line(cell);
        mark.map_or_else(|| clean.clone(), |mark| format!("{mark}{clean}{END}"))
    }

    /// Returns the rows alone, with tabs between the cells.
    pub(crate) fn plain(self) -> String {
        let is_mark =
            |letter: char| letter == END || (MARK..MARK + STYLES_MAX).contains(&u32::from(letter));
        let clean = |cell: &String| cell.replace(is_mark, "");
        let rows = self.rows.iter().map(|row| row.iter().map(clean).collect::<Vec<_>>().join("\t"));
        rows.map(|row| format!("{row}\n")).collect()
    }

    /// Returns the table in at most `width` columns, or whole.
    pub(crate) fn render(self, width: Option<usize>) -> String {
        let mut table = Table::new();
        table
            .load_style(TableStyle::new())
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_truncation_indicator("…")
            .set_width(width.and_then(|it| u16::try_from(it + 1).ok()).unwrap_or(u16::MAX))
            .set_header(self.head);
        for row in self.rows {
            let mut row = Row::from(row);
            if !self.is_wrapped {
                row.max_height(1);
            }
            table.add_row(row);
        }
        for (index, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, 2));
            if !self.flexible.contains(&index) {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
        let mut lines = table.lines();
        let head = lines.next().unwrap_or_default();
        let mut text = format!("{BOLD}{}{BOLD:#}\n", head.trim_end());
        for line in lines {
            text.push_str(&colored(line.trim_end(), &self.styles));
            text.push('\n');
        }
        text
    }
}

fn colored(line: &str, styles: &[Style]) -> String {
    let mut text = String::with_capacity(line.len());
    for letter in line.chars() {
        let index = u32::from(letter).checked_sub(MARK).and_then(|it| usize::try_from(it).ok());
        match index.and_then(|it| styles.get(it)) {
            Some(style) => text.push_str(&style.render().to_string()),
            None if letter == END => text.push_str(&anstyle::Reset.render().to_string()),
            None => text.push(letter),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::GOOD;

    #[test]
    fn a_table_fits_its_width_and_keeps_its_colours() {
        let mut grid = Grid::new(&["ID", "STATUS", "ABOUT"]);
        let status = grid.paint(GOOD, "done");
        let about = "a long text that does not fit into so few columns".to_owned();
        grid.add(vec!["1".to_owned(), status, about]);
        let text = grid.render(Some(40));
        let plain = anstream::adapter::strip_str(&text).to_string();
        assert!(text.contains("\u{1b}[32mdone\u{1b}[0m"), "{text:?}");
        assert_eq!(plain.lines().count(), 2, "{plain}");
        assert!(plain.lines().all(|it| text::columns(it) <= 40), "{plain}");
        assert!(plain.contains('…'), "{plain}");
    }

    #[test]
    fn another_program_gets_every_cell_whole() {
        let grid = || {
            let mut grid = Grid::new(&["ID", "STATUS", "ABOUT"]);
            let status = grid.paint(GOOD, "done");
            grid.add(vec!["1".to_owned(), status, "word ".repeat(200).trim_end().to_owned()]);
            grid
        };
        let long = "word ".repeat(200);
        let text = anstream::adapter::strip_str(&grid().render(None)).to_string();
        assert_eq!(text, format!("ID  STATUS  ABOUT\n1   done    {}\n", long.trim_end()));
        assert_eq!(grid().plain(), format!("1\tdone\t{}\n", long.trim_end()));
    }
}
