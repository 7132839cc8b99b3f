"""Stories and lessons, scene by scene."""
