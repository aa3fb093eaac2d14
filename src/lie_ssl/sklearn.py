"""A trained encoder as a step of a scikit-learn pipeline; the extra `sklearn` brings scikit-learn.

>>> from sklearn.linear_model import LogisticRegression                                    # doctest: +SKIP
>>> from sklearn.pipeline import make_pipeline                                             # doctest: +SKIP
>>> from lie_ssl.sklearn import LieEmbedding                                               # doctest: +SKIP
>>> make_pipeline(LieEmbedding("runs/mae_lie"), LogisticRegression()).fit(pictures, names)  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lie_ssl.extras import require

require("lie_ssl.sklearn", "sklearn", "vision", "data")

from sklearn.base import BaseEstimator, TransformerMixin  # noqa: E402

from lie_ssl.training.loading import Loaded, Which, load  # noqa: E402


class LieEmbedding(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Transforms pictures into embeddings. Nothing is fitted: the encoder is already trained.

    Takes what :meth:`Loaded.embed <lie_ssl.training.loading.Loaded.embed>` takes: PIL pictures, arrays, tensors, paths.

    Args:
        run: Folder of a run or of a saved model, or an exported .safetensors file.
        which: The last checkpoint of a run, or the best one on the validation set.
        batch: Batch size.
        trust: Import paths that the run may name; see :func:`lie_ssl.load`.
    """

    def __init__(self, run: str | Path, which: Which = "last", batch: int = 256, trust: Collection[str] = ()) -> None:
        self.run, self.which, self.batch, self.trust = run, which, batch, trust

    def fit(self, pictures: Any, classes: Any = None) -> LieEmbedding:
        """Loads the encoder."""
        self.encoder_: Loaded = load(self.run, self.which, self.trust)
        return self

    def transform(self, pictures: Any) -> NDArray[np.float32]:
        """Embeds N pictures -> (N, M)."""
        loaded: Loaded = self.encoder_ if self.__sklearn_is_fitted__() else load(self.run, self.which, self.trust)
        found: NDArray[np.float32] = loaded.embed(pictures, self.batch).numpy()
        return found

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names z0, z1, ..."""
        loaded = self.encoder_ if self.__sklearn_is_fitted__() else load(self.run, self.which, self.trust)
        return np.array([f"z{i}" for i in range(loaded.encoder.dim)], dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "encoder_")
