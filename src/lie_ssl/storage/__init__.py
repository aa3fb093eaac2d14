"""What everybody needs and nobody owns: names that become paths, trust in import paths, tables, tensor files."""
