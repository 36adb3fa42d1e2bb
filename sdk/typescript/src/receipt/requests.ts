// Checks the requests of a receipt: each is of its digest, and each is referred to.
import type { Json } from "./canonical.js";
import { at, type Checks, type Claims, digits, exists, list, text } from "./claims.js";
import { need } from "./failure.js";
import { revision } from "./agree.js";
import { capability, hides, live, steps } from "./capability.js";
import { sameBody, sameQuery } from "./value.js";

/** Computes each digest anew and finds one for each that is referred to. */
export function checkRequests(c: Claims, masked: boolean, { sha256 }: Checks): { requests: number; hidden: number } {
  const known = new Map<string, Json>();
  let hidden = 0;
  for (const r of list(c.requests)) {
    const digest = text(at(r, "digest"));
    need(!known.has(digest), "requests", `the request ${digest} stands there twice`);
    const planned = revision(c, text(at(r, "projectId")));
    need(digits(at(r, "projectRevision")) === planned, "requests", `the request ${digest} is of another revision of its project than the plan`);
    if (masked && at(r, "masked") === true) hidden++;
    else need(sha256(...netstrings(r)) === digest, "requests", `the digest ${digest} is not that of the request beside it`);
    known.set(digest, r);
  }
  const requested = (by: Json): boolean => {
    const r = known.get(text(at(by, "requestDigest")));
    const same = r !== undefined && text(at(r, "projectId")) === text(at(by, "projectId")) && text(at(r, "capability")) === text(at(by, "capability"));
    return same && ((masked && at(r, "masked") === true) || text(at(r, "method")) === text(at(capability(c, by), "method")));
  };
  // What masking left out of a request can't be compared.
  const shows = (by: Json): boolean => {
    const [shown, r] = [at(by, "request"), known.get(text(at(by, "requestDigest")))];
    if (masked && at(r, "masked") === true) return true;
    const [method, url] = ["method", "url"].map((name) => text(at(shown, name)) === text(at(r, name)));
    return method === true && url === true && sameBody(at(shown, "headers"), text(at(r, "headers"))) && sameBody(at(shown, "body"), text(at(r, "body"))) && sameQuery(at(shown, "query"), text(at(r, "url")));
  };
  const used = new Set<string>();
  const unseen = new Set<string>(); // steps
  for (const s of steps(c)) {
    const digest = text(at(s, "requestDigest"));
    need(digest !== "" || masked || !live(c) || !exists(at(s, "request")), "requests", `step ${text(at(s, "id"))} shows a request without its digest`);
    need(digest === "" || (exists(at(s, "request")) && requested(s)), "requests", `the request of step ${text(at(s, "id"))} is missing`);
    need(digest === "" || shows(s), "requests", `step ${text(at(s, "id"))} shows another request than the one of its digest`);
    used.add(digest);
    if (hides(c, s)) unseen.add(text(at(s, "id")));
  }
  for (const a of list(c.approvals)) {
    const leftOut = text(at(a, "requestDigest")) === "" && unseen.has(text(at(a, "stepId")));
    need(requested(a) || leftOut, "requests", `the request of approval ${text(at(a, "id"))} is missing`);
    need(text(at(a, "requestDigest")) === "" || shows(a), "requests", `approval ${text(at(a, "id"))} shows another request than the one of its digest`);
    used.add(text(at(a, "requestDigest")));
  }
  for (const digest of known.keys()) need(used.has(digest), "requests", `the request ${digest} is of no step and no approval`);
  return { requests: known.size + unseen.size, hidden: hidden + unseen.size };
}

/** The texts that a request's digest is taken of, each with its length before it. */
function netstrings(r: Json): Uint8Array[] {
  const parts = [text(at(r, "method")), text(at(r, "url")), text(at(r, "body")), text(at(r, "projectId")), digits(at(r, "projectRevision")), text(at(r, "capability"))];
  const headers = text(at(r, "headers"));
  if (headers !== "") parts.push(headers);
  return parts.map((part) => Buffer.from(`${Buffer.byteLength(part)}:${part},`));
}
