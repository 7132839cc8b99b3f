"""The story of 佛跳墙: attention is query + aggregate."""

from ui import selection, translations
from ui.scenes import stage

stage.show("dish", translations.words(selection.current().lang))
