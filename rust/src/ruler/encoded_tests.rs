//! The ruler over a foreign tokenizer.

use std::sync::Arc;

use super::EncodedRuler;
use crate::guard::Guard;
use crate::ruler::Ruler;
use crate::ruler::specials::WithSpecials;
use crate::tokenizer::foreign::Foreign;
use crate::tokenizer::tests::WORDPIECE;

fn ruler(text: &str, count_special: bool) -> Box<dyn Ruler + '_> {
    let foreign = Arc::new(Foreign::read(WORDPIECE).unwrap());
    let specials = if count_special { foreign.specials() } else { 0 };
    let (_, ends) = foreign.encode(text, &Guard::never()).unwrap();
    let inner = EncodedRuler::new(foreign, text, Arc::new(ends));
    Box::new(WithSpecials { specials, inner: Box::new(inner) })
}

// Tokens end at 3, 7, 9, 14, 16 and 17.
const TEXT: &str = "The foxes jumped. ";

#[test]
fn sizes_are_of_the_slice() {
    let (plain, special) = (ruler(TEXT, false), ruler(TEXT, true));
    for (a, b, size) in [(0, 18, 6), (0, 9, 3), (4, 7, 1), (4, 6, 1), (3, 4, 0), (5, 5, 0)] {
        assert_eq!(plain.size(a, b).unwrap(), size, "{a}..{b}");
        assert_eq!(special.size(a, b).unwrap(), if a == b { 0 } else { size + 2 }, "{a}..{b}");
    }
    assert!(plain.size(0, 19).is_err());
}

#[test]
fn positions() {
    let (plain, special) = (ruler(TEXT, false), ruler(TEXT, true));
    for (at, n, ahead, behind) in [
        (0, 0, 0, 0),
        (0, 1, 3, 0),
        (0, 6, 17, 0),
        (0, 7, 18, 0),
        (3, 1, 7, 0),
        (4, 1, 7, 3),
        (8, 1, 9, 7),
        (8, 2, 14, 3),
        (9, 1, 14, 7),
        (17, 1, 18, 16),
        (18, 1, 18, 16),
        (18, 6, 18, 0),
        (18, 5, 18, 3),
        (18, 0, 18, 18),
    ] {
        assert_eq!(plain.ahead(at, n).unwrap(), ahead, "ahead {at} {n}");
        assert_eq!(plain.behind(at, n).unwrap(), behind, "behind {at} {n}");
        assert_eq!(special.ahead(at, n + 2).unwrap(), ahead, "special, ahead {at} {n}");
        assert_eq!(special.behind(at, n + 2).unwrap(), behind, "special, behind {at} {n}");
    }
    assert_eq!(special.ahead(4, 1).unwrap(), 4);
    assert_eq!(special.behind(4, 2).unwrap(), 4);
}
