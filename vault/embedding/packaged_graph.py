"""The packaged embedding model as an ONNX graph, which needs no torch. The only user of onnx.

The graph contains no weights. onnxruntime reads them from the package's safetensors file, at the
offsets that the file's header names. A model is therefore ready within half a second, and nothing
of it is stored again.

The graph is that of a BERT encoder whose token vectors are averaged and scaled to unit length. Its
attention, layer normalisation and activation are the fused operators of onnxruntime for processors.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

WEIGHTS: Final = "model.safetensors"
INPUTS: Final = ("input_ids", "attention_mask", "token_type_ids")
_FUSED = "com.microsoft"
# The versions of the format and of its operators that onnxruntime 1.20 reads.
_FORMAT_VERSION, _OPERATORS_VERSION, _FUSED_VERSION = 8, 17, 1
_TWO_OUTPUTS = ("EmbedLayerNormalization",)  # its second one is for another form of attention
_LENGTH_BYTES = 8  # in front of the header of a safetensors file


def build_packaged_graph(folder: Path) -> bytes:
    """Build the graph of the packaged model, and return it as a serialised ONNX model.

    Args:
        folder: the model's folder, with `config.json` and the weights.

    Raises:
        OSError, KeyError, ValueError: a file is missing or damaged.
    """
    from onnx import TensorProto, helper

    config = json.loads((folder / "config.json").read_text("utf-8"))
    graph = _Graph(folder, float(config["layer_norm_eps"]))
    mask = graph.add("Cast", [INPUTS[1]], to=TensorProto.INT32)
    hidden = _add_embeddings(graph, mask)
    heads = config["num_attention_heads"]
    for layer in range(config["num_hidden_layers"]):
        hidden = _add_layer(graph, f"encoder.layer.{layer}.", hidden, mask, heads)
    vectors = _add_mean(graph, hidden)
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"])
        for name in INPUTS
    ]
    shape = ["texts", config["hidden_size"]]
    outputs = [helper.make_tensor_value_info(vectors, TensorProto.FLOAT, shape)]
    built = helper.make_graph(graph.nodes, "embedding", inputs, outputs, graph.list_tensors())
    versions = [
        helper.make_opsetid("", _OPERATORS_VERSION),
        helper.make_opsetid(_FUSED, _FUSED_VERSION),
    ]
    model = helper.make_model(built, opset_imports=versions, ir_version=_FORMAT_VERSION)
    serialised: bytes = model.SerializeToString()
    return serialised


class _Graph:
    """The nodes and tensors of a graph that is being built. Only one output of a node is used."""

    def __init__(self, folder: Path, epsilon: float) -> None:
        self.nodes: list[Any] = []
        self.epsilon = epsilon
        self._tensors: dict[str, Any] = {}
        self._header, self._start = _read_header(folder / WEIGHTS)

    def add(
        self, operator: str, inputs: Sequence[str], *, fused: bool = False, **given: Any
    ) -> str:
        """Add a node, and return the name of its output."""
        from onnx import helper

        output = f"{operator}_{len(self.nodes)}"
        outputs = [output, f"{output}_spare"] if operator in _TWO_OUTPUTS else [output]
        domain = _FUSED if fused else ""
        self.nodes.append(helper.make_node(operator, inputs, outputs, domain=domain, **given))
        return output

    def weight(self, name: str) -> str:
        """Refer to a tensor of the weights file, and return its name."""
        from onnx import TensorProto

        entry = self._header[name]
        first, end = entry["data_offsets"]
        tensor = TensorProto(
            name=name,
            data_type=TensorProto.FLOAT,
            dims=entry["shape"],
            data_location=TensorProto.EXTERNAL,
        )
        place = {"location": WEIGHTS, "offset": self._start + first, "length": end - first}
        for key, value in place.items():
            tensor.external_data.add(key=key, value=str(value))
        self._tensors[name] = tensor
        return name

    def matrix(self, name: str) -> str:
        """Refer to a linear layer's matrix, which is stored transposed."""
        return self.add("Transpose", [self.weight(f"{name}.weight")], perm=[1, 0])

    def axis(self, number: int) -> str:
        """Add the number of an axis as a constant, and return its name."""
        from onnx import TensorProto, helper

        name = f"axis_{number}"
        self._tensors[name] = helper.make_tensor(name, TensorProto.INT64, [1], [number])
        return name

    def list_tensors(self) -> list[Any]:
        """Return the weights and constants that the nodes refer to."""
        return list(self._tensors.values())


def _read_header(file: Path) -> tuple[dict[str, Any], int]:
    """Return a safetensors file's header, and the offset at which its data starts."""
    with file.open("rb") as weights:
        length = int.from_bytes(weights.read(_LENGTH_BYTES), "little")
        header: dict[str, Any] = json.loads(weights.read(length))
    return header, _LENGTH_BYTES + length


def _add_embeddings(graph: _Graph, mask: str) -> str:
    from onnx import TensorProto

    tokens, types = (graph.add("Cast", [INPUTS[at]], to=TensorProto.INT32) for at in (0, 2))
    tables = [f"{kind}_embeddings.weight" for kind in ("word", "position", "token_type")]
    names = [*tables, "LayerNorm.weight", "LayerNorm.bias"]
    weights = [graph.weight(f"embeddings.{name}") for name in names]
    inputs = [tokens, types, *weights, mask]
    return graph.add("EmbedLayerNormalization", inputs, fused=True, epsilon=graph.epsilon)


def _add_layer(graph: _Graph, layer: str, hidden: str, mask: str, heads: int) -> str:
    """Add a layer: attention, then two linear layers, each followed by a normalised sum."""
    attended = _add_attention(graph, f"{layer}attention.", hidden, mask, heads)
    wide = graph.add("MatMul", [attended, graph.matrix(f"{layer}intermediate.dense")])
    bias = graph.weight(f"{layer}intermediate.dense.bias")
    activated = graph.add("BiasGelu", [wide, bias], fused=True)
    return _add_output(graph, f"{layer}output.", activated, attended)


def _add_attention(graph: _Graph, attention: str, hidden: str, mask: str, heads: int) -> str:
    parts = [f"{attention}self.{name}" for name in ("query", "key", "value")]
    matrix = graph.add("Concat", [graph.matrix(part) for part in parts], axis=1)
    bias = graph.add("Concat", [graph.weight(f"{part}.bias") for part in parts], axis=0)
    attended = graph.add("Attention", [hidden, matrix, bias, mask], fused=True, num_heads=heads)
    return _add_output(graph, f"{attention}output.", attended, hidden)


def _add_output(graph: _Graph, output: str, values: str, skipped: str) -> str:
    """Add a linear layer, and the layer normalisation of its sum with what it skipped."""
    linear = graph.add("MatMul", [values, graph.matrix(f"{output}dense")])
    names = ("LayerNorm.weight", "LayerNorm.bias", "dense.bias")
    weights = [graph.weight(output + name) for name in names]
    inputs = [linear, skipped, *weights]
    return graph.add("SkipLayerNormalization", inputs, fused=True, epsilon=graph.epsilon)


def _add_mean(graph: _Graph, hidden: str) -> str:
    """Add the sum of the token vectors without padding, scaled to unit length as the mean is."""
    from onnx import TensorProto

    mask = graph.add("Cast", [INPUTS[1]], to=TensorProto.FLOAT)
    column = graph.add("Unsqueeze", [mask, graph.axis(2)])
    counted = graph.add("Mul", [hidden, column])
    total = graph.add("ReduceSum", [counted, graph.axis(1)], keepdims=0)
    return graph.add("LpNormalization", [total], axis=-1, p=2)
