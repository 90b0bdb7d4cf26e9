//! What a line of shell would do with git, as far as it can be seen without running it.
//!
//! What stands in quotes is one word, and so is never a command of its own; what stands in a here
//! document is not a command at all.

use std::{iter::Peekable, str::Chars};

/// Words before a command that do not change what it is.
const PREFIXES: &[&str] = &[
    "!", "command", "do", "else", "env", "exec", "if", "nohup", "sudo", "then", "time", "while",
    "{",
];
/// Options of git itself that take the next word.
const GIT_VALUES: &[&str] =
    &["-C", "-c", "--config-env", "--git-dir", "--namespace", "--work-tree"];
/// Options of `git checkout` and `git switch` that make the branch whose name follows.
const MAKING: &[&str] = &["-b", "-B", "-c", "-C", "--create", "--force-create", "--orphan"];

/// One call of git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Git {
    pub(super) verb: String,
    arguments: Vec<String>,
}

impl Git {
    /// Returns every call of git in a line of shell.
    pub(super) fn calls(line: &str) -> Vec<Self> {
        commands(line).iter().filter_map(|it| Self::read(it)).collect()
    }

    fn read(words: &[String]) -> Option<Self> {
        let mut words = words.iter().skip_while(|it| is_prefix(it));
        let program = words.next()?;
        if program.rsplit('/').next() != Some("git") {
            return None;
        }
        loop {
            let word = words.next()?;
            if !word.starts_with('-') {
                return Some(Self { verb: word.clone(), arguments: words.cloned().collect() });
            }
            if GIT_VALUES.contains(&word.as_str()) {
                words.next()?;
            }
        }
    }

    /// Returns the branch that is checked out by this call, if it is one that does so.
    pub(super) fn branch(&self) -> Option<&str> {
        if self.verb != "checkout" && self.verb != "switch" {
            return None;
        }
        let mut named: Vec<&str> = Vec::new();
        let mut words = self.arguments.iter();
        while let Some(word) = words.next() {
            if MAKING.contains(&word.as_str()) {
                return words.next().map(String::as_str);
            }
            if word == "--" && words.next().is_some() {
                return None;
            }
            if !word.starts_with('-') {
                named.push(word);
            }
        }
        // With more than one they are files, taken from the first.
        match named.as_slice() {
            [branch] => Some(branch.strip_prefix("refs/heads/").unwrap_or(branch)),
            _ => None,
        }
    }
}

fn is_prefix(word: &str) -> bool {
    let is_name =
        |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
    PREFIXES.contains(&word) || word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// Returns the plain commands of a line of shell, each as its words.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut reader = Reader {
        rest: line.chars().peekable(),
        word: None,
        command: Vec::new(),
        found: Vec::new(),
        marks: Vec::new(),
    };
    while let Some(letter) = reader.rest.next() {
        reader.take(letter);
    }
    reader.end_command();
    reader.found
}

/// How far a line of shell has been read.
struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    /// Also an empty one counts, if it was quoted.
    word: Option<String>,
    command: Vec<String>,
    found: Vec<Vec<String>>,
    /// The marks at which the here documents end that begin with the next line.
    marks: Vec<String>,
}

