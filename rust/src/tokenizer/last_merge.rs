//! How a token is made: shared by the build script, which packs the bundled vocabularies, and by
//! the reader of a caller's own ranks.

use std::collections::HashMap;
use std::hash::BuildHasher;

/// Where the two parts meet that are the last to be merged in `token`, if it ends as one.
pub(crate) fn last_merge<S: BuildHasher>(
    token: &[u8],
    ranks: &HashMap<&[u8], u32, S>,
) -> Option<usize> {
    let mut bounds: Vec<usize> = (0..=token.len()).collect();
    while bounds.len() > 3 {
        let pairs = bounds.windows(3).enumerate();
        let (_, at) = pairs
            .filter_map(|(at, pair)| Some((*ranks.get(&token[pair[0]..pair[2]])?, at + 1)))
            .min()?;
        bounds.remove(at);
    }
    Some(bounds[1])
}
