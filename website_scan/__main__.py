"""`python -m website_scan`: the command `website-scan`."""

import sys

if __name__ == "__main__":
    # Python puts the current folder first. A `requests` of the project there must not replace the installed package.
    if not sys.flags.safe_path:
        sys.path.append(sys.path.pop(0))

    from website_scan.command.main import main

    main()