impl Reader<'_> {
    fn take(&mut self, letter: char) {
        match letter {
            '\\' => self.escaped(),
            '\'' | '"' => self.quoted(letter),
            '#' if self.word.is_none() => while self.rest.next_if(|it| *it != '\n').is_some() {},
            '\n' => {
                self.end_command();
                self.skip_documents();
            }
            ';' | '&' | '|' | '(' | ')' | '`' => self.end_command(),
            '<' if self.rest.next_if_eq(&'<').is_some() => self.document(),
            '<' | '>' => self.redirected(),
            _ if letter.is_whitespace() => self.end_word(),
            _ => self.word.get_or_insert_default().push(letter),
        }
    }

    fn escaped(&mut self) {
        // A line that goes on in the next one is one line.
        if let Some(letter) = self.rest.next().filter(|it| *it != '\n') {
            self.word.get_or_insert_default().push(letter);
        }
    }

    fn quoted(&mut self, quote: char) {
        let word = self.word.get_or_insert_default();
        while let Some(letter) = self.rest.next().filter(|it| *it != quote) {
            let is_escape = letter == '\\' && quote == '"';
            word.extend(if is_escape { self.rest.next() } else { Some(letter) });
        }
    }

    /// Passes over where something is read from or written to: it is not a word of the command.
    fn redirected(&mut self) {
        let is_number = |it: &String| it.bytes().all(|it| it.is_ascii_digit());
        if self.word.as_ref().is_some_and(is_number) {
            self.word = None;
        }
        self.end_word();
        while self.rest.next_if(|it| ">&|".contains(*it)).is_some() {}
        while self.rest.next_if_eq(&' ').is_some() {}
        let is_place = |it: &char| !it.is_whitespace() && !";&|()<>`'\"".contains(*it);
        while self.rest.next_if(is_place).is_some() {}
        if let Some(quote) = self.rest.next_if(|it| "'\"".contains(*it)) {
            self.quoted(quote);
            self.word = None;
        }
    }

    /// Notes where a here document ends, whose beginning was just read.
    fn document(&mut self) {
        self.end_word();
        if self.rest.next_if_eq(&'<').is_some() {
            return;
        }
        while self.rest.next_if(|it| *it == '-' || *it == ' ').is_some() {}
        let mut mark = String::new();
        while let Some(letter) =
            self.rest.next_if(|it| !it.is_whitespace() && !";&|)".contains(*it))
        {
            if !"'\"\\".contains(letter) {
                mark.push(letter);
            }
        }
        self.marks.push(mark);
    }

    fn skip_documents(&mut self) {
        for mark in std::mem::take(&mut self.marks) {
            while self.rest.peek().is_some() {
                let mut line = String::new();
                while let Some(letter) = self.rest.next().filter(|it| *it != '\n') {
                    line.push(letter);
                }
                if line.trim_start_matches('\t') == mark {
                    break;
                }
            }
        }
    }

    fn end_word(&mut self) {
        self.command.extend(self.word.take());
    }

    fn end_command(&mut self) {
        self.end_word();
        if !self.command.is_empty() {
            self.found.push(std::mem::take(&mut self.command));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn checks_out(line: &str, expected: &[&str]) {
        let calls = Git::calls(line);
        let found: Vec<&str> = calls.iter().filter_map(Git::branch).collect();
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn a_branch_that_is_checked_out_is_seen() {
        checks_out("git checkout main", &["main"]);
        checks_out("git switch master", &["master"]);
        checks_out("git checkout 'main'", &["main"]);
        checks_out("git checkout -q --force main", &["main"]);
        checks_out("git switch --detach main", &["main"]);
        checks_out("git checkout refs/heads/main", &["main"]);
        checks_out("git checkout main --", &["main"]);
        checks_out("git switch -C main origin/main", &["main"]);
        checks_out("git \\\n  checkout \\\n  main", &["main"]);
    }

    #[test]
    fn it_is_seen_wherever_the_command_stands() {
        checks_out("cd x && git checkout main", &["main"]);
        checks_out("make; git -C . -c a.b=c --no-pager switch main | cat", &["main"]);
        checks_out("(git checkout main)", &["main"]);
        checks_out("x=$(git checkout main)", &["main"]);
        checks_out("GIT_DIR=.git sudo /usr/bin/git checkout main 2>&1", &["main"]);
        checks_out("git >log 2>/dev/null checkout < a main", &["main"]);
        checks_out("git checkout main > 'a b'", &["main"]);
        checks_out("diff <(git checkout main) b", &["main"]);
        checks_out("if true; then git checkout main; fi", &["main"]);
        checks_out("git checkout a\ngit checkout b", &["a", "b"]);
    }

    #[test]
    fn what_only_looks_like_it_is_not_seen() {
        checks_out("echo 'git checkout main'", &[]);
        checks_out("git commit -m \"then git checkout main; done\"", &[]);
        checks_out("git log # git checkout main", &[]);
        checks_out("grep git checkout main", &[]);
        checks_out("cat <<'END' > notes\ngit checkout main\nEND\n", &[]);
        checks_out("cat <<-A <<B\nx\n\tA\ngit checkout main\nB\ngit checkout y", &["y"]);
        checks_out("git", &[]);
        checks_out("git -C", &[]);
        checks_out("echo \"never closed; git checkout main", &[]);
    }

    #[test]
    fn files_and_new_branches_are_no_change_to_a_branch() {
        checks_out("git checkout -- main", &[]);
        checks_out("git checkout main -- src/a.rs", &[]);
        checks_out("git checkout main src/a.rs", &[]);
        checks_out("git checkout -b feature/x main", &["feature/x"]);
        checks_out("git switch --create feature/x main", &["feature/x"]);
    }

    #[test]
    fn a_here_string_is_no_here_document() {
        checks_out("cat <<< word\ngit checkout main", &["main"]);
    }

    #[test]
    fn the_verb_is_found_behind_the_options_of_git() {
        let verbs = |line: &str| -> Vec<String> {
            Git::calls(line).into_iter().map(|it| it.verb).collect()
        };
        assert_eq!(verbs("git add a && git -C x commit -m 'a; b'"), ["add", "commit"]);
        assert_eq!(verbs("echo git commit"), Vec::<String>::new());
    }
}
