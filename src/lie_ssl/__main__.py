"""`python -m lie_ssl`, the same as `lie-ssl` (torchrun needs a module)."""

from lie_ssl.cli import main

if __name__ == "__main__":
    main()
