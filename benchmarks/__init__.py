"""Measurements against the budgets, each a script of its own.

Importing `ui` first makes every computation keep to one core, as in the app: a second thread of numpy that waits beside
torch's would be counted as work.
"""

import ui  # noqa: F401
