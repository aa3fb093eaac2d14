"""Contrastive learning: InfoNCE, projection heads, and batches spread over processes. Needs only torch."""

from lie_ssl.contrast.gather import JoinedBatch, is_distributed
from lie_ssl.contrast.heads import ProjectionHead
from lie_ssl.contrast.info_nce import FramesLoss, frames_info_nce, project

__all__ = ["FramesLoss", "JoinedBatch", "ProjectionHead", "frames_info_nce", "is_distributed", "project"]
