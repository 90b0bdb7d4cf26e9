//! Where the programs that use us keep their own files, as far as the environment says so.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// What of the environment tells where clients and programs are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ClientPlaces {
    /// The user's home.
    pub(crate) home: Option<PathBuf>,
    /// The folder in which each program of the user has a folder for its settings.
    pub(crate) settings: Option<PathBuf>,
    /// The folder of `.claude.json`, in which Claude Code keeps the user's servers.
    pub(crate) claude: Option<PathBuf>,
    /// The folder of Claude Code's settings.
    pub(crate) claude_settings: Option<PathBuf>,
    /// The folder of Codex.
    pub(crate) codex: Option<PathBuf>,
    /// The folder of OpenCode, which is the same on every system.
    pub(crate) opencode: Option<PathBuf>,
    /// The folder of Zed.
    pub(crate) zed: Option<PathBuf>,
    /// The folders in which programs are looked for, the first one first.
    pub(crate) programs: Vec<PathBuf>,
}

impl ClientPlaces {
    /// Finds them for a system, as `std::env::consts::OS` names it.
    pub(crate) fn find(
        system: &str,
        home: Option<&Path>,
        environment: &BTreeMap<String, String>,
    ) -> Self {
        let named = |name: &str| {
            let path = environment.get(name).map(PathBuf::from);
            path.filter(|it| it.is_absolute())
        };
        let below = |inner: &str| home.map(|it| it.join(inner));
        let settings = match system {
            "macos" => below("Library/Application Support"),
            "windows" => named("APPDATA").or_else(|| below("AppData/Roaming")),
            _ => named("XDG_CONFIG_HOME").or_else(|| below(".config")),
        };
        let config = || named("XDG_CONFIG_HOME").or_else(|| below(".config"));
        let zed = match system {
            "windows" => settings.as_ref().map(|it| it.join("Zed")),
            "macos" => below(".config/zed"),
            _ => config().map(|it| it.join("zed")),
        };
        let programs = environment.get("PATH").map(|it| std::env::split_paths(it).collect());
        Self {
            home: home.map(Path::to_owned),
            settings,
            claude: named("CLAUDE_CONFIG_DIR").or_else(|| home.map(Path::to_owned)),
            claude_settings: named("CLAUDE_CONFIG_DIR").or_else(|| below(".claude")),
            opencode: config().map(|it| it.join("opencode")),
            zed,
            codex: named("CODEX_HOME").or_else(|| below(".codex")),
            programs: programs.unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_system_has_its_own_folder_of_settings() {
        let variables = [
            ("XDG_CONFIG_HOME", "/xdg"),
            ("APPDATA", "/roaming"),
            ("CODEX_HOME", "/codex"),
            ("CLAUDE_CONFIG_DIR", "/claude"),
            ("PATH", "/a:/b"),
        ];
        let said: BTreeMap<String, String> =
            variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let settings = |system: &str, environment: &BTreeMap<String, String>| {
            ClientPlaces::find(system, Some(Path::new("/home/ann")), environment).settings.unwrap()
        };
        assert_eq!(settings("linux", &said), Path::new("/xdg"));
        assert_eq!(settings("windows", &said), Path::new("/roaming"));
        let library = Path::new("/home/ann/Library/Application Support");
        assert_eq!(settings("macos", &said), library);
        let unsaid = BTreeMap::new();
        assert_eq!(settings("linux", &unsaid), Path::new("/home/ann/.config"));
        assert_eq!(settings("windows", &unsaid), Path::new("/home/ann/AppData/Roaming"));
        assert_eq!(settings("macos", &unsaid), library);
        let places = ClientPlaces::find("linux", Some(Path::new("/home/ann")), &unsaid);
        assert_eq!(places.codex.unwrap(), Path::new("/home/ann/.codex"));
        assert_eq!(places.claude.unwrap(), Path::new("/home/ann"));
        assert_eq!(places.claude_settings.unwrap(), Path::new("/home/ann/.claude"));
        assert_eq!(places.opencode.unwrap(), Path::new("/home/ann/.config/opencode"));
        assert_eq!(places.zed.unwrap(), Path::new("/home/ann/.config/zed"));
        let places = ClientPlaces::find("linux", None, &said);
        assert_eq!(places.codex.unwrap(), Path::new("/codex"));
        assert_eq!(places.claude.unwrap(), Path::new("/claude"));
        assert_eq!(places.claude_settings.unwrap(), Path::new("/claude"));
        assert_eq!(places.zed.unwrap(), Path::new("/xdg/zed"));
        assert_eq!(places.programs, [Path::new("/a"), Path::new("/b")]);
    }
}
