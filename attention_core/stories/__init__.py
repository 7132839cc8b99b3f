"""The numbers behind the stories and lessons: one function per scene, from what a reader can move to what is shown.

Each computes anew from a model or from a formula, with numpy alone; nothing is remembered between two calls.
"""
