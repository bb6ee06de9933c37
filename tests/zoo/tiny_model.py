"""Writes a tiny model with random weights, which llama.cpp takes for a Llama: ``python tiny_model.py MODEL.gguf``.

It needs the packages ``gguf`` and ``numpy``. What it says is noise, token by token; what a grammar leaves it to say is
valid all the same.
"""

from __future__ import annotations

import sys

import gguf
import numpy

WIDTH, HEADS, INNER, CONTEXT = 32, 2, 64, 131_072
SPECIAL = ("<unk>", "<s>", "</s>")
WORDS = "the of to and in a is that for it as was with be by on not he his but at are this have from or an they which"
TEMPLATE = (
    "{% for message in messages %}{{ '<s>' + message['role'] + ': ' }}"
    "{{ message['content'] if message['content'] is string else '' }}{{ '\n' }}{% endfor %}{{ 'assistant: ' }}"
)


def vocabulary() -> list[tuple[str, float, int]]:
    """Text, score and kind: special tokens, bytes, printable characters, and words with all their beginnings."""
    kinds = gguf.TokenType
    tokens = [(text, 0.0, kinds.UNKNOWN if text == "<unk>" else kinds.CONTROL) for text in SPECIAL]
    tokens += [(f"<0x{byte:02X}>", 0.0, kinds.BYTE) for byte in range(256)]
    pieces = {chr(code) for code in range(32, 127)} - {" "} | {"▁"}
    pieces |= {f"▁{word[:length]}" for word in WORDS.split() for length in range(1, len(word) + 1)}
    return tokens + [(piece, float(len(piece)), kinds.NORMAL) for piece in sorted(pieces)]


def write(path: str) -> None:
    tokens = vocabulary()
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list([text for text, _, _ in tokens])
    writer.add_token_scores([score for _, score, _ in tokens])
    writer.add_token_types([kind for _, _, kind in tokens])
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_chat_template(TEMPLATE)
    draw = numpy.random.default_rng(29)
    shapes = {
        "token_embd": (len(tokens), WIDTH),
        "output": (len(tokens), WIDTH),
        "output_norm": (WIDTH,),
        "blk.0.attn_norm": (WIDTH,),
        "blk.0.ffn_norm": (WIDTH,),
        **{f"blk.0.attn_{name}": (WIDTH, WIDTH) for name in ("q", "k", "v", "output")},
        "blk.0.ffn_gate": (INNER, WIDTH),
        "blk.0.ffn_up": (INNER, WIDTH),
        "blk.0.ffn_down": (WIDTH, INNER),
    }
    for name, shape in shapes.items():
        values = numpy.ones(shape) if name.endswith("norm") else draw.normal(0, 0.3, shape)
        writer.add_tensor(f"{name}.weight", values.astype(numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    write(sys.argv[1])
