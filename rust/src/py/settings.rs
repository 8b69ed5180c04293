//! Settings as Python hands them over, and what the core takes.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

use super::blocks::format;
use super::errors::SettingError;
use crate::cuts::separators::{Separator, Side};
use crate::meaning::hierarchical::{Hierarchy, Joined};
use crate::meaning::neighbours::Until;
use crate::meaning::threshold::Threshold;
use crate::meaning::{Ends, Meaning, Mode};
use crate::split::{ClauseCuts, RowCuts, Structural};
use crate::structure::depth::Depth;
use crate::structure::prefix::Template;

/// A whole number of at least 0, or an error that names the argument and the value.
pub(super) fn number(name: &str, value: &Bound<'_, PyAny>) -> PyResult<usize> {
    let is_bool = value.is_instance_of::<PyBool>();
    let number = value.extract::<usize>().ok().filter(|&n| n <= i64::MAX as usize);
    if let Some(number) = number.filter(|_| !is_bool) {
        return Ok(number);
    }
    if is_bool || value.call_method0("__index__").is_err() {
        let kind = value.get_type().qualname()?;
        let text = value.repr()?;
        return Err(PyTypeError::new_err(format!(
            "{name} ({text}) must be a whole number, not {kind}"
        )));
    }
    // Python refuses to write out a number of thousands of digits.
    let shown = value.str().map_or_else(|_| "a number too long to write".into(), |s| s.to_string());
    if value.lt(0)? {
        return Err(SettingError::new_err(format!("{name} ({shown}) must not be negative")));
    }
    Err(SettingError::new_err(format!("{name} ({shown}) must be smaller than 2**63")))
}

pub(super) type SeparatorParts = (String, bool, Option<String>);

pub(super) fn separators(parts: Vec<SeparatorParts>) -> PyResult<Vec<Separator>> {
    let mut levels = Vec::with_capacity(parts.len());
    for (pattern, is_regex, side) in parts {
        let side = match side.as_deref() {
            None => None,
            Some("end") => Some(Side::End),
            Some("start") => Some(Side::Start),
            Some(other) => {
                return Err(SettingError::new_err(format!(
                    "side ({other:?}) must be \"start\" or \"end\""
                )));
            }
        };
        levels.push(if is_regex {
            Separator::regex(&pattern, side)?
        } else {
            Separator::literal(&pattern, side)?
        });
    }
    Ok(levels)
}

/// Which headings start a section.
pub(super) fn depth(depth: &Bound<'_, PyAny>) -> PyResult<Depth> {
    if let Ok(word) = depth.cast::<PyString>() {
        return match word.to_str()? {
            "auto" => Ok(Depth::Auto),
            "all" => Ok(Depth::All),
            other => Err(SettingError::new_err(format!(
                "depth ({other:?}) must be \"auto\", \"all\" or a heading's level"
            ))),
        };
    }
    match u16::try_from(number("depth", depth)?) {
        Ok(0) => Err(SettingError::new_err("depth (0) must be at least 1")),
        Ok(level) => Ok(Depth::At(level)),
        Err(_) => Ok(Depth::All),
    }
}

/// Depth, target, form and template of `Structural`.
pub(super) type StructuralParts<'py> =
    (Bound<'py, PyAny>, Option<Bound<'py, PyAny>>, String, Option<String>);

pub(super) fn structural(parts: Option<StructuralParts<'_>>, size: usize) -> PyResult<Structural> {
    let Some((depth, target, form, template)) = parts else {
        return Err(SettingError::new_err("structural needs its settings"));
    };
    let depth = self::depth(&depth)?;
    let target = match target {
        None => size,
        Some(target) => number("target", &target)?,
    };
    if target == 0 {
        return Err(SettingError::new_err("target (0) must be at least 1"));
    }
    let template = template.map(|template| Template::new(&template)).transpose()?;
    Ok(Structural { depth, target, format: format(&form)?, template })
}

