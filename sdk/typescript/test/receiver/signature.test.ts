// The vectors that the Go definition is checked by, read from the repository.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { SignatureError, verifySignature } from "../../src/receiver/index.js";

interface Vector {
  name: string;
  secrets: string[];
  method: string;
  target: string;
  headers: Record<string, string | string[]>;
  bodyBase64: string;
  now: number;
  valid: boolean;
  reason: string;
}

const vectors: Vector[] = JSON.parse(readFileSync(new URL("../../../../receiver/testdata/signature-vectors.json", import.meta.url), "utf8"));

function verdict(vector: Vector): string {
  try {
    verifySignature({ ...vector, body: Buffer.from(vector.bodyBase64, "base64") });
    return "";
  } catch (error) {
    if (error instanceof SignatureError) return error.reason;
    throw error;
  }
}

describe("the shared vectors", () => {
  test("there are enough of them, of each kind", () => {
    expect(vectors.length).toBeGreaterThanOrEqual(30);
    const kinds = ["", "line_break", "missing_header", "no_secret", "signature", "timestamp"];
    expect([...new Set(vectors.map((vector) => vector.reason))].sort()).toEqual(kinds);
  });

  test.each(vectors.map((vector) => [vector.name, vector] as const))("%s", (_, vector) => {
    expect(verdict(vector)).toBe(vector.valid ? "" : vector.reason);
  });
});

test("a verified call says what it is", () => {
  const vector = vectors.find(({ valid }) => valid) as Vector;
  expect(verifySignature({ ...vector, body: Buffer.from(vector.bodyBase64, "base64") })).toEqual({
    method: vector.method,
    target: vector.target,
    runId: vector.headers["X-Runtime-Run-Id"],
    stepId: vector.headers["X-Runtime-Step-Id"],
    idempotencyKey: vector.headers["Idempotency-Key"],
    sentAt: new Date(Number(vector.headers["X-Runtime-Timestamp"]) * 1000),
  });
});

test("headers may come as pairs, as fetch's Headers, or by name", () => {
  const vector = vectors.find(({ valid }) => valid) as Vector;
  const body = Buffer.from(vector.bodyBase64, "base64");
  const pairs = Object.entries(vector.headers) as [string, string][];
  for (const headers of [pairs, new Headers(pairs), Object.fromEntries(pairs)]) expect(verifySignature({ ...vector, headers, body }).runId).toBe("run-1");
  const twice = [...pairs, ["idempotency-key", "run-1.refund"] as [string, string]];
  expect(() => verifySignature({ ...vector, headers: twice, body })).toThrow("missing_header");
});

test("no secret shows in a refusal", () => {
  const vector = vectors.find(({ reason }) => reason === "signature") as Vector;
  const thrown = () => verifySignature({ ...vector, secrets: ["do-not-show"], body: new Uint8Array() });
  expect(thrown).toThrow(SignatureError);
  expect(thrown).toThrow(expect.not.stringContaining("do-not-show"));
});
