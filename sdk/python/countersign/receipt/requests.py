"""Checks the requests of a receipt: each is of its digest, and each is referred to."""

from __future__ import annotations

from .agree import revision
from .canonical import Json
from .capability import capability, hides
from .claims import Claims, at, digits, items, of, sha256
from .failure import need
from .values import same_body, same_query


def check_requests(c: Claims) -> tuple[int, int]:
    """Computes each digest anew and finds one for each that is referred to; gives how many
    there are, and how many of them are hidden."""
    known = _Known(c)
    used: set[str] = set()
    unseen: set[str] = set()  # steps
    for step in c.steps:
        digest, name = of(step, "requestDigest"), of(step, "id")
        found = at(step, "request") is not None and known.requested(step)
        told = digest != "" or at(step, "request") is None or c.masked or not c.live
        need(told, "requests", f"step {name} shows a request without its digest")
        need(digest == "" or found, "requests", f"the request of step {name} is missing")
        need(digest == "" or known.shows(step), "requests", f"step {name} shows another request than the one of its digest")
        used.add(digest)
        if hides(c, step):
            unseen.add(name)
    for a in items(c.approvals):
        digest, name = of(a, "requestDigest"), of(a, "id")
        left_out = digest == "" and of(a, "stepId") in unseen
        need(known.requested(a) or left_out, "requests", f"the request of approval {name} is missing")
        need(digest == "" or known.shows(a), "requests", f"approval {name} shows another request than the one of its digest")
        used.add(digest)
    for digest in known.requests:
        need(digest in used, "requests", f"the request {digest} is of no step and no approval")
    return len(known.requests) + len(unseen), known.hidden + len(unseen)


class _Known:
    """The requests, by their digests."""

    def __init__(self, c: Claims) -> None:
        self._c = c
        self.requests: dict[str, Json] = {}
        self.hidden = 0
        for r in items(c.requests):
            digest = of(r, "digest")
            need(digest not in self.requests, "requests", f"the request {digest} stands there twice")
            planned = digits(at(r, "projectRevision")) == revision(c, of(r, "projectId"))
            need(planned, "requests", f"the request {digest} is of another revision of its project than the plan")
            if self._masked(r):
                self.hidden += 1
            else:
                need(sha256(*_netstrings(r)) == digest, "requests", f"the digest {digest} is not that of the request beside it")
            self.requests[digest] = r

    def _masked(self, request: Json) -> bool:
        return self._c.masked and at(request, "masked") is True

    def requested(self, by: Json) -> bool:
        r = self.requests.get(of(by, "requestDigest"))
        same = r is not None and of(r, "projectId") == of(by, "projectId") and of(r, "capability") == of(by, "capability")
        return same and (self._masked(r) or of(r, "method") == of(capability(self._c, by), "method"))

    def shows(self, by: Json) -> bool:
        """What masking left out of a request can't be compared."""
        shown, r = at(by, "request"), self.requests.get(of(by, "requestDigest"))
        if self._masked(r):
            return True
        same = all(of(shown, name) == of(r, name) for name in ("method", "url"))
        same = same and same_body(at(shown, "headers"), of(r, "headers"))
        return same and same_body(at(shown, "body"), of(r, "body")) and same_query(at(shown, "query"), of(r, "url"))


def _netstrings(r: Json) -> list[bytes]:
    """The texts that a request's digest is taken of, each with its length before it."""
    texts = [of(r, "method"), of(r, "url"), of(r, "body"), of(r, "projectId"), digits(at(r, "projectRevision")), of(r, "capability")]
    if of(r, "headers") != "":
        texts.append(of(r, "headers"))
    return [b"%d:%s," % (len(part), part) for part in (text.encode() for text in texts)]
