/** The sections of a receipt, in their order. */
export const sections = ["approvals", "audit", "plan", "requests", "run", "statement"] as const;

/** The sections, and what stands around them. */
export type ReceiptPart = (typeof sections)[number] | "frame" | "contents" | "signature";

/** The formats that this verifier knows: the first, and that of receipts with anything of the third edition. */
export const formats: readonly string[] = ["countersign-receipt/1", "countersign-receipt/2"];

/** UnknownFormat ends a verification of a receipt of a later release: nothing is said of whether it is valid. */
export class UnknownFormat extends Error {
  readonly format: string;

  constructor(format: string) {
    super(`it is of the format ${format}, which this release doesn't know; verify it with a later one`);
    this.format = format;
  }
}

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
