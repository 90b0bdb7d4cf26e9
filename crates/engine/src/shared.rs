//! Values that copies of a state share until one of them changes.

use alloc::sync::Arc;
use core::ops::{Deref, DerefMut};

use serde::{Serialize, Serializer};

/// A value that is copied only when someone changes it while another copy is in use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shared<T>(Arc<T>);

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

impl<T: Serialize> Serialize for Shared<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::Shared;

    #[test]
    fn a_change_leaves_other_copies_as_they_were() {
        let first = Shared::from(vec![1]);
        let mut second = first.clone();
        assert_eq!(first.as_ptr(), second.as_ptr());
        second.push(2);
        assert_eq!((first.as_slice(), second.as_slice()), ([1].as_slice(), [1, 2].as_slice()));
    }
}
