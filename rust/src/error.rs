//! Every way a call can fail, with the words a user reads.
//!
//! Messages name the argument and the value. `py/errors.rs` maps each variant to a Python class.

use std::any::Any;
use std::fmt;

/// The result of a call into the core.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A setting has a value that cannot be used.
    Setting(String),
    /// A text is not what it should be (not UTF-8, for example).
    Text(String),
    /// A tokenizer could not be read, or could not encode a text.
    Tokenizer(String),
    /// The caller asked for the call to stop (Ctrl-C), or another thread failed first.
    Interrupted,
    /// A caller's own function failed; the binding keeps its exception.
    Callable,
    /// A defect of this library.
    Internal(String),
}

impl Error {
    /// The defect that a panic told of.
    pub(crate) fn from_panic(panic: &(dyn Any + Send)) -> Self {
        let words = panic.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| panic.downcast_ref::<&str>().copied());
        Error::Internal(words.unwrap_or("unknown").to_owned())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Setting(words) | Error::Text(words) | Error::Tokenizer(words) => {
                f.write_str(words)
            }
            Error::Interrupted => f.write_str("interrupted"),
            Error::Callable => f.write_str("the function given as unit failed"),
            Error::Internal(words) => write!(f, "a defect of cantle: {words}"),
        }
    }
}

impl std::error::Error for Error {}
