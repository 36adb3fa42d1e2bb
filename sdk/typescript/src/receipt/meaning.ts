// Checks what the sections of a receipt say of each other.
import { Digits, type Json } from "./canonical.js";
import { need } from "./failure.js";
import { checkPlan, checkRun, checkSteps, revision } from "./agree.js";
import { checkApprovals, checkAsked } from "./asked.js";
import { capability, checkGate, hides, steps } from "./gate.js";
import { checkAudit } from "./log.js";
import { moment } from "./moment.js";
import { summary } from "./summary.js";
import { sameBody, sameQuery } from "./value.js";

/** What a receipt says, as far as it was checked. */
export interface Told {
  /** The first line of the verdict: "valid", and what was left out. */
  summary: string;
  runId: string;
  status: string;
  mode: string;
  tenantId: string;
  issuedAt: string;
  /** It was made for somebody who must not see sensitive values. */
  masked: boolean;
  /** Of the signed tree head; compare them with what the log says later. */
  treeSize: number;
  treeRoot: string;
  /** Audit records that are proven to stand in the log, and those that were left out. */
  records: number;
  leftOut: number;
  /** Distinct requests, and how many of them are masked and not checked. */
  requests: number;
  hidden: number;
  approved: number;
  /** Decisions whose audit record masking left out: only the signature says them. */
  unlogged: number;
}

export interface Checks {
  sha256(...parts: Uint8Array[]): string;
  /** By the key of the receipt. */
  signed(text: Uint8Array, signature: string): boolean;
}

export type Claims = Record<"approvals" | "audit" | "plan" | "requests" | "run" | "statement", Json>;

// What is missing, or of another type, reads as nothing.
export const at = (v: Json | undefined, name: string): Json | undefined => (v instanceof Map ? v.get(name) : undefined);
export const has = (v: Json | undefined, name: string): boolean => v instanceof Map && v.has(name);
export const text = (v: Json | undefined): string => (typeof v === "string" ? v : "");
export const list = (v: Json | undefined): Json[] => (Array.isArray(v) ? v : []);
export const exists = (v: Json | undefined): v is Json => v !== undefined && v !== null;
export const digits = (v: Json | undefined): string => (v instanceof Digits ? v.text : "");
/** A number that counts something, below 10^15; -1 for anything else. */
export const whole = (v: Json | undefined): number => (/^[0-9]{1,15}$/.test(digits(v)) ? Number(digits(v)) : -1);

export function meaning(c: Claims, checks: Checks): Told {
  const masked = at(c.statement, "masked");
  need(typeof masked === "boolean", "statement", "masked must be true or false");
  const issuedAt = text(at(c.statement, "issuedAt"));
  need(moment(issuedAt) !== "" && issuedAt === text(at(at(c.audit, "head"), "at")), "statement", "issuedAt must be a time in UTC, that of the tree head");
  const runId = text(at(c.run, "id"));
  need(runId !== "" && text(at(c.statement, "runId")) === runId, "statement", "it is about another run than the section run");
  checkRun(c);
  const planHidden = checkPlan(c, checks);
  checkSteps(c);
  checkApprovals(c);
  const requests = checkRequests(c, masked, checks);
  checkAsked(c);
  checkGate(c);
  const log = checkAudit(c, checks);
  const of = (name: string) => text(at(c.run, name));
  const line = summary({ masked, planHidden, ...requests, ...log });
  return { summary: line, runId, status: of("status"), mode: of("mode"), tenantId: text(at(c.statement, "tenantId")), issuedAt, masked, ...requests, ...log };
}

/** Computes each digest anew and finds one for each that is referred to. */
function checkRequests(c: Claims, masked: boolean, { sha256 }: Checks): { requests: number; hidden: number } {
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
    return method === true && url === true && sameBody(at(shown, "body"), text(at(r, "body"))) && sameQuery(at(shown, "query"), text(at(r, "url")));
  };
  const used = new Set<string>();
  const unseen = new Set<string>(); // steps
  for (const s of steps(c)) {
    const digest = text(at(s, "requestDigest"));
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
  return parts.map((part) => Buffer.from(`${Buffer.byteLength(part)}:${part},`));
}
