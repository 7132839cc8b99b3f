"""The story of it, animal and tired: what a query, a key and a value are for."""

from ui import selection, translations
from ui.scenes import stage

stage.show("it", translations.words(selection.current().lang))
