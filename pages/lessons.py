"""The lessons: common beliefs about attention, each predicted first and tried out."""

from ui import selection, translations
from ui.scenes import stage

stage.show("lessons", translations.words(selection.current().lang))
