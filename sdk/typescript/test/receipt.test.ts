// The two verifiers agree: a thousand generated receipts, a mutant of each, and of the
// forgeries of one member that a signer can make a drawn share (all with COUNTERSIGN_ALL
// set), by the generator of internal/evidence/receipt.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { verifyReceipt } from "../src/receipt/index.js";
import { canonical, Digits } from "../src/receipt/canonical.js";
import { folded } from "../src/receipt/folded.js";
import { judge } from "../src/receipt/gaterules.js";
import { moment } from "../src/receipt/moment.js";
import { holdersAlone } from "../src/receipt/publickey.js";
import { encoded, plainNumber } from "../src/receipt/value.js";
import { repository } from "./support/binary.js";
import { inBrowser, script } from "./support/inbrowser.js";
import { bundled } from "../scripts/browser.mjs";

interface Case {
  how: string;
  key: string;
  file: string;
  answerKeys?: string[];
  verdict: { ok: boolean; section?: string; [told: string]: unknown };
  witnesses?: string[];
  quorum?: number;
  epoch?: number;
}

let folder: string;
let cases: (Case & { bytes: Buffer })[];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "receipts-"));
  const target = join(folder, "cases");
  execFileSync("go", ["test", "./internal/evidence/receipt", "-vet=off", "-count=1", "-run", "^TestMutants", "-write", target], { cwd: repository, stdio: ["ignore", "ignore", "inherit"] });
  const lines = readFileSync(target, "utf8").trimEnd().split("\n");
  cases = lines.map((line) => JSON.parse(line) as Case).map((c) => ({ ...c, bytes: Buffer.from(c.file, "base64") }));
}, 300_000);

afterAll(() => rmSync(folder, { recursive: true }));

test("both verifiers come to the same verdict and name the same section", () => {
  const count = { good: 0, bad: 0 };
  for (const { bytes, key, verdict, how, answerKeys, witnesses, quorum, epoch } of cases) {
    const { problem: _, ...ours } = verifyReceipt(bytes, key, { answerKeys: answerKeys ?? [], ...(witnesses && { witnesses }), ...(quorum !== undefined && { quorum }), ...(epoch !== undefined && { epoch }) }) as Record<string, unknown>;
    if (verdict.ok) expect(ours, how).toEqual({ ...verdict, problem: undefined });
    else expect(ours, how).toEqual({ ok: false, section: verdict.section, unknownFormat: verdict.unknownFormat });
    count[verdict.ok ? "good" : "bad"]++;
  }
  expect(count.good).toBeGreaterThanOrEqual(1000);
  expect(count.bad).toBeGreaterThan(2000);
}, 300_000);

test("the script for browsers is that of these sources: npm run browser", () => expect(script === bundled()).toBe(true));

test("in a browser it comes to the same verdict, with the same words", async () => {
  const browser = inBrowser();
  const count = { good: 0, bad: 0 };
  const share = process.env["COUNTERSIGN_ALL"] ? 1 : 17;
  for (const { bytes, key, verdict, how, answerKeys, witnesses, quorum, epoch } of cases.filter((_, i) => i % share === 0)) {
    const reader = { answerKeys: answerKeys ?? [], ...(witnesses && { witnesses }), ...(quorum !== undefined && { quorum }), ...(epoch !== undefined && { epoch }) };
    expect(await browser.verify(new Uint8Array(bytes), key, reader), how).toEqual(verifyReceipt(bytes, key, reader));
    count[verdict.ok ? "good" : "bad"]++;
  }
  expect(count.good).toBeGreaterThan(50);
  expect(count.bad).toBeGreaterThan(100);
});

test("a browser without what it takes says so, and not that the receipt fails", async () => {
  const { bytes, key } = cases.find((c) => c.verdict.ok) as (typeof cases)[0];
  await expect(inBrowser({}).verify(new Uint8Array(bytes), key)).rejects.toThrow("only over https");
  const unsupported = Object.assign(new Error("no"), { name: "NotSupportedError" });
  await expect(inBrowser({ subtle: { importKey: () => Promise.reject(unsupported) } }).verify(new Uint8Array(bytes), key)).rejects.toThrow("can’t check signatures by Ed25519");
});

test("hashes in a browser are SHA-256", () => {
  const { sha256 } = inBrowser();
  for (const length of [0, 1, 54, 55, 56, 57, 63, 64, 65, 119, 120, 128, 1000, 100_003]) {
    const bytes = Buffer.alloc(length, `${length}x`);
    expect(sha256(new Uint8Array(bytes)), String(length)).toBe(createHash("sha256").update(bytes).digest("hex"));
  }
});

