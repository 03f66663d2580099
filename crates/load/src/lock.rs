//! What threads share.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Access to what threads share and change in steps that are each whole: one that panicked left nothing half done.
pub fn lock<T: ?Sized>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
