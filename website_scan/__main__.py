"""Entry point of `python -m website_scan`: the command `website-scan`."""

import sys

if __name__ == "__main__":
    # A user's `requests.py` must not replace the package `requests`.
    if not sys.flags.safe_path:
        sys.path.append(sys.path.pop(0))

    from website_scan.command.main import main

    main()
