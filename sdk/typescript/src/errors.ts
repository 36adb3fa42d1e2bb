/** The codes of the service with their status, as GET /integrations/contract publishes them. */
export const errorCodes = {
  agent_not_admitted: 409,
  approval_expired: 409,
  capacity: 503,
  change_proposed: 409,
  credential_not_allowed: 400,
  csrf: 403,
  drift: 409,
  expectation_not_met: 409,
  expectation_required: 400,
  health_check_required: 409,
  idempotency_conflict: 409,
  idempotency_key_required: 400,
  internal: 500,
  invalid_json: 400,
  invalid_request: 400,
  manifest_conflict: 409,
  method_not_allowed: 405,
  model_invalid: 409,
  not_found: 404,
  origin_not_allowed: 400,
  payload_too_large: 413,
  plan_invalid: 409,
  project_disabled: 409,
  project_in_use: 409,
  project_scope: 403,
  quota_exceeded: 409,
  revision_conflict: 409,
  role_required: 403,
  self_approval: 403,
  assertion_required: 403,
  assertion_invalid: 403,
  sequence_conflict: 409,
  state_conflict: 409,
  unauthenticated: 401,
  unavailable: 503,
} as const;

/** A code that this version knows, or one that a newer service has added. */
export type ErrorCode = keyof typeof errorCodes | (string & {});

/** What an error of a run start also says: the key to ask again with. */
interface Keyed {
  idempotencyKey?: string | undefined;
}

/** The service's own answer; below status 500 a refusal: nothing was done. */
export class CountersignError extends Error {
  override readonly name = "CountersignError";
  readonly code: ErrorCode;
  readonly status: number;
  /** Finds the request in the service's log. */
  readonly requestId: string | undefined;
  /** How long the service asks to wait, in seconds. */
  readonly retryAfter: number | undefined;
  readonly idempotencyKey: string | undefined;

  constructor(code: ErrorCode, message: string, about: { status: number; requestId?: string | undefined; retryAfter?: number | undefined } & Keyed) {
    super(message);
    this.code = code;
    this.status = about.status;
    this.requestId = about.requestId;
    this.retryAfter = about.retryAfter;
    this.idempotencyKey = about.idempotencyKey;
  }
}

/**
 * No answer, or none that can be read: whether the service carried the request out
 * is not known. A run start may be asked again with the same idempotencyKey; for
 * any other write, read first what became of it.
 */
export class CountersignConnectionError extends Error {
  override readonly name = "CountersignConnectionError";
  /** The status, where one came: of a proxy's page, say. */
  readonly status: number | undefined;
  readonly idempotencyKey: string | undefined;

  constructor(message: string, about: { status?: number | undefined } & Keyed = {}) {
    super(message);
    this.status = about.status;
    this.idempotencyKey = about.idempotencyKey;
  }
}

/** Whether waiting may help: nothing came, or the service says that it can't just now. */
export function isTemporary(error: unknown): boolean {
  return error instanceof CountersignConnectionError || (error instanceof CountersignError && error.status >= 500);
}
