"""Page objects and checks for the window, and the window of another process."""
