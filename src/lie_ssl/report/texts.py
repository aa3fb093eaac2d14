"""What the page says above its tables and plots."""

from __future__ import annotations

ACCURACY = (
    "Mean over seeds ± standard error (difference and multiple to the baseline of the same method); bold is the best "
    "of a method. Diverse instances are the share of the training instances that the classifier saw in all poses. A "
    "dash was not measured."
)
GAPS = (
    "Points of accuracy that are lost against known instances in typical pose; less is better. Self-occlusion is the "
    "accuracy on unknown instances in 2D minus that in 3D."
)
ANGLES = "Top-1 accuracy by how far the object is turned from its typical pose; brackets are standard errors."
OPERATOR = (
    "Does an embedding that the operator moves find the true frame among all frames of the instance? MRR is the mean "
    "of 1 / rank. If t of another instance's equal move does as well as its own, t describes the move; if only its own "
    "does, t gives the target away. Pose is regressed from the two embeddings; encoders without an operator have that "
    "only."
)
ORBITS = (
    "Points are the true frames of one unknown instance, coloured by angle; lines are the first frame's embedding "
    "under the operator. The solid line takes, for each pose, the t that is inferred from both frames; the dotted one "
    "repeats the first move. Seen are the dimensions that the group moves, in the plane of the two largest principal "
    "components of the true frames."
)
SPECTRUM = "Eigenvalues on the moved dimensions: a rotation has imaginary ones, growth and decay have real ones."
NO_OPERATOR = "None of the runs has an operator, or their cards were not given."
