/** The sections of a receipt, in their order. */
export const sections = ["approvals", "audit", "plan", "requests", "run", "statement"] as const;

/** The sections, and what stands around them. */
export type ReceiptPart = (typeof sections)[number] | "frame" | "contents" | "signature";

/** Failure ends a verification at the first part that fails. */
export class Failure extends Error {
  readonly section: ReceiptPart;

  constructor(section: ReceiptPart, problem: string) {
    super(problem);
    this.section = section;
  }
}

export function fail(section: ReceiptPart, problem: string): never {
  throw new Failure(section, problem);
}

export function need(ok: boolean, section: ReceiptPart, problem: string): asserts ok {
  if (!ok) fail(section, problem);
}
