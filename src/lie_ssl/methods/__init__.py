"""Encoders and self-supervised methods."""

from lie_ssl.methods.augment import AugmentConfig, augment
from lie_ssl.methods.draws import Draws
from lie_ssl.methods.encoders import Encoder, EncoderConfig, create_encoder
from lie_ssl.methods.extractor import FeatureConfig, FeatureExtractor
from lie_ssl.methods.method import Method, MethodConfig, SSLOutput
from lie_ssl.methods.registry import METHODS, create_method, method, method_config
from lie_ssl.methods.weights import load_weights

__all__ = [
    "METHODS", "AugmentConfig", "Draws", "Encoder", "EncoderConfig", "FeatureConfig", "FeatureExtractor",
    "Method", "MethodConfig", "SSLOutput", "augment", "create_encoder", "create_method", "load_weights", "method",
    "method_config",
]  # fmt: skip
