//! Waits for something that might panic, and tells what it said.

use std::{any::Any, panic::AssertUnwindSafe};

use futures_util::{FutureExt as _, future::BoxFuture};

/// Returns what `future` gives, or the words it panicked with. It is dropped then, and whatever it
/// was in the middle of with it: a store writes all of a command or nothing.
pub(super) async fn caught<T>(future: BoxFuture<'_, T>) -> Result<T, String> {
    AssertUnwindSafe(future).catch_unwind().await.map_err(|panic| words_of(&*panic))
}

fn words_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|it| (*it).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "it said nothing".to_owned())
}

#[cfg(test)]
mod tests {
    use super::caught;

    #[tokio::test]
    async fn a_panic_becomes_an_answer() {
        let broken: Result<(), _> = caught(Box::pin(async { panic!("no {}", "way") })).await;
        assert_eq!(broken.unwrap_err(), "no way");
        assert_eq!(caught(Box::pin(async { 7 })).await, Ok(7));
    }
}
