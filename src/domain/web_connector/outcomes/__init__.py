"""Outcomes: how a request in flight continues after a response, an exception, or the end of its session.

What happens to a lost response:

1. The session ends without it. `session/end.py` releases the request by `lost_response.after_session_end`. A request
   that was never sent waits again. A read is sent in a later session, at most MAX_SESSIONS times. A write is recovered.
2. A write in recovery is first in the queue. The next session claims it, and `session/sending.py` sends
   `message_sets.status_check` in its place, which asks QuickBooks for the stored response.
3. `outcome.of_response` reads the answer. A stored response ends the request like any other. If QuickBooks never
   executed the write, the session sends it. While QuickBooks may still be executing it, it is asked again later. If
   QuickBooks cannot tell, the write ends as `outcome_unknown`.
"""
