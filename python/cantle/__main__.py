"""`python -m cantle`: the command line."""

from cantle.cli import main

main()
