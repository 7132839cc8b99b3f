"""Train the small models of this project from nothing: `python -m attention_core.teach pronoun`.

The only part of `attention_core` that needs torch; nothing else imports it.
Read in this order: `model` (the transformer), `pronoun` (what it is taught from), `trainer` (how), `measure`
(how well), `card` (what its users are told).
"""
