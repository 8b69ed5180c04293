//! Writes the tables that the tokenizers are made of into `OUT_DIR`.
//!
//! * `r50k_base.merges` and its like: a vocabulary as the 256 tokens of one byte, in rank order, then
//!   for every further token, in rank order, the ranks (24 bits each) of the two tokens it is merged
//!   from. They are read from the crate `tiktoken-rs`, a build-dependency, so that its 9 MB of text
//!   stay here. `p50k_base` is `r50k_base` and a few more, so `p50k_base.merges` holds these alone.
//! * `ascii.classes`, `pages.classes`, `blocks.classes`: the classes of a character that the
//!   pretoken patterns ask for, from the tables of `regex-syntax`, which the reference
//!   (tiktoken) uses too. The bits are named in `src/tokenizer/classes.rs`.

#[path = "src/tokenizer/last_merge.rs"]
mod last_merge;

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::{env, fs, io};

use regex_syntax::hir::{Class, HirKind};
use tiktoken_rs::CoreBPE;

use last_merge::last_merge;

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> Outcome {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/tokenizer/last_merge.rs");
    let out = env::var("OUT_DIR")?;
    let out = Path::new(&out);
    let [r50k, p50k, cl100k, o200k] = [
        merges(&tiktoken_rs::r50k_base()?)?,
        merges(&tiktoken_rs::p50k_base()?)?,
        merges(&tiktoken_rs::cl100k_base()?)?,
        merges(&tiktoken_rs::o200k_base()?)?,
    ];
    let more = p50k.strip_prefix(&r50k[..]).ok_or("p50k_base does not begin with r50k_base")?;
    for (name, merges) in [
        ("r50k_base", &r50k[..]),
        ("p50k_base", more),
        ("cl100k_base", &cl100k),
        ("o200k_base", &o200k),
    ] {
        fs::write(out.join(format!("{name}.merges")), merges)?;
    }
    write_classes(out)
}

/// The tokens of one byte, then what each further token is merged from.
///
/// Ranks are places here: an id that belongs to a special token is passed over. Fails unless every
/// token is what its own bytes are encoded to, of two tokens of lower rank, as
/// `src/tokenizer/vocabulary.rs` reads them.
fn merges(core: &CoreBPE) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let specials: HashSet<u32> = core
        .special_tokens()
        .into_iter()
        .flat_map(|special| core.encode_with_special_tokens(special))
        .collect();
    let tokens: Vec<Vec<u8>> = (0..)
        .filter(|id| !specials.contains(id))
        .map_while(|id| core.decode_bytes(&[id]).ok())
        .collect();
    let ranks: HashMap<&[u8], u32> = tokens.iter().map(Vec::as_slice).zip(0..).collect();
    let mut blob = Vec::new();
    for (rank, token) in (0..).zip(&tokens) {
        if rank < 256 {
            let [byte] = token[..] else { return Err("a token of one byte is missing".into()) };
            blob.push(byte);
            continue;
        }
        let split = last_merge(token, &ranks).ok_or("a token is not its own encoding")?;
        for half in [&token[..split], &token[split..]] {
            let half = ranks.get(half).filter(|&&half| half < rank);
            blob.extend_from_slice(
                &half.ok_or("a token comes before its parts")?.to_le_bytes()[..3],
            );
        }
    }
    Ok(blob)
}

/// Bits as in `src/tokenizer/classes.rs`.
const UPPER: u8 = 1;
const LOWER: u8 = 2;
const LETTER: u8 = 4;
const NUMBER: u8 = 8;
const BLANK: u8 = 16;
const NEWLINE: u8 = 32;
const OTHER: u8 = 64;
const PREFIX: u8 = 128;

const BLOCK: usize = 256;
const CODE_POINTS: usize = 0x11_0000;

fn write_classes(out: &Path) -> Outcome {
    let mut classes = vec![0u8; CODE_POINTS];
    for (pattern, bits) in [
        (r"\p{L}", LETTER),
        (r"\p{N}", NUMBER),
        (r"\s", BLANK),
        (r"[\r\n]", NEWLINE),
        (r"[^\s\p{L}\p{N}]", OTHER),
        (r"[^\r\n\p{L}\p{N}]", PREFIX),
        (r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", UPPER),
        (r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", LOWER),
    ] {
        let parsed = regex_syntax::parse(pattern)?;
        let HirKind::Class(Class::Unicode(class)) = parsed.kind() else {
            return Err(io::Error::other(format!("{pattern} is not a class")).into());
        };
        for range in class.ranges() {
            for flags in &mut classes[range.start() as usize..=range.end() as usize] {
                *flags |= bits;
            }
        }
    }

    let mut known = HashMap::new();
    let mut pages = Vec::new();
    let mut blocks = Vec::new();
    for block in classes.chunks(BLOCK) {
        let next = known.len();
        let index = *known.entry(block.to_vec()).or_insert_with(|| {
            blocks.extend_from_slice(block);
            next
        });
        pages.push(u8::try_from(index)?);
    }
    // A lead byte of a longer character has no class of its own.
    let mut ascii = classes[..128].to_vec();
    ascii.resize(256, 0);
    fs::write(out.join("ascii.classes"), ascii)?;
    fs::write(out.join("pages.classes"), pages)?;
    fs::write(out.join("blocks.classes"), blocks)?;
    Ok(())
}
