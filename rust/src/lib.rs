//! cantle cuts documents into chunks that are exact slices of their source.
//!
//! One idea carries every strategy: *cuts* say where a text may be cut, a *ruler* says how long a
//! stretch is, and the *packer* turns them and a budget into spans.

pub mod error;
pub mod guard;
pub mod ruler;
