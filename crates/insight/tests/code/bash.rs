//! Bash: functions, and what is sourced.

use insight::code::Language;

use super::{callers, defined, edges, summarised};

#[test]
fn functions_are_listed_by_their_headers() {
    let text = "#!/bin/bash\nfunction build() {\n  make\n}\nclean () { rm -f x; }\n";
    assert_eq!(summarised("a.sh", text), "## Functions\n\n- `function build()`\n- `clean ()`\n");
    assert_eq!(defined("a.bash", text, "clean"), "clean () { rm -f x; }");
}

#[test]
fn callers_are_found_against_what_is_sourced() {
    let files = [
        ("utils.sh", "u() { echo; }\n"),
        ("lib.sh", "source ./utils.sh\nu\n"),
        ("sub/main.sh", ". ../lib.sh\nx=$(u 1)\n"),
        ("other.sh", "u\n"),
        ("sub/quiet.sh", ". ../lib.sh\necho u\n"),
    ];
    assert_eq!(
        edges(Language::Bash, &files),
        ["lib.sh -> utils.sh", "sub/main.sh -> lib.sh", "sub/quiet.sh -> lib.sh"]
    );
    let found = callers(Language::Bash, &files, "utils.sh", "u");
    assert_eq!(found, ["lib.sh 1", "sub/main.sh 2"]);
}

#[test]
fn a_folder_in_a_variable_is_that_of_the_script_or_one_above() {
    let files = [
        (
            "bin/run.bash",
            ". \"$(dirname \"$0\")/near.sh\"
[ -f x ] && source \"${ROOT_DIR}/lib/far.sh\" --quiet
if true; then . \"$HERE\"/deep/er.sh; fi
# source ./no.sh
source lib/root.sh
source /etc/profile
source \"$a/$b.sh\"
",
        ),
        ("bin/near.sh", ""),
        ("lib/far.sh", ""),
        ("bin/deep/er.sh", ""),
        ("bin/no.sh", ""),
        ("lib/root.sh", ""),
        ("etc/profile", ""),
    ];
    let expected = [
        "bin/run.bash -> bin/deep/er.sh",
        "bin/run.bash -> bin/near.sh",
        "bin/run.bash -> lib/far.sh",
        "bin/run.bash -> lib/root.sh",
    ];
    assert_eq!(edges(Language::Bash, &files), expected);
}
