"""Cut the handbook beside this script and print what came out."""

from pathlib import Path

import cantle

path = Path(__file__).with_name("handbook.md")
text = path.read_text(encoding="utf-8")

splitter = cantle.Recursive(size=200, overlap=20, unit="cl100k_base")
chunks = splitter.split(text, id=path.name)

print(chunks)
print(f"mean size {chunks.size.mean():.0f} tokens, largest {chunks.size.max()}")

chunk = chunks[3]
assert chunk.text == text[chunk.char_start : chunk.char_end]
assert chunk.text.encode() == text.encode()[chunk.byte_start : chunk.byte_end]
print(f"\n{chunk.id}, characters {chunk.char_start} to {chunk.char_end}:\n{chunk.text}")
