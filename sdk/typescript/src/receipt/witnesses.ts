// What a reader asks of witnesses (C2SP tlog-cosignature), and their keys.
import { createHash } from "node:crypto";
import { holdersAlone } from "./publickey.js";

/** What is asked of the cosigned head of a receipt. */
export interface Asked {
  /** The vkeys of witnesses. */
  witnesses?: readonly string[];
  /** So many of them must have cosigned; absent: all. */
  quorum?: number;
  /** This epoch of the log is taken besides the first. */
  epoch?: number;
}

/** A witness's key. */
export interface WitnessKey {
  vkey: string;
  name: string;
  /** Of name and key, 8 digits of hex. */
  hash: string;
  /** 64 digits of hex. */
  publicKey: string;
}

export interface Policy {
  witnesses: WitnessKey[];
  quorum: number;
  epoch: number;
}

/** Reads what is asked; a TypeError says what of it is none. */
export function policyOf({ witnesses = [], quorum, epoch = 0 }: Asked): Policy {
  const keys = witnesses.map(witnessKey);
  if (new Set(keys.map((k) => k.publicKey)).size < keys.length) throw new TypeError("witnesses: the same key stands twice: one witness counts once");
  if (quorum !== undefined && !(Number.isInteger(quorum) && quorum >= 1 && quorum <= keys.length)) throw new TypeError("quorum must be between 1 and the number of witnesses");
  if (!(Number.isInteger(epoch) && epoch >= 0)) throw new TypeError("epoch must be a whole number, no less than 0");
  return { witnesses: keys, quorum: quorum ?? keys.length, epoch };
}

/** A name in a signed note: not empty, without + and white space. */
export const noteName = "[^+\\u0000-\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+";
const vkeyForm = new RegExp(`^(${noteName})\\+([0-9a-f]{8})\\+([A-Za-z0-9+/]+)$`);
const ofWitness = 4;

function witnessKey(vkey: string): WitnessKey {
  const found = vkeyForm.exec(vkey);
  const data = base64(found?.[3] ?? "");
  if (found === null || data?.length !== 33 || data[0] !== ofWitness || !holdersAlone(data.subarray(1))) throw new TypeError(`witnesses: ${JSON.stringify(vkey)} is no vkey of a witness`);
  const [, name, hash] = found as unknown as [string, string, string];
  if (createHash("sha256").update(`${name}\n`).update(data).digest("hex").slice(0, 8) !== hash) throw new TypeError(`witnesses: ${JSON.stringify(vkey)} is no vkey of a witness`);
  return { vkey, name, hash, publicKey: data.subarray(1).toString("hex") };
}

/** base64 reads it in its one spelling, with padding; undefined for anything else. */
export function base64(text: string): Buffer | undefined {
  const data = Buffer.from(text, "base64");
  return data.length > 0 && data.toString("base64") === text ? data : undefined;
}
