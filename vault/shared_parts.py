"""What a vault and its limited copies share beside the index, built on first use.

A search needs none of it, so that a program that only searches starts sooner.
"""

import threading
from collections.abc import Callable, Collection
from functools import cached_property
from typing import TYPE_CHECKING

from vault.indexing.throttle import IdleJob, SearchActivity, Throttle, UpdateQueue
from vault.search.rerank import Reranker

if TYPE_CHECKING:
    from vault.indexing.watcher import Watcher
    from vault.questions.vocabulary import VocabularyReader

__all__ = ["SharedParts"]


class SharedParts:
    """What a vault and its limited copies share beside the index. It is built on first use.

    Attributes:
        watcher: watches the folder, or None if it is not watched.
        has_seen_all: whether the whole folder was checked since watching began.
        rebuild: the thread that rebuilds a replaced index, or None.
    """

    def __init__(self, fit_ranking: Callable[[Callable[[], bool]], None], activity: SearchActivity):
        """Create the object. Nothing is built yet.

        Args:
            fit_ranking: the job for the time in which nobody searches. It gets a function that
                returns whether it must stop.
            activity: knows whether the user is searching.
        """
        self._fit_ranking = fit_ranking
        self._activity = activity
        self.watcher: Watcher | None = None
        self.has_seen_all = False
        self.rebuild: threading.Thread | None = None

    @cached_property
    def throttle(self) -> Throttle:
        """Pauses and resumes index updates."""
        return Throttle()

    @cached_property
    def updates(self) -> UpdateQueue:
        """The queue of index updates."""
        return UpdateQueue(self.throttle)

    @cached_property
    def idle(self) -> IdleJob:
        """The job that runs while nobody searches."""
        return IdleJob(self._fit_ranking, self.updates, self._activity)

    @cached_property
    def names(self) -> "VocabularyReader":
        """Reads the names of the vault, for questions."""
        from vault.questions.vocabulary import VocabularyReader

        return VocabularyReader()

    @cached_property
    def reranker(self) -> Reranker:
        """Reranks the best passages of a search, if a model for it is chosen."""
        return Reranker()

    def prefer(self, paths: Collection[str]) -> None:
        """Make the updates of this process, if there are any, index some notes first."""
        if "updates" in vars(self):
            self.updates.priority.prefer(paths)

    def close(self) -> None:
        """Stop what was begun, and wait for its end."""
        if "throttle" in vars(self):
            self.throttle.resume()  # a paused update has to notice the end
        if "idle" in vars(self):
            self.idle.close()
        if self.watcher is not None:
            self.watcher.close()
        if self.rebuild is not None and self.rebuild is not threading.current_thread():
            self.rebuild.join()
        if "reranker" in vars(self):
            self.reranker.close()
