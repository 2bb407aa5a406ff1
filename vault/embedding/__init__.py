"""Embedding models, and splitting notes into chunks for them.

    chunking        Splits notes into passages that fit into the embedding model's input.
    encoder_choice  Measures which encoder is fastest on this processor, and stores the result.
    onnx_model      The model's ONNX files: stored, checked, loaded without torch. `embed_worker`
                    exports them.
    models          Finds embedding models, and counts tokens with the packaged model's tokenizer.

This package may import `vault.notes`, `vault.errors` and `resources.system`.
"""

__all__ = ["chunking", "encoder_choice", "models", "onnx_model"]
