//! The pages `docs/reference/cli.md` and `docs/reference/settings.md`, made from the command line's
//! own help and from the table of settings. `UPDATE_EXPECT=1` writes them; else they must be fresh.

use clap::CommandFactory as _;

use crate::{
    args::Args,
    config::table::{Class, NOT_YET, SETTINGS},
};

#[test]
fn the_page_of_commands_is_fresh() {
    let mut page = String::from(
        "# Command line\n\n\
         Written by a test from the program's own help; do not edit it.\n",
    );
    let mut command = Args::command().term_width(96);
    command.build();
    let mut waiting = vec![(2, command)];
    while let Some((level, mut command)) = waiting.pop() {
        if 2 < level {
            // They stand once, at the top.
            command = command.mut_args(|it| if it.is_global_set() { it.hide(true) } else { it });
        }
        let name = command.get_bin_name().unwrap_or("milepost").to_owned();
        let help = command.render_long_help().to_string();
        let help: Vec<&str> = help.lines().map(str::trim_end).collect();
        let marks = "#".repeat(level);
        page.push_str(&format!("\n{marks} `{name}`\n\n```text\n{}\n```\n", help.join("\n").trim()));
        let inner = command.get_subcommands().filter(|it| it.get_name() != "help");
        let inner: Vec<_> = inner.cloned().collect();
        waiting.extend(inner.into_iter().rev().map(|it| ((level + 1).min(4), it)));
    }
    expect_test::expect_file!["../../../../docs/reference/cli.md"].assert_eq(&page);
}

#[test]
fn the_page_of_settings_is_fresh() {
    let mut page = String::from(
        "# Settings\n\n\
         Written by a test from the table in the program; do not edit it.\n\n\
         Later sources count more:\n\n\
         1. the built-in defaults below\n\
         2. `milepost/config.toml` in your configuration folder (`$XDG_CONFIG_HOME`, else `~/.config`)\n\
         3. `.milepost/config.toml` in the project's root\n\
         4. the environment: `MILEPOST_SECTION_KEY`, and the other names given below\n\
         5. flags: those of each command, and `--set NAME=VALUE` for any setting\n\n\
         What a project's own file says counts as each setting says below; a path in it must lie in \
         the project. [Security](../guide/security.md) says why.\n\
         `milepost config show` prints each value, where it comes from, and what is ignored.\n\
         `milepost config set NAME VALUE` writes one to your file, or with `--scope project` to the project's.\n\
         A name that is not known in a file or a flag is an error, and all errors of all sources are told \
         at once; a variable that is not known is only a warning, in `milepost doctor`.\n",
    );
    let mut section = "";
    for setting in SETTINGS {
        let (name, key) = setting.name.split_once('.').unwrap_or((setting.name, ""));
        if section != name {
            page.push_str(&format!("\n## `[{name}]`\n"));
            section = name;
        }
        let default = if setting.default.is_empty() {
            setting.unset.to_owned()
        } else {
            format!("`{}`", setting.default)
        };
        let variables: Vec<String> = setting.variables().map(|it| format!("`{it}`")).collect();
        let kind = setting.kind.describe();
        let class = match setting.class {
            Class::Harmless => "always".to_owned(),
            Class::NeedsTrust => "once you trust the project".to_owned(),
            Class::HardenOnly(value) => format!("only as `{value}`"),
            Class::UserOnly => "never".to_owned(),
        };
        page.push_str(&format!(
            "\n### `{key}`\n\n{}\n\n- Default: {default}\n- Value: {kind}\n- Environment: {}\n- In a project's file: {class}\n- Since: {}\n",
            setting.doc,
            variables.join(", "),
            setting.since,
        ));
    }
    let not_yet: Vec<String> = NOT_YET.iter().map(|it| format!("`{it}`")).collect();
    page.push_str(&format!(
        "\n## Known, but not used yet\n\n\
         This release shows that these variables are set, and does nothing with them: {}.\n",
        not_yet.join(", ")
    ));
    expect_test::expect_file!["../../../../docs/reference/settings.md"].assert_eq(&page);
}
