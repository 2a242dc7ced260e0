"""The rules of the state machine about what happens behind a commit: the feed, webhooks and the time to live."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from tests.support.web_connector.draws import CONNECTIONS, TROUBLE
from tests.support.web_connector.functions import ConcurrentCall
from tests.support.web_connector.streams import BATCH, SHARDS
from tests.support.web_connector.webhooks import ACCEPTED, FAILED, GONE, TIMED_OUT, UNREACHABLE

if TYPE_CHECKING:
    from tests.support.web_connector.functions import Trouble
    from tests.support.web_connector.system import System

SHARD = st.integers(0, SHARDS - 1)
CHANGES = st.sampled_from([1, 3, 10, BATCH])
HOW = st.sampled_from(["well", "well", "repeated", "given up"])
ANSWERS = st.lists(st.sampled_from([ACCEPTED, FAILED, GONE, UNREACHABLE, TIMED_OUT]), min_size=1, max_size=4)
MESSAGES = st.lists(st.integers(0, 20), min_size=1, max_size=5)


class StreamRules(RuleBasedStateMachine):
    """Rules of a system whose store records its changes. They do nothing with another store."""

    system: System

    # --- The feed

    @rule(shard=SHARD, number=CHANGES, repeats=st.booleans(), trouble=TROUBLE)
    def deliver_changes(self, shard: int, number: int, repeats: bool, trouble: Trouble) -> None:
        """Let the consumer of a shard append the events of its next changes, or of earlier ones again."""
        if streams := self.system.streams:
            streams.consumer.consume(shard, number, trouble)
            if repeats:
                streams.consumer.repeat(shard, number)

    @rule(number=CONNECTIONS, calls=st.integers(0, 4), trouble=TROUBLE)
    def deliver_ends_at_once(self, number: int, calls: int, trouble: Trouble) -> None:
        """Let requests end, and the consumers of two shards append the events at once. The log may be empty."""
        if streams := self.system.streams:
            first, *others = self.system.end_some(number)
            second = next((shard for shard in others if shard != first), first)
            streams.consumer.consume(first, BATCH, ConcurrentCall(calls, "consume", second, trouble))

    @rule(app=st.integers(0, 1), which=st.integers(0, 20), limit=st.integers(1, 5))
    def read_feed(self, app: int, which: int, limit: int) -> None:
        """Read a page of the feed behind any cursor that was returned."""
        if streams := self.system.streams:
            streams.read(streams.readers[app], which, limit)

    # --- Webhooks

    @rule(ends=st.one_of(st.none(), CONNECTIONS), number=CHANGES, how=HOW, answers=ANSWERS, trouble=TROUBLE)
    def send_webhooks(self, ends: int | None, number: int, how: str, answers: list[str], trouble: Trouble) -> None:
        """Make the first attempts for the next changes of each shard, or give them up as Lambda does in the end.

        Requests of the connection `ends` end before.
        """
        webhooks = self.system.webhooks
        if not webhooks:
            return
        if ends is not None:
            self.system.end_some(ends)
        webhooks.receiver.answers = answers
        for shard in range(SHARDS):
            if how == "given up":
                webhooks.consumer.skip(shard, number)
            else:
                webhooks.consumer.consume(shard, number, trouble)
            if how == "repeated":
                webhooks.consumer.repeat(shard, number)

    @rule(messages=MESSAGES, are_due=st.booleans(), again=st.booleans(), answers=ANSWERS, trouble=TROUBLE)
    def retry_webhooks(
        self, messages: list[int], are_due: bool, again: bool, answers: list[str], trouble: Trouble
    ) -> None:
        """Deliver messages of the retry queue: in time or early, once or twice."""
        webhooks = self.system.webhooks
        for which in messages:
            if webhooks and (queue := webhooks.queue.attempts):
                message = queue[which % len(queue)]
                if are_due:
                    self.system.clock.now = max(self.system.clock.now, message.not_before + timedelta(seconds=1))
                webhooks.receiver.answers = answers
                webhooks.attempt(message, trouble, again=again)

    @rule()
    def lose_messages(self) -> None:
        """Purge the retry queue, as an operator can do."""
        if webhooks := self.system.webhooks:
            webhooks.queue.attempts.clear()

    # --- Time to live

    @rule()
    def expire(self) -> None:
        """Remove the records that have expired. The stream reports it late."""
        self.system.expire()
