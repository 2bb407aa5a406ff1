"""Embedding models, and splitting notes into chunks for them.

    chunking        Splits notes into passages that fit into the embedding model's input.
    encoder_choice  Measures which encoder is fastest on this processor, and stores the result.
    models          Finds embedding models, and counts tokens with the packaged model's tokenizer.
    onnx_model      Models in ONNX form: opened, stored, checked and run without torch.
    packaged_graph  Builds the ONNX graph of the packaged model. The only user of onnx.
    torch_model     Models in torch: measured, exported and run. The only user of torch.

This package may import `vault.notes`, `vault.errors` and `resources.system`.
"""

__all__ = ["chunking", "encoder_choice", "models", "onnx_model", "packaged_graph", "torch_model"]
