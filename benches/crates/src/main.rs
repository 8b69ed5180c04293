//! Speed of counting tokens beside other crates, in one process and without Python.
//!
//!     cargo run --release --manifest-path benches/crates/Cargo.toml -- cl100k_base FILE... [--rounds 3]
//!
//! *Fresh*: each reads the first half of a text, then its time is taken once on the second half, which it
//! has not seen; *warm*: the same half once more. Rounds need fresh memos, so each is a process of its
//! own that this one starts. The best counts. A count that differs from that of tiktoken-rs is marked.

use std::process::{Command, ExitCode};
use std::time::Instant;

use cantle::guard::Guard;

type Counter = Box<dyn Fn(&str) -> usize>;

const CRATES: [&str; 4] = ["tiktoken-rs 0.12", "cantle", "bpe-openai 0.3", "tiktoken 4.1"];

fn counter(of: &str, tokenizer: &str) -> Option<Counter> {
    let o200k = match tokenizer {
        "o200k_base" => true,
        "cl100k_base" => false,
        _ => return None,
    };
    Some(match of {
        "cantle" => {
            let tokenizer = cantle::tokenizer::Tokenizer::from_name(tokenizer).ok()?;
            Box::new(move |text| {
                tokenizer.mark(text, 1, &Guard::never()).map_or(0, |marks| marks.total())
            })
        }
        "bpe-openai 0.3" => {
            let tokenizer =
                if o200k { bpe_openai::o200k_base() } else { bpe_openai::cl100k_base() };
            Box::new(move |text| tokenizer.count(text))
        }
        "tiktoken 4.1" => {
            let tokenizer = tiktoken::get_encoding(tokenizer)?;
            Box::new(move |text| tokenizer.count(text))
        }
        _ => {
            let read = if o200k { tiktoken_rs::o200k_base() } else { tiktoken_rs::cl100k_base() };
            let tokenizer = read.ok()?;
            Box::new(move |text| tokenizer.encode_ordinary(text).len())
        }
    })
}

/// Count, and seconds fresh and warm.
fn measure(of: &str, tokenizer: &str, path: &str) -> Option<(usize, f64, f64)> {
    let text = std::fs::read_to_string(path).ok()?;
    let text = &text[..text.floor_char_boundary(16_000_000)];
    let (first, second) = text.split_at(text.floor_char_boundary(text.len() / 2));
    let count = counter(of, tokenizer)?;
    count(first);
    let timed = || {
        let started = Instant::now();
        (count(second), started.elapsed().as_secs_f64())
    };
    let ((found, fresh), (_, warm)) = (timed(), timed());
    println!("{found} {fresh} {warm} {}", second.len());
    Some((found, fresh, warm))
}

/// What [`measure`] prints in a process of its own.
fn in_a_process(of: &str, tokenizer: &str, path: &str) -> Option<[f64; 4]> {
    let program = std::env::current_exe().ok()?;
    let done = Command::new(program).args(["--one", of, tokenizer, path]).output().ok()?;
    let told = String::from_utf8(done.stdout).ok()?;
    let numbers: Vec<f64> = told.split_whitespace().filter_map(|n| n.parse().ok()).collect();
    numbers.try_into().ok()
}

fn main() -> ExitCode {
    let mut given: Vec<String> = std::env::args().skip(1).collect();
    if let [one, of, tokenizer, path] = given.as_slice()
        && one == "--one"
    {
        return if measure(of, tokenizer, path).is_some() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        };
    }
    let mut rounds = 3;
    if let Some(at) = given.iter().position(|word| word == "--rounds") {
        let words: Vec<String> = given.drain(at..(at + 2).min(given.len())).collect();
        rounds = words.get(1).and_then(|word| word.parse().ok()).unwrap_or(rounds);
    }
    let Some((tokenizer, paths)) = given.split_first().filter(|(_, paths)| !paths.is_empty())
    else {
        eprintln!("usage: token-crates cl100k_base|o200k_base FILE... [--rounds 3]");
        return ExitCode::FAILURE;
    };
    println!("| text | crate | MB/s fresh | MB/s warm | times cantle, fresh | wrong |");
    println!("|---|---|---:|---:|---:|---|");
    for path in paths {
        let mut best: [Option<[f64; 4]>; CRATES.len()] = [None; CRATES.len()];
        for _ in 0..rounds {
            for (of, best) in CRATES.iter().zip(&mut best) {
                let Some([count, fresh, warm, bytes]) = in_a_process(of, tokenizer, path) else {
                    continue;
                };
                let [_, fresher, warmer, _] = best.unwrap_or([count, fresh, warm, bytes]);
                *best = Some([count, fresh.min(fresher), warm.min(warmer), bytes]);
            }
        }
        let reference = best[0].map(|[count, ..]| count);
        let ours = best[1].map(|[_, fresh, ..]| fresh);
        for (of, best) in CRATES.iter().zip(best) {
            let Some([count, fresh, warm, bytes]) = best else {
                println!("| {path} | {of} | - | - | - | failed |");
                continue;
            };
            let wrong = reference.filter(|&reference| reference != count);
            println!(
                "| {path} | {of} | {:.0} | {:.0} | {:.2} | {} |",
                bytes / fresh / 1e6,
                bytes / warm / 1e6,
                fresh / ours.unwrap_or(f64::NAN),
                wrong.map_or(String::new(), |reference| format!("off by {}", count - reference)),
            );
        }
    }
    ExitCode::SUCCESS
}
