// The two verifiers agree: a thousand generated receipts, and a mutant of each, by
// the generator of internal/receipt.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { verifyReceipt } from "../src/receipt/index.js";
import { repository } from "./support/binary.js";

interface Case {
  how: string;
  key: string;
  file: string;
  verdict: { ok: boolean; section?: string; [told: string]: unknown };
}

let folder: string;
let cases: (Case & { bytes: Buffer })[];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "receipts-"));
  const target = join(folder, "cases");
  execFileSync("go", ["test", "./internal/receipt", "-count=1", "-run", "^TestMutants", "-write", target], { cwd: repository, stdio: ["ignore", "ignore", "inherit"] });
  const lines = readFileSync(target, "utf8").trimEnd().split("\n");
  cases = lines.map((line) => JSON.parse(line) as Case).map((c) => ({ ...c, bytes: Buffer.from(c.file, "base64") }));
}, 300_000);

afterAll(() => rmSync(folder, { recursive: true }));

test("both verifiers come to the same verdict and name the same section", () => {
  const count = { good: 0, bad: 0 };
  for (const { bytes, key, verdict, how } of cases) {
    const { problem: _, ...ours } = verifyReceipt(bytes, key) as Record<string, unknown>;
    if (verdict.ok) expect(ours, how).toEqual({ ...verdict, problem: undefined });
    else expect(ours, how).toEqual({ ok: false, section: verdict.section });
    count[verdict.ok ? "good" : "bad"]++;
  }
  expect(count).toEqual({ good: 1000, bad: 1000 });
}, 300_000);

test("a receipt of another key, and one whose origin isn't asked for", () => {
  const { bytes, key } = cases[0] as (typeof cases)[0];
  const other = key.startsWith("0") ? `1${key.slice(1)}` : `0${key.slice(1)}`;
  expect(verifyReceipt(bytes, other)).toMatchObject({ ok: false, section: "signature" });
  expect(verifyReceipt(bytes)).toMatchObject({ ok: true, origin: false, publicKey: key });
  expect(() => verifyReceipt(bytes, key.toUpperCase())).toThrow(TypeError);
});
