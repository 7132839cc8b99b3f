"""Interview questions about attention, answered with numbers."""

from ui import interview, selection, translations

interview.show(translations.words(selection.current().lang))
