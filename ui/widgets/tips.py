"""Texts for tooltips, and the tooltips of buttons that have a label.

The tooltip of a button says what the label cannot: what happens, and which shortcut does the same.
Buttons with the same label do the same, wherever they are; one that differs gets its own tooltip.
"""

import html
import re
from collections.abc import Mapping
from typing import Final

from PySide6.QtGui import Qt

from ui.actions import Keymap

__all__ = ["add_keys", "find_tip", "plain_tip"]

# The tooltip of each label, and the window command that does the same, or an empty string.
# Numbers in labels are replaced by N.
_TIPS: Final[Mapping[str, tuple[str, str]]] = {
    # Dialogs
    "Done": ("Close this window (Esc)", ""),
    "Cancel": ("Close this without changing anything (Esc)", ""),
    "Close": ("Close this without doing anything", ""),
    "Dismiss": ("Close this message", ""),
    "Skip": ("Go on without this step; Settings has it too", ""),
    "Back": ("Go back to the step before", ""),
    "Continue": ("Go on where it stopped", ""),
    "Keep this folder": ("Go on with this folder of notes", ""),
    "Open the sample notes": ("Copy them to this computer, and open the copy", ""),
    "Use this model": ("Let it answer, and go on to the first question", ""),
    "Go on without a model": ("Answers are quoted from the notes until you set a model", ""),
    # Folders, notes and the index
    "Choose a folder": ("Open another folder of notes", "choose_folder"),
    "Choose a folder…": ("Look for a folder of notes on this computer", ""),
    "Choose…": ("Look for the folder on this computer", ""),
    "Choose a file…": ("Look for the model's file on this computer", ""),
    "Try the sample notes": ("Open a folder of notes about Strata, which you may change", ""),
    "Open a project": ("Open a folder as a project", "open_project"),
    "Remove from the list": ("Remove the project; its notes and chats stay", ""),
    "Look again": ("See whether anything has changed meanwhile", ""),
    "Look after your notes": ("Find contradictions, duplicates and outdated notes", "look_after"),
    "Look after your notes (N)": (
        "Show contradictions, duplicates and outdated notes that were found",
        "look_after",
    ),
    "Offer them again": ("Show the findings that you dismissed", ""),
    "Read the notes again": ("Bring the index up to date with the notes", ""),
    "Rebuild the index": ("Delete the index and make it from the notes", ""),
    "Rebuild the index…": ("Delete the index and make it from the notes, after a question", ""),
    "Keep it": ("Leave the index as it is", ""),
    "Show them": ("Show the notes that could not be read, with the reasons", "toggle_index"),
    "Try all again": ("Read all notes again that could not be read", ""),
    "Save note": ("Write this chat into a new note", ""),
    # Long texts
    "Show all": ("Show what is folded away", ""),
    "Show less": ("Fold this away again", ""),
    "Show N more": ("Show the next rows of the list", ""),
    "Show the changes": ("Show the changed lines of each note", ""),
    "Hide the changes": ("Fold the changed lines away again", ""),
    "Copy": ("Copy what is shown here", ""),
    # Chats and answers
    "Jump to latest": ("Scroll to the end of the chat", ""),
    "Ask": ("Send the question (Enter)", ""),
    "Open in Strata": ("Continue this chat in the main window", ""),
    "Open the chat": ("Show the chat to which this belongs", ""),
    "Ask again": ("Send the changed message; the old version stays", ""),
    "Ask in Vault mode": ("Search all notes of the folder, not those of a project", ""),
    "Try again": ("Send the message again as it is", ""),
    "Keep this answer": ("Continue the chat from this version", ""),
    "What the model saw": ("Show the request that this answer was made from", "saw"),
    "Undo": ("Take this back", ""),
    "Undo all": ("Take back the changes to all of these notes", ""),
    "Send as text": ("Send what looks like a command as a message", ""),
    "Take it back": ("Put the waiting message back into the message box", ""),
    "Attach as a file": ("Send the text as an attachment, which is searched", ""),
    "Split it": ("Send the text in parts, one after the other", ""),
    "Join them again": ("Make one message of the parts", ""),
    "Put it back": ("Put the text back into the message box", ""),
    "Summarise them": ("Let the model sum up the messages of the other version", ""),
    "Attach it": ("Add the note to the next message", ""),
    "Open it instead": ("Show the note without attaching it", ""),
    "Show folder": ("Show the file in the file manager", ""),
    "Copy the path": ("Copy where the file is", ""),
    "Copy the address": ("Copy the address, to open it elsewhere", ""),
    # Errors
    "Raise the limit": ("Open the settings of the limit", ""),
    "Lower the limit": ("Open the settings of the limit", ""),
    "Enter a key": ("Open the settings of keys", ""),
    "Choose a model": ("Choose the model of the next messages", "choose_model"),
    "Set a model": ("Find a model on this computer, or a service with a key", ""),
    "Turn it off": ("Run no hook files from now on", ""),
    "Privacy settings": ("Open the settings that keep Strata offline", ""),
    "Copy details": ("Copy the error with its details, for a report", ""),
    "Open the log": ("Open the file that has the details of errors", ""),
    "Open log": ("Open the file that has the details of errors", ""),
    # Context and memory
    "Compact now": ("Replace older messages by a summary", "compact"),
    "Show summary": ("Show what stands for the older messages", ""),
    "Edit the summary": ("Change what stands for the older messages", ""),
    "Continue from before": ("Go on from before the summary, in a version of its own", ""),
    "Make the summary": ("Let the model write it; nothing is replaced yet", ""),
    "Use this summary": ("Send it in place of the older messages from now on", ""),
    "Show the request": ("Show what is sent, word for word", "show_request"),
    "Edit the memory": ("Change what the model keeps in mind in this chat", ""),
    "Save the memory": ("Send it with the next message", ""),
    "Discard changes": ("Go back to the text that was saved", ""),
    # Approvals: refusing never changes or sends anything
    "Use them": ("Send the instructions with each request", ""),
    "Don't use them": ("Send nothing of the instructions", ""),
    "Don't create": ("Leave the notes as they are, and tell the model", ""),
    "Create the note": ("Write the note as it is shown", ""),
    "Don't change": ("Leave the note as it is, and tell the model", ""),
    "Change the note": ("Write the change as it is shown", ""),
    "Add to the note": ("Write the lines as they are shown", ""),
    "Make N of N changes": ("Write the changes that are switched on", ""),
    "Don't add": ("Leave the note as it is", ""),
    "Add the link": ("Write the link as it is shown", ""),
    "Don't move": ("Leave the note where it is, and tell the model", ""),
    "Move the note": ("Move it, and change the links to it", ""),
    "Don't remember": ("Store nothing, and tell the model", ""),
    "Remember it": ("Send it in all chats from now on", ""),
    "Don't open": ("Fetch nothing, and tell the model", ""),
    "Open the page": ("Fetch the page, this once", ""),
    "Don't use": ("Start and send nothing, and tell the model", ""),
    "Use the server": ("Start or connect it, now and in later chats", ""),
    "Use the changed tools": ("Let the model see the tools as they are now", ""),
    "Use it once": ("Run the tool with these arguments, this once", ""),
    "Use it in this chat": ("Run it, and do not ask again in this chat", ""),
    "Don't allow": ("Run nothing, and tell the model", ""),
    "Allow once": ("Run it with these arguments, this once", ""),
    "Allow in this chat": ("Run it, and do not ask again in this chat", ""),
    # Settings
    "Reset this page": ("Set everything on this page to its default, after a question", ""),
    "Reset them": ("Set everything on this page to its default", ""),
    "Keep them": ("Leave the settings as they are", ""),
    "Reset all keys": ("Give each command its usual keys again", ""),
    "Use it here": ("Take the keys away from the other command", ""),
    "Set up again": ("Go through the first steps once more; nothing is lost", "first_run"),
    "Save instructions": ("Send them with each request from the next one on", ""),
    "Save memories": ("Send them with each request from the next one on", ""),
    "Save notes and model": ("Use them from the next request on", ""),
    "Save the key": ("Store it in the system's keyring, never in a file", ""),
    "Test the key": ("Ask the service whether it accepts the key", ""),
    "Remove the key": ("Delete it from the system's keyring", ""),
    "Don't save": ("Keep nothing of what was entered", ""),
    "Save it anyway": ("Store the key, though it travels unencrypted", ""),
    "Open settings.toml": ("Open the file with your settings", ""),
    "Open the folder of commands": ("Show it in the file manager; it is made if needed", ""),
    "Open the folder of prompts": ("Show it in the file manager; it is made if needed", ""),
    "Open the folder of hooks": ("Show it in the file manager; it is made if needed", ""),
    "Show new calls": ("Read the list of calls again", ""),
    # Servers
    "Add the server": ("Add it to the list; it is started only after a question", ""),
    "Test": ("Start or connect the server, and list its tools", ""),
    "Remove": ("Remove the server from the list", ""),
    "Start": ("Run this command on this computer", ""),
    "Don't start": ("Run nothing", ""),
    "Connect": ("Connect to this address", ""),
    "Don't connect": ("Send nothing to this address", ""),
    "Find its models": ("Ask the server which models it has", ""),
    "Test the connection": ("Send a short question to the model", ""),
}
_NUMBER = re.compile(r"\d[\d,.]*")
# The tooltips of other labels, which contain a name. The first pattern that matches counts.
_PATTERNS: Final = (
    (re.compile(r"N more lines? below"), "Show what is folded away"),
    (re.compile(r"Open .+ in this chat"), "Fetch pages of this host without asking, in this chat"),
    (re.compile(r"Use .+"), "Let a model of this server answer, and go on"),
    (re.compile(r"Show .+"), "Show what is folded away"),
    (re.compile(r"Hide .+"), "Fold this away again"),
)


def find_tip(label: str) -> str:
    """Return the tooltip of a button with this label, or an empty string if there is none."""
    key = _NUMBER.sub("N", label)
    if key in _TIPS:
        return add_keys(*_TIPS[key])
    return next((tip for pattern, tip in _PATTERNS if pattern.match(key)), "")


def add_keys(text: str, command: str) -> str:
    """Return the text followed by the command's shortcut in brackets, if it has a shortcut."""
    keys = Keymap.current().describe(command) if command else ""
    return f"{text} ({keys})" if keys else text


def plain_tip(text: str) -> str:
    """Escape tooltip text that Qt would interpret as rich text. Other text is unchanged."""
    if not Qt.mightBeRichText(text):
        return text
    return f"<qt>{html.escape(text)}</qt>".replace("\n", "<br>")
