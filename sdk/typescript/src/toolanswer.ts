/** In one word what became of a call; a newer service may have more. */
export type Outcome =
  | "REHEARSED"
  | "WAITING_FOR_A_PERSON"
  | "RUNNING"
  | "HELD"
  | "DONE"
  | "REFUSED"
  | "NOT_AS_EXPECTED"
  | "UNKNOWN"
  | "STOPPED"
  | (string & {});

/** A step of a call's run, as the model is told of it. */
export interface ToolStep {
  id: string;
  capability: string;
  status: string;
  request?: unknown;
  output?: unknown;
  verification?: unknown;
  error?: { code: string; message: string };
  /** What the API said to a step that FAILED. */
  response?: { statusCode: number; body?: string };
  wouldBe?: string;
  mayHaveHappened?: boolean;
  [member: string]: unknown;
}

/** What a call came to, for the model to read. A call that came to no run has `error`, a code, and no `steps`. */
export interface ToolAnswer {
  outcome: Outcome;
  /** What the outcome means, and what to do. */
  message: string;
  /** Where a person acts. */
  url: string | null;
  runId: string | null;
  startedAt: string | null;
  endedAt?: string;
  /** An earlier call made the run. */
  replayed: boolean;
  error?: string;
  status?: string;
  mode?: string;
  waitingFor?: { kind: string; approvalId?: string; [member: string]: unknown };
  steps?: ToolStep[];
  /** What a reviewer who rejected it would approve. */
  suggestedInput?: Record<string, unknown>;
  mayHaveHappened?: boolean;
  /** Seconds. */
  retryAfter?: number;
  requestId?: string;
  [member: string]: unknown;
}
