//! Folders, for the tools that still hold a runtime.

use dialects::{forge::place, kit};

use crate::tool::{Call, Reach, caller};

/// An absolute folder.
#[derive(Debug, Clone)]
pub(in crate::toolsets::forge) struct Folder(pub(in crate::toolsets::forge) kit::Folder);

impl Folder {
    /// Returns the folder that an agent names, seen from the project's root.
    pub(in crate::toolsets::forge) fn named(call: &Call<'_>, path: &str) -> Self {
        Self(place::named(&caller(call), path))
    }

    /// Returns the absolute path.
    pub(in crate::toolsets::forge) fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Reads a file in the folder; `None` where there is none.
    pub(in crate::toolsets::forge) async fn read(
        &self,
        call: &Call<'_>,
        path: &str,
    ) -> Result<Option<String>, String> {
        let caller = caller(call);
        Reach { runtime: call.runtime, caller: &caller }.see(self.0.text(path)).await
    }

    /// Returns whether the folder is there.
    pub(in crate::toolsets::forge) async fn is_there(&self, call: &Call<'_>) -> bool {
        let caller = caller(call);
        Reach { runtime: call.runtime, caller: &caller }.see(self.0.is_there()).await
    }
}
