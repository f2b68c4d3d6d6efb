"""Converts a GGUF file to a folder for OpenVINO: 8-bit weights, tokenizer, chat template.

OpenVINO's own reader knows few of GGUF's packings, so the weights are unpacked to float16 first. Of
its result every large matrix is packed again, in 8 bits with a scale for each row: of the forms
that lose nothing it is the fastest, see docs/lab/engines.md. OpenVINO's compression tool
writes the same form, but brings 100 MB of packages.

Does not download, verify, or write into the final folder: the caller passes an empty one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from generation.models.files import is_disk_full
from nl2sql.errors import ModelCorrupt, ModelError

# Kinds of tokens in GGUF that text can contain as marks: control and user-defined ones.
_MARKS = (3, 4)
# Tokens that end a turn in some model, beside the one that the file names.
_ENDS = ("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end|>", "<end_of_turn>")
_UNLIMITED = 2**31 - 1


def convert_to_openvino(gguf: Path, into: Path) -> None:
    """Fill ``into`` from ``gguf``.

    Raises ModelCorrupt for a file that is damaged or holds no model with a chat template, and
    ModelError for an architecture that OpenVINO's reader does not know.
    """
    unpacked = into / "unpacked"
    unpacked.mkdir()
    file = unpacked / "model.gguf"
    try:
        reader = _open(gguf)
        _write_configs(gguf, reader, into)
        _unpack(reader, file)
        _read_by_openvino(file)
        file.unlink()
        _pack(unpacked, into)
        for name in ("openvino_tokenizer", "openvino_detokenizer"):
            for suffix in (".xml", ".bin"):
                (unpacked / f"{name}{suffix}").replace(into / f"{name}{suffix}")
        _lift_length(into)
    except (ModelError, OSError):
        raise
    except Exception as error:  # OpenVINO raises RuntimeError for everything
        if is_disk_full(error):
            raise
        raise ModelError(
            f"{gguf.name} could not be converted for OpenVINO: {error}.",
            hint="Take another model, or run it with a server: model.engine: openai.",
        ) from error
    finally:
        with suppress(OSError):
            for each in unpacked.iterdir():
                each.unlink()
            unpacked.rmdir()


def _open(gguf: Path) -> Any:
    from gguf import GGUFReader

    try:
        return GGUFReader(gguf)
    except (ValueError, IndexError, KeyError, OSError) as error:
        raise ModelCorrupt(
            f"{gguf} is damaged, incomplete or no GGUF file ({error}).",
            hint="Download it again; in the store with `quorumsql model remove`, then `pull`.",
        ) from error


def _write_configs(gguf: Path, reader: Any, into: Path) -> None:
    """Writes what other programs of this form write too, as far as it is needed."""
    read = {name: field.contents() for name, field in reader.fields.items()}
    architecture = read.get("general.architecture", "")
    template = read.get("tokenizer.chat_template")
    if read.get("general.type", "model") != "model" or f"{architecture}.block_count" not in read:
        raise ModelCorrupt(
            f"{gguf.name} holds no model.", hint="Name the file of a model under model.name."
        )
    if not template:
        raise ModelCorrupt(
            f"{gguf.name} ({architecture}) has no chat template, so it takes no instructions.",
            hint="Use the file of an instruct model.",
        )
    tokens, kinds = read["tokenizer.ggml.tokens"], read["tokenizer.ggml.token_type"]
    marks = {
        number: token
        for number, (token, kind) in enumerate(zip(tokens, kinds, strict=True))
        if kind in _MARKS
    }
    end = read["tokenizer.ggml.eos_token_id"]
    ends = {end, *(number for number, token in marks.items() if token in _ENDS)}
    _write(into / "config.json", _build_config(architecture, read))
    _write(into / "generation_config.json", {"eos_token_id": sorted(ends)})
    _write(
        into / "tokenizer_config.json",
        {
            "added_tokens_decoder": {str(number): {"content": marks[number]} for number in marks},
            "eos_token": tokens[end],
            "chat_template": template,
        },
    )


def _build_config(architecture: str, read: Mapping[str, Any]) -> dict[str, Any]:
    def find(key: str) -> Any:
        return read.get(f"{architecture}.{key}")

    config = {
        "model_type": architecture,
        "max_position_embeddings": find("context_length"),
        "num_hidden_layers": find("block_count"),
        "hidden_size": find("embedding_length"),
        "num_attention_heads": find("attention.head_count"),
        "num_key_value_heads": find("attention.head_count_kv"),
        "head_dim": find("attention.key_length"),
    }
    return {key: value for key, value in config.items() if value is not None}


def _write(file: Path, content: Mapping[str, Any]) -> None:
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _unpack(reader: Any, file: Path) -> None:
    """Writes the same model in float16."""
    import numpy as np
    from gguf import GGMLQuantizationType, GGUFValueType, GGUFWriter
    from gguf.quants import dequantize

    writer = GGUFWriter(file, reader.fields["general.architecture"].contents())
    for key, field in reader.fields.items():
        if key.startswith("GGUF.") or key == "general.architecture":
            continue
        if field.types[0] == GGUFValueType.ARRAY:
            writer.add_array(key, field.contents())
        else:
            # 1: the file's type is float16.
            value = 1 if key == "general.file_type" else field.contents()
            writer.add_key_value(key, value, field.types[0])
    for tensor in reader.tensors:
        shape = tuple(reversed([int(size) for size in tensor.shape]))
        is_plain = tensor.tensor_type == GGMLQuantizationType.F32
        size = int(tensor.n_elements)
        writer.add_tensor_info(
            tensor.name,
            shape,
            np.dtype(np.float32 if is_plain else np.float16),
            size * (4 if is_plain else 2),
        )
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    for tensor in reader.tensors:  # one after another, so that one is in memory
        is_plain = tensor.tensor_type == GGMLQuantizationType.F32
        values = tensor.data if is_plain else dequantize(tensor.data, tensor.tensor_type)
        writer.write_tensor_data(values if is_plain else values.astype(np.float16))
    writer.close()


def _read_by_openvino(file: Path) -> None:
    """Lets OpenVINO read the file and write its own form beside it."""
    import openvino_genai

    openvino_genai.LLMPipeline(str(file), "CPU", enable_save_ov_model=True)


def _pack(source: Path, into: Path) -> None:
    """Packs the large matrices of the model in ``source``."""
    import numpy as np
    import openvino

    model = openvino.Core().read_model(source / "openvino_model.xml")
    for constant in model.get_ordered_ops():
        if constant.get_type_name() != "Constant" or len(constant.shape) != 2:
            continue
        users = [each.get_node() for each in constant.output(0).get_target_inputs()]
        # float16 weights are converted to float32 before they are used.
        if [user.get_type_name() for user in users] != ["Convert"]:
            continue
        used = {each.get_node().get_type_name() for each in users[0].output(0).get_target_inputs()}
        if not used <= {"MatMul", "Gather"}:
            continue
        packed = _pack_in_8_bits(constant.data.astype(np.float32))
        packed.friendly_name = constant.friendly_name
        users[0].input(0).replace_source_output(packed.output(0))
    openvino.save_model(model, into / "openvino_model.xml", compress_to_fp16=False)


def _pack_in_8_bits(weights: Any) -> Any:
    """A scale for each row, of -127 to 127."""
    import numpy as np
    from openvino import opset13 as operations

    scale = (np.abs(weights).max(1, keepdims=True) / 127).astype(np.float16)
    scale[scale == 0] = 1
    packed = np.clip(np.rint(weights / scale.astype(np.float32)), -127, 127).astype(np.int8)
    return operations.multiply(
        operations.convert(operations.constant(packed), "f16"), operations.constant(scale)
    )


def _lift_length(folder: Path) -> None:
    """Lets the tokenizer encode texts of any length; its reader cuts them off at 8,192 tokens."""
    import numpy as np
    import openvino
    import openvino_tokenizers  # noqa: F401 - registers the operations of tokenizers
    from openvino import opset13 as operations

    file = folder / "openvino_tokenizer.xml"
    model = openvino.Core().read_model(file)
    for constant in model.get_ordered_ops():
        inputs = constant.output(0).get_target_inputs() if constant.get_output_size() else ()
        if (
            constant.get_type_name() == "Constant"
            and constant.shape == []
            and any(each.get_node().get_type_name() == "Minimum" for each in inputs)
        ):
            limit = operations.constant(np.array(_UNLIMITED, np.int32))
            for each in inputs:
                each.replace_source_output(limit.output(0))
    lifted = folder / "lifted.xml"
    openvino.save_model(model, lifted, compress_to_fp16=False)
    lifted.replace(file)
    lifted.with_suffix(".bin").replace(file.with_suffix(".bin"))
