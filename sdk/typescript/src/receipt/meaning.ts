// Checks what the sections of a receipt say of each other.
import { at, type Checks, type Claims, redacted, text } from "./claims.js";
import { need } from "./failure.js";
import { Answers, type SignedAnswer } from "./answers.js";
import { checkAnswers } from "./settled.js";
import { checkPlan, checkRun, checkSteps } from "./agree.js";
import { checkApprovals, checkAsked } from "./asked.js";
import { checkGate } from "./gate.js";
import { checkAudit } from "./log.js";
import { moment } from "./moment.js";
import { checkRedacted } from "./redacted.js";
import { checkRequests } from "./requests.js";
import { checkLooks, checkSendings } from "./looks.js";
import { checkStates } from "./states.js";
import { summary } from "./summary.js";
import type { Cosigned } from "./cosigned.js";
import type { Policy } from "./witnesses.js";

/** What a receipt says, as far as it was checked. */
export interface Told {
  /** The first line of the verdict: the epoch of the log, where the receipt has a cosigned head, "valid", and what was left out. */
  summary: string;
  runId: string;
  status: string;
  mode: string;
  tenantId: string;
  issuedAt: string;
  /** It was made for somebody who must not see sensitive values. */
  masked: boolean;
  /** What the run held was removed. */
  redacted: boolean;
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
  /** The head of the log that contains the receipt and that witnesses have cosigned; absent if it has none. */
  cosigned?: Cosigned;
  /** Those that their receivers signed. */
  answers?: SignedAnswer[];
  /** Answers that are said to be signed, and whose signature isn't shown. */
  unshown?: number;
}

export function meaning(c: Claims, policy: Policy, checks: Checks, answerKeys: readonly string[]): Told {
  const masked = at(c.statement, "masked");
  need(typeof masked === "boolean", "statement", "masked must be true or false");
  const issuedAt = text(at(c.statement, "issuedAt"));
  need(moment(issuedAt) !== "" && issuedAt === text(at(at(c.audit, "head"), "at")), "statement", "issuedAt must be a time in UTC, that of the tree head");
  const runId = text(at(c.run, "id"));
  need(runId !== "" && text(at(c.statement, "runId")) === runId, "statement", "it is about another run than the section run");
  checkRedacted(c);
  checkRun(c);
  const planHidden = checkPlan(c, checks);
  checkSteps(c);
  checkApprovals(c);
  const requests = checkRequests(c, masked, checks);
  checkAsked(c);
  checkGate(c);
  const { placed, course, ...log } = checkAudit(c, policy, checks);
  const answers = new Answers(c, placed, answerKeys, checks.signedBy);
  checkAnswers(answers);
  checkStates(c, course);
  checkLooks(c, course);
  checkSendings(c, course);
  const of = (name: string) => text(at(c.run, name));
  const line = summary({ masked, redacted: redacted(c), planHidden, ...requests, ...log, unshown: answers.unshown });
  const signed = { ...(answers.found.length > 0 ? { answers: answers.found } : {}), ...(answers.unshown > 0 ? { unshown: answers.unshown } : {}) };
  return { summary: line, runId, status: of("status"), mode: of("mode"), tenantId: text(at(c.statement, "tenantId")), issuedAt, masked, redacted: redacted(c), ...requests, ...log, ...signed };
}
