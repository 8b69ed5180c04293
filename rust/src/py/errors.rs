//! Which Python class an error of the core becomes. The words are in `error.rs`.

use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::error::Error;

pyo3::create_exception!(cantle, SettingError, PyValueError);
pyo3::create_exception!(cantle, TextError, PyValueError);
pyo3::create_exception!(cantle, TokenizerError, PyValueError);
pyo3::create_exception!(cantle, InternalError, PyRuntimeError);

impl From<Error> for PyErr {
    fn from(error: Error) -> PyErr {
        // What a defect says may quote a text whose Arrow buffer was overwritten.
        let words = String::from_utf8_lossy(error.to_string().as_bytes()).into_owned();
        match error {
            Error::Setting(_) => SettingError::new_err(words),
            Error::Text(_) => TextError::new_err(words),
            Error::Tokenizer(_) => TokenizerError::new_err(words),
            Error::Interrupted => PyKeyboardInterrupt::new_err(()),
            Error::Callable | Error::Internal(_) => InternalError::new_err(words),
        }
    }
}
