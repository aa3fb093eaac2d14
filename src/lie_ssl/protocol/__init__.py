"""The protocol: who is tested on what, and how."""
