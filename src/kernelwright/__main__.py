"""So that ``python -m kernelwright`` is the command line."""

from kernelwright.cli.main import main

raise SystemExit(main())
