"""Where the files of the app stand."""

from __future__ import annotations

import hashlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ASSETS = ROOT / "assets"
COMPONENTS = ASSETS / "components"
PAGES = ROOT / "pages"


def fingerprint(folder: Path) -> str:
    """A short hash of every file below `folder`: part of the address, so that a browser may keep files for ever."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest.update(path.relative_to(folder).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


COMPONENTS_VERSION = fingerprint(COMPONENTS)
COMPONENTS_ROUTE = f"/assets/{COMPONENTS_VERSION}/components"
