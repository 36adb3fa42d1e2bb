// Verifies the head of the log that witnesses have cosigned, and the way from there to the
// receipt's own head: "The cosigned head" of the specification.
import { at, type Checks, type Claims, exists, list, text, whole } from "./claims.js";
import { need } from "./failure.js";
import { base64, noteName, type Policy, type WitnessKey } from "./witnesses.js";

/** The cosigned head of a receipt. */
export interface Cosigned {
  /** Of the log: 0 is the first, and another is another log. */
  epoch: number;
  origin: string;
  size: number;
  root: string;
  /** Who of the witnesses that were asked has cosigned it, and when. */
  by: { witness: string; at: string }[];
}

interface Head {
  origin: string;
  size: number;
  root: string;
}

interface Line {
  name: string;
  data: Buffer;
}

/** checkCosigned is undefined for a receipt without a cosigned head. `last` is the number of its last record. */
export function checkCosigned(c: Claims, last: number, policy: Policy, checks: Checks): Cosigned | undefined {
  const given = at(c.audit, "cosigned");
  if (!exists(given)) {
    need(policy.quorum === 0, "audit", "no witness has cosigned a head of the log that contains the receipt; one that is got later may have it");
    return undefined;
  }
  need(c.format !== "countersign-receipt/1", "audit", "this format has no cosigned head");
  const { signed, lines, ...head } = noteOf(text(at(given, "checkpoint")));
  const epoch = epochOf(head.origin, text(at(c.statement, "tenantId")), checks);
  need(epoch === 0 || epoch === policy.epoch, "audit", `the cosigned head is of epoch ${epoch} of its log, ${head.origin}, and that epoch was not named`);
  const by = policy.witnesses.flatMap((witness) => cosignedBy(witness, signed, lines, checks));
  need(by.length >= policy.quorum, "audit", `${by.length} of the ${policy.witnesses.length} witnesses that were given have cosigned the head of ${head.size} records, and ${policy.quorum} were asked for`);
  const own = { size: whole(at(at(c.audit, "head"), "size")), root: text(at(at(c.audit, "head"), "root")) };
  const path = list(at(given, "proof")).map(text);
  const contains = head.size > Math.max(last, 0) && head.size <= own.size && leads(path, head, own, checks);
  need(contains, "audit", `the cosigned head of ${head.size} records is not proven to be on the way to the receipt's own, with each of its records`);
  return { epoch, ...head, by };
}

const notOne = "it is no checkpoint: an origin, a size and a hash in base64, each on a line";
const maxNote = 64 * 1024;
const maxLines = 100;
const lineForm = new RegExp(`^— (${noteName}) ([A-Za-z0-9+/]+={0,2})$`);

/** noteOf reads a signed note with a checkpoint. */
function noteOf(note: string): Head & { signed: string; lines: Line[] } {
  const end = note.lastIndexOf("\n\n");
  const form = Buffer.byteLength(note) <= maxNote && end >= 0 && note.endsWith("\n") && !/[\u0000-\u0009\u000b-\u001f]/.test(note);
  need(form, "audit", notOne);
  const signed = note.slice(0, end + 1);
  const below = note.slice(end + 2, -1).split("\n");
  need(below.length <= maxLines, "audit", notOne);
  const lines = below.map((line) => {
    const found = lineForm.exec(line);
    const data = base64(found?.[2] ?? "");
    need(found !== null && data !== undefined && data.length > 4, "audit", notOne);
    return { name: found[1] as string, data };
  });
  const [origin, size, root, ...more] = signed.slice(0, -1).split("\n");
  const hash = base64(root ?? "");
  const number = /^(0|[1-9][0-9]{0,14})$/.test(size ?? "") ? Number(size) : -1;
  need(origin !== undefined && origin !== "" && number >= 0 && hash?.length === 32 && !more.includes(""), "audit", notOne);
  return { origin, size: number, root: hash.toString("hex"), signed, lines };
}

function epochOf(origin: string, log: string, { sha256 }: Checks): number {
  const found = /^countersign\/[0-9A-Za-z._-]{1,64}\/([0-9a-f]{16})(?:\/([1-9][0-9]{0,8}))?$/.exec(origin);
  need(found?.[1] === sha256(Buffer.from(log)).slice(0, 16), "audit", `the cosigned head is of another log: ${origin}`);
  return Number(found?.[2] ?? 0);
}

const timeBytes = 8;
const endOfTime = 253_402_300_800n; // the year 10000

/** The first valid cosignature of a text by a witness. */
function cosignedBy(witness: WitnessKey, signed: string, lines: Line[], { signedBy }: Checks): Cosigned["by"] {
  for (const { name, data } of lines) {
    if (name !== witness.name || data.toString("hex", 0, 4) !== witness.hash || data.length !== 4 + timeBytes + 64) continue;
    const seconds = data.readBigUInt64BE(4);
    const text = Buffer.from(`cosignature/v1\ntime ${seconds}\n${signed}`);
    if (seconds >= endOfTime || !signedBy(witness.publicKey, text, data.toString("hex", 4 + timeBytes))) continue;
    return [{ witness: witness.vkey, at: new Date(Number(seconds) * 1000).toISOString().replace(".000Z", "Z") }];
  }
  return [];
}

/** leads reports a path from an earlier head to a later one: RFC 6962, 2.1.2. */
function leads(path: string[], from: { size: number; root: string }, to: { size: number; root: string }, { sha256 }: Checks): boolean {
  if (!path.every((step) => /^[0-9a-f]{64}$/.test(step))) return false;
  const node = (left: string, right: string) => sha256(Buffer.from(`01${left}${right}`, "hex"));
  /** The roots of the first n records, and of all, of those from lo to hi; undefined where the path is of no such tree. */
  const roots = (path: string[], lo: number, hi: number): [string, string] | undefined => {
    const last = path.at(-1);
    if (from.size === hi) {
      if (lo === 0) return path.length === 0 ? [from.root, from.root] : undefined;
      return path.length === 1 && last !== undefined ? [last, last] : undefined;
    }
    if (last === undefined) return undefined;
    let half = 1;
    while (half * 2 < hi - lo) half *= 2;
    const left = from.size <= lo + half;
    const found = left ? roots(path.slice(0, -1), lo, lo + half) : roots(path.slice(0, -1), lo + half, hi);
    if (found === undefined) return undefined;
    return left ? [found[0], node(found[1], last)] : [node(last, found[0]), node(last, found[1])];
  };
  const found = roots(path, 0, to.size);
  return found?.[0] === from.root && found[1] === to.root;
}
