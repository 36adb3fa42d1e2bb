// Checks what the sections of a receipt say of each other.
import { Digits, type Json } from "./canonical.js";
import { need } from "./failure.js";
import { checkGate, checkSteps, hides, steps } from "./gate.js";
import { checkAudit } from "./log.js";
import { summary } from "./summary.js";

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

const ended = ["COMPLETED", "FAILED", "CANCELLED"];

export function meaning(c: Claims, checks: Checks): Told {
  const masked = at(c.statement, "masked");
  need(typeof masked === "boolean", "statement", "masked must be true or false");
  const runId = text(at(c.run, "id"));
  need(runId !== "" && text(at(c.statement, "runId")) === runId, "statement", "it is about another run than the section run");
  need(ended.includes(text(at(c.run, "status"))), "run", "the run has not ended");
  const samePlan = text(at(c.plan, "id")) === text(at(c.run, "planId")) && text(at(c.plan, "planDigest")) === text(at(c.run, "planDigest"));
  need(samePlan, "plan", "it is another plan than the run's");
  const noPlanDigest = text(at(c.run, "planDigest")) === "";
  need(masked || !noPlanDigest, "plan", "its digest is missing");
  checkSteps(c);
  const known = new Set<string>();
  for (const a of list(c.approvals)) {
    const id = text(at(a, "id"));
    need(text(at(a, "runId")) === runId, "approvals", `approval ${id} is of another run`);
    need(!known.has(id), "approvals", `approval ${id} stands there twice`);
    known.add(id);
  }
  const requests = checkRequests(c, masked, checks);
  checkGate(c);
  const log = checkAudit(c, checks);
  const of = (name: string) => text(at(c.run, name));
  const line = summary({ masked, noPlanDigest, ...requests, ...log });
  return { summary: line, runId, status: of("status"), mode: of("mode"), tenantId: text(at(c.statement, "tenantId")), issuedAt: text(at(c.statement, "issuedAt")), masked, ...requests, ...log };
}

/** Computes each digest anew and finds one for each that is referred to. */
function checkRequests(c: Claims, masked: boolean, { sha256 }: Checks): { requests: number; hidden: number } {
  const known = new Map<string, Json>();
  let hidden = 0;
  for (const r of list(c.requests)) {
    const digest = text(at(r, "digest"));
    if (masked && at(r, "masked") === true) hidden++;
    else need(sha256(...netstrings(r)) === digest, "requests", `the digest ${digest} is not that of the request beside it`);
    known.set(digest, r);
  }
  const requested = (by: Json): boolean => {
    const r = known.get(text(at(by, "requestDigest")));
    return r !== undefined && text(at(r, "projectId")) === text(at(by, "projectId")) && text(at(r, "capability")) === text(at(by, "capability"));
  };
  const unseen = new Set<string>(); // steps
  for (const s of steps(c)) {
    const digest = text(at(s, "requestDigest"));
    need(digest === "" || !exists(at(s, "request")) || requested(s), "requests", `the request of step ${text(at(s, "id"))} is missing`);
    if (hides(c, s)) unseen.add(text(at(s, "id")));
  }
  for (const a of list(c.approvals)) {
    const leftOut = text(at(a, "requestDigest")) === "" && unseen.has(text(at(a, "stepId")));
    need(requested(a) || leftOut, "requests", `the request of approval ${text(at(a, "id"))} is missing`);
  }
  return { requests: known.size + unseen.size, hidden: hidden + unseen.size };
}

/** The texts that a request's digest is taken of, each with its length before it. */
function netstrings(r: Json): Uint8Array[] {
  const parts = [text(at(r, "method")), text(at(r, "url")), text(at(r, "body")), text(at(r, "projectId")), digits(at(r, "projectRevision")), text(at(r, "capability"))];
  return parts.map((part) => Buffer.from(`${Buffer.byteLength(part)}:${part},`));
}
