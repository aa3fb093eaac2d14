"""The one exception that users see as a sentence instead of a traceback."""


class UserError(Exception):
    """An error that the user can fix: one sentence that says what is wrong, where, and what to do.

    The command line prints it and exits with code 2; from Python it is raised like any other exception.
    """
