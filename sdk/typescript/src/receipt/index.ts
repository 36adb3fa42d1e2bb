// Verifies receipts of runs with nothing but the file and a public key, by the
// specification docs/reference/receipt.md and independently of the service's own
// verifier.
import { createHash, createPublicKey, verify } from "node:crypto";
import { parseAnswerKey } from "./answers.js";
import { canonical } from "./canonical.js";
import { Failure, fail, type ReceiptPart, sections, UnknownFormat } from "./failure.js";
import { meaning, type Told } from "./meaning.js";
import { type Opened, open } from "./open.js";
import { holdersAlone } from "./publickey.js";
import { type Asked, policyOf } from "./witnesses.js";

export type { SignedAnswer } from "./answers.js";
export type { Cosigned } from "./cosigned.js";
export type { ReceiptPart } from "./failure.js";
export type { Asked } from "./witnesses.js";

/**
 * What a verification came to. A receipt that fails has the part that fails and why. Of one
 * with `unknownFormat` nothing is said: a later release can verify it.
 */
export type ReceiptVerdict = ({ ok: true } & Signed & Told) | { ok: false; section: ReceiptPart; problem: string; unknownFormat?: string };

/** What a reader knows besides the installation's key. */
export interface ReaderKeys {
  /** Keys by which APIs sign their answers, as projects register them: each signed answer must then be by one of them, and the log isn't asked for any. */
  answerKeys?: readonly string[];
}

interface Signed {
  /** Of the key that signed it. */
  publicKey: string;
  keyId: string;
  /** It is the key that was given; without one, only integrity is judged, as anybody can make a key. */
  origin: boolean;
}

/**
 * verifyReceipt judges a receipt, as the bytes that `GET /runs/{id}/receipt` answers.
 * `publicKey` is the installation's, 64 digits of hex, known from elsewhere. `asked` says which
 * witnesses must have cosigned the log; an epoch of it but the first is taken if it is named there.
 */
export function verifyReceipt(file: Uint8Array, publicKey?: string, reader: ReaderKeys & Asked = {}): ReceiptVerdict {
  if (publicKey !== undefined && !/^[0-9a-f]{64}$/.test(publicKey)) throw new TypeError("publicKey must be 64 digits of lowercase hex");
  const known = (reader.answerKeys ?? []).map(parseAnswerKey);
  if (known.some((key) => key === "" || !holdersAlone(Buffer.from(key, "hex")))) throw new TypeError("answerKeys must be ed25519: and 64 digits of lowercase hex each");
  const policy = policyOf(reader);
  try {
    const opened = open(Buffer.from(file.buffer, file.byteOffset, file.byteLength), { signed, sha256 });
    if (publicKey !== undefined && publicKey !== opened.publicKey) fail("signature", `it is signed by the key ${opened.publicKey}, not by the one that was given`);
    const told = meaning({ format: opened.format, ...parsed(opened) }, policy, { sha256, signed: (text, signature) => signed(opened.publicKey, text, signature), signedBy: signed }, known);
    return { ok: true, publicKey: opened.publicKey, keyId: opened.keyId, origin: publicKey !== undefined, ...told };
  } catch (error) {
    if (error instanceof UnknownFormat) return { ok: false, section: "contents", problem: error.message, unknownFormat: error.format };
    if (error instanceof Failure) return { ok: false, section: error.section, problem: error.message };
    throw error;
  }
}

function parsed(opened: Opened) {
  const values = sections.map((name, i) => [name, canonical(opened.sections[i] as Buffer, name)] as const);
  return Object.fromEntries(values) as Record<(typeof sections)[number], ReturnType<typeof canonical>>;
}

function sha256(...parts: Uint8Array[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

/** signed reports an Ed25519 signature by a key; both are hex of the right length. */
function signed(publicKey: string, text: Uint8Array, signature: string): boolean {
  const jwk = { kty: "OKP", crv: "Ed25519", x: Buffer.from(publicKey, "hex").toString("base64url") };
  try {
    return holdersAlone(Buffer.from(publicKey, "hex")) && verify(null, text, createPublicKey({ key: jwk, format: "jwk" }), Buffer.from(signature, "hex"));
  } catch {
    return false; // no point of the curve
  }
}
