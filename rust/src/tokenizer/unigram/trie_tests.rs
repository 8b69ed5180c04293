//! The trie against a sorted list.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::Trie;

proptest! {
    #[test]
    fn finds_what_was_put_in(
        words in proptest::collection::btree_map("[ab\0]{0,6}|\\PC{0,3}", -9.0..9.0f64, 0..300),
        asked in "[ab\0]{0,7}|\\PC{0,3}",
    ) {
        let ids: BTreeMap<_, _> = words.iter().zip(0..).map(|((word, score), id)| (word, (id, *score))).collect();
        let entries: Vec<_> =
            ids.iter().map(|(word, &(id, score))| (word.as_bytes(), id, score)).collect();
        let trie = Trie::new(&entries).unwrap();
        for word in words.keys().chain([&asked]) {
            for end in (0..=word.len()).filter(|&end| word.is_char_boundary(end)) {
                let prefix = word[..end].to_owned();
                let found = trie.find(trie.root(), prefix.as_bytes());
                let found = found.filter(|node| node.is_token());
                let found = found.map(|node| (trie.id(node), trie.score(node)));
                prop_assert_eq!(found, ids.get(&prefix).copied());
            }
        }
    }
}