/// Keys, header, form and template of `Rows`.
pub(super) type RowParts<'py> = (Bound<'py, PyAny>, bool, String, Option<String>);

pub(super) fn rows(parts: Option<RowParts<'_>>) -> PyResult<RowCuts> {
    let Some((keys, header, form, template)) = parts else {
        return Err(SettingError::new_err("rows needs its settings"));
    };
    let template = template.map(|template| Template::new(&template)).transpose()?;
    Ok(RowCuts { keys: number("keys", &keys)?, header, format: format(&form)?, template })
}

/// Items, names, form and template of `Clauses`.
pub(super) type ClauseParts = (bool, Vec<String>, Option<String>, Option<String>);

pub(super) fn clauses(parts: Option<ClauseParts>) -> PyResult<ClauseCuts> {
    let Some((items, names, form, template)) = parts else {
        return Err(SettingError::new_err("clauses needs its settings"));
    };
    let template = template.map(|template| Template::new(&template)).transpose()?;
    let format = form.map(|form| format(&form)).transpose()?;
    Ok(ClauseCuts { items, names, format, template })
}

/// What ends chunks and its number, whether they are compared with a centroid; depth and form where
/// sections come first; buffer, the least size, the target, the fewest pieces, and a template.
pub(super) type MeaningParts<'py> = (
    (String, f64),
    bool,
    Option<(Bound<'py, PyAny>, String)>,
    Bound<'py, PyAny>,
    Bound<'py, PyAny>,
    Bound<'py, PyAny>,
    Bound<'py, PyAny>,
    Option<String>,
);

pub(super) fn meaning(parts: Option<MeaningParts<'_>>) -> PyResult<Meaning> {
    let Some(((by, value), centroid, sections, buffer, least, target, fewest, template)) = parts
    else {
        return Err(SettingError::new_err("a strategy by meaning needs its settings"));
    };
    let mode = if centroid { Mode::Centroid } else { Mode::Previous };
    let ends = match &by[..] {
        "percentile" => Ends::Far(Threshold::Percentile(value), mode),
        "distance" => Ends::Far(Threshold::Distance(value), mode),
        "deviations" => Ends::Far(Threshold::Deviations(value), mode),
        "target" => Ends::Far(Threshold::Target, mode),
        "best" => Ends::Best,
        other => return Err(SettingError::new_err(format!("threshold ({other:?}) is unknown"))),
    };
    let sections = match sections {
        None => None,
        Some((depth, form)) => Some((self::depth(&depth)?, format(&form)?)),
    };
    Ok(Meaning {
        ends,
        sections,
        buffer: number("buffer", &buffer)?,
        least: number("min_size", &least)?,
        fewest: number("min_sentences", &fewest)?,
        target: number("target", &target)?,
        template: template.map(|template| Template::new(&template)).transpose()?,
    })
}

/// For each level above the chunks, the one next to them first: most units in a group, and for levels
/// that are made of neighbours the most that joining two may add, and how many groups are enough.
pub(super) type HierarchyParts<'py> = Vec<(Bound<'py, PyAny>, Option<(f64, Bound<'py, PyAny>)>)>;

pub(super) fn hierarchy(parts: Option<HierarchyParts<'_>>) -> PyResult<Hierarchy> {
    let (mut joined, mut nested) = (Vec::new(), Vec::new());
    for (size, until) in parts.unwrap_or_default() {
        let size = number("parent_sizes", &size)?;
        match until {
            Some((far, groups)) => {
                let until = Until { far, groups: number("groups", &groups)? };
                joined.push(Joined { size, until });
            }
            None => nested.push(size),
        }
    }
    match (joined.is_empty(), nested.is_empty()) {
        (false, true) => Ok(Hierarchy::Joined(joined)),
        (true, false) => Ok(Hierarchy::Nested(nested)),
        _ => Err(SettingError::new_err("hierarchical needs levels of one kind")),
    }
}
