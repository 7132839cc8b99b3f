"""Train the small models of this project from nothing: `python -m attention_core.teach pronoun`.

Read in this order: `runs` (what a training is), `model` (the transformer), `tasks` (what it is taught), `trainer`
(how), `card` (what its users are told), `ship` (the files of the catalogue), `worker` (training while somebody
watches). Only `model`, `trainer`, `ship`, `worker` and the command line need torch.
"""
