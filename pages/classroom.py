"""For the classroom: what a teacher needs beside the pictures."""

from ui import classroom, selection, translations

classroom.show(translations.words(selection.current().lang))