test("a receipt of another key, and one whose origin isn't asked for", () => {
  const { bytes, key } = cases[0] as (typeof cases)[0];
  const other = key.startsWith("0") ? `1${key.slice(1)}` : `0${key.slice(1)}`;
  expect(verifyReceipt(bytes, other)).toMatchObject({ ok: false, section: "signature" });
  expect(verifyReceipt(bytes)).toMatchObject({ ok: true, origin: false, publicKey: key });
  expect(() => verifyReceipt(bytes, key.toUpperCase())).toThrow(TypeError);
});

test("the rules mean the same to all verifiers", () => {
  const lines = readFileSync(join(repository, "internal/rules/gate/testdata/cases.jsonl"), "utf8").trimEnd().split("\n");
  for (const line of lines) {
    const { name, rules, asks, input, open, now, before } = JSON.parse(line) as { name: string; rules: unknown[]; asks: boolean; input: unknown; open: string[]; now: unknown; before: unknown };
    const value = (v: unknown) => canonical(Buffer.from(encoded(plain(v))), "run");
    for (const [edition, want] of [[3, now], [0, before]] as const) {
      expect(judge(edition, value(rules) as never, asks, value(input), open), name).toEqual(want);
    }
  }
  expect(lines.length).toBeGreaterThan(30);
});

/** What JSON.parse made, with numbers as the verifier has them. */
function plain(v: unknown): never {
  if (typeof v === "number") return new Digits(plainNumber(String(v))) as never;
  if (Array.isArray(v)) return v.map(plain) as never;
  if (typeof v === "object" && v !== null) return new Map(Object.entries(v).map(([name, value]) => [name, plain(value)])) as never;
  return v as never;
}

test("names fold by the table of all verifiers", () => {
  const lines = readFileSync(join(repository, "internal/rules/folded/testdata/folds.txt"), "utf8").trimEnd().split("\n").slice(1);
  const folds = new Map<number, number>();
  for (const line of lines) {
    const [first, last, step, added] = line.split(" ").map(Number) as [number, number, number, number];
    for (let letter = first; letter <= last; letter += step) folds.set(letter, letter + added);
  }
  for (let letter = 0; letter <= 0x10ffff; letter++) {
    if (folded(String.fromCodePoint(letter)) !== String.fromCodePoint(folds.get(letter) ?? letter)) expect.fail(`U+${letter.toString(16)}`);
  }
});

test("of a format that it doesn't know it says so, and not that the receipt fails", () => {
  const { bytes, key } = cases[0] as (typeof cases)[0];
  const later = Buffer.from(bytes.toString("latin1").replace(/countersign-receipt\/[12]/, "countersign-receipt/3"), "latin1");
  expect(verifyReceipt(later, key)).toMatchObject({ ok: false, section: "contents", unknownFormat: "countersign-receipt/3" });
});

test("both verifiers take times of one form", () => {
  const lines = readFileSync(join(repository, "internal/evidence/receipt/testdata/times.txt"), "utf8").trimEnd().split("\n");
  for (const line of lines.filter((l) => !l.startsWith("#"))) {
    const [kind, value] = [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)];
    expect(moment(value) !== "", line).toBe(kind === "good");
  }
});

test("texts have one spelling", () => {
  expect(encoded('C:\\bin \b\f\n\r\t\x1f"\u2028')).toBe('"C:\\\\bin \\u0008\\u000c\\n\\r\\t\\u001f\\"\u2028"');
});

test("numbers have one spelling", () => {
  const spelled = { "0": "0", "-0": "0", "0.0e5": "0", "1.50": "15e-1", "100": "100", "1e20": "100000000000000000000", "1e21": "1e21", "-12.000e-3": "-12e-3", "1E+400": "1e400", "0.010": "1e-2" };
  for (const [number, plain] of Object.entries(spelled)) expect(plainNumber(number), number).toBe(plain);
});

test("a key of small order is no key", () => {
  const lines = readFileSync(join(repository, "internal/evidence/receipt/testdata/smallorder.txt"), "utf8").trimEnd().split("\n");
  for (const key of lines.filter((l) => !l.startsWith("#"))) expect(holdersAlone(Buffer.from(key, "hex")), key).toBe(false);
  expect(holdersAlone(Buffer.from("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "hex"))).toBe(true);
});
