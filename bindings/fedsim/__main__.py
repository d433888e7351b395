"""``python -m fedsim``: the fedsim command that was installed or built with this package."""

import os
import shutil
import sys
import sysconfig


def _command() -> str | None:
    here = os.path.dirname(os.path.abspath(__file__))
    places = [
        os.path.join(sysconfig.get_path("scripts"), "fedsim"),
        os.path.join(here, "..", "..", "apps", "fedsim"),  # build tree
    ]
    for place in places:
        if os.access(place, os.X_OK):
            return place
    return shutil.which("fedsim")


def main() -> None:
    """Replace this process by the command, with the same arguments."""
    command = _command()
    if command is None:
        sys.exit("fedsim: the command was not installed with this package")
    os.execv(command, ["fedsim", *sys.argv[1:]])


if __name__ == "__main__":
    main()
