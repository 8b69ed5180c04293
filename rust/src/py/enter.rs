//! The one door for calls that do work: it releases the interpreter lock, listens for Ctrl-C, keeps
//! the exception of a caller's function, and turns a panic into an exception.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use pyo3::prelude::*;

use crate::error::{Error, Result};

/// The first exception raised by Python code during a call.
#[derive(Default)]
pub(super) struct Raised(Mutex<Option<PyErr>>);

impl Raised {
    /// Keeps `error` and says what the core should fail with.
    pub(super) fn keep(&self, error: PyErr, kind: Error) -> Error {
        if let Ok(mut raised) = self.0.lock() {
            raised.get_or_insert(error);
        }
        kind
    }
}

/// Runs `work` without the interpreter lock; it gets the poll that a long loop asks.
pub(super) fn detached<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&dyn Fn() -> Result<()>) -> Result<T> + Send,
) -> PyResult<T> {
    let raised = Raised::default();
    let result = py.detach(|| {
        let poll = || {
            Python::attach(|py| py.check_signals())
                .map_err(|error| raised.keep(error, Error::Interrupted))
        };
        catch_unwind(AssertUnwindSafe(|| work(&poll)))
    });
    finish(result, raised)
}

/// Runs `work` with the lock held, for a unit that is a caller's own function.
pub(super) fn attached<T>(
    py: Python<'_>,
    work: impl FnOnce(&dyn Fn() -> Result<()>, &Raised) -> Result<T>,
) -> PyResult<T> {
    let raised = Raised::default();
    let poll = || py.check_signals().map_err(|error| raised.keep(error, Error::Interrupted));
    let result = catch_unwind(AssertUnwindSafe(|| work(&poll, &raised)));
    finish(result, raised)
}

fn finish<T>(result: std::thread::Result<Result<T>>, raised: Raised) -> PyResult<T> {
    // What Python raised comes out unchanged, whatever the core made of it.
    if let Ok(Some(error)) = raised.0.into_inner() {
        return Err(error);
    }
    match result {
        Ok(result) => Ok(result?),
        Err(panic) => Err(Error::from_panic(&*panic).into()),
    }
}
