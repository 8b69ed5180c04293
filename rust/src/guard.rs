//! How a long call is stopped: a flag shared by the threads of one call, and a caller's poll.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// How often the caller is asked whether to go on.
const PERIOD: Duration = Duration::from_millis(50);

/// Bytes after which a pass over a text should ask again.
pub const ASK: usize = 1 << 16;

/// Asked by every loop that can run long; cheap enough for once per chunk or per 64 kB.
pub struct Guard<'a> {
    stop: &'a AtomicBool,
    poll: Option<&'a dyn Fn() -> Result<()>>,
    due: Cell<Option<Instant>>,
    /// When the clock was read last, how many checks go by from one reading to the next, and how many
    /// of them are left. Reading it costs as much as a short chunk.
    read: Cell<Option<Instant>>,
    stride: Cell<u32>,
    left: Cell<u32>,
}

/// What the checks between two readings of the clock should last at most.
const SHORT: Duration = Duration::from_millis(1);

/// Most checks between two readings.
const MOST_CHECKS: u32 = 64;

impl<'a> Guard<'a> {
    /// A guard that watches `stop` and, when given, asks `poll` every 50 ms.
    pub fn new(stop: &'a AtomicBool, poll: Option<&'a dyn Fn() -> Result<()>>) -> Self {
        let (due, read) = (Cell::new(None), Cell::new(None));
        Self { stop, poll, due, read, stride: Cell::new(0), left: Cell::new(0) }
    }

    /// The flag that ends the call, for the guards of further threads.
    #[must_use]
    pub fn stop(&self) -> &'a AtomicBool {
        self.stop
    }

    /// A guard for work that is short or cannot be stopped.
    #[must_use]
    pub fn never() -> Guard<'static> {
        Guard::new(&NEVER, None)
    }

    /// Fails with [`Error::Interrupted`] once the call should end.
    pub fn check(&self) -> Result<()> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let Some(poll) = self.poll else { return Ok(()) };
        if self.left.get() > 0 {
            self.left.set(self.left.get() - 1);
            return Ok(());
        }
        let now = Instant::now();
        let quick = self.read.replace(Some(now)).is_some_and(|last| now - last < SHORT);
        self.stride.set(if quick { (2 * self.stride.get() + 1).min(MOST_CHECKS) } else { 0 });
        self.left.set(self.stride.get());
        match self.due.get() {
            Some(due) if now < due => Ok(()),
            None => {
                self.due.set(Some(now + PERIOD));
                Ok(())
            }
            Some(_) => {
                self.due.set(Some(now + PERIOD));
                poll().inspect_err(|_| self.stop.store(true, Ordering::Relaxed))
            }
        }
    }
}

/// A flag nobody raises, for calls that cannot be interrupted.
pub static NEVER: AtomicBool = AtomicBool::new(false);
