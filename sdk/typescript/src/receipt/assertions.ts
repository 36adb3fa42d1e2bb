// Where an approval asks for it, each approval of it is signed with a passkey, whose
// registration the log has: WebAuthn, over the request's digest.
import { createHash, createPublicKey, type KeyObject, verify } from "node:crypto";
import type { Json } from "./canonical.js";
import { at, type Claims, exists, has, list, text, whole } from "./claims.js";
import { need } from "./failure.js";
import { holdersAlone } from "./publickey.js";
import { type AuditRecord, word } from "./record.js";
import { reasonOf } from "./redacted.js";
import { ofOlder } from "./rules.js";
import { child, sameAssertion } from "./sameassertion.js";

const of = (v: Json | undefined, name: string): string => text(at(v, name));

/** A record of the log with its place there. */
export interface Placed {
  record: AuditRecord;
  seq: number;
}

/** isRegistration reports the record of the registration of a decision's passkey, by whoever decided. */
export function isRegistration({ record, seq }: Placed, decision: Json): boolean {
  const [by, a, key] = [of(decision, "by"), at(decision, "assertion"), child(record, "passkey") ?? {}];
  const user = by.startsWith("user:") && by !== "user:";
  const said: [string, string][] = [["outcome", "done"], ["action", "passkeys.create"], ["step", ""], ["actor", by], ["subject", `user/${by.slice("user:".length)}`]];
  return user && seq === whole(at(a, "registration")) && said.every(([name, value]) => word(record, name) === value) && ["credentialId", "publicKey", "rpId"].every((name) => word(key, name) === of(a, name));
}

/** signedDecisions are the decisions of all approvals that are signed. */
export const signedDecisions = (approvals: Json): Json[] => list(approvals).flatMap((a) => list(at(a, "decisions"))).filter((d) => has(d, "assertion"));

/** Checks the assertions of an approval whose digest is shown, and that none is missing. asked is the record of its request. */
export function checkSigned(c: Claims, a: Json, records: Placed[], asked: AuditRecord): void {
  const [id, wants] = [of(a, "id"), at(a, "decisionAssertion")];
  const check = (ok: boolean, problem: string) => need(ok, "audit", problem);
  const told = Object.hasOwn(asked, "decisionAssertion") ? asked.decisionAssertion : undefined;
  check((told ?? null) === (wants ?? null), `the log does not say that approval ${id} asked for signatures so`);
  check(!exists(wants) || wants === "PASSKEY", `approval ${id} asks for signatures of an unknown kind`);
  check(!exists(wants) || !ofOlder(a), `approval ${id} asks for signatures and lacks its decisions`);
  for (const d of list(at(a, "decisions"))) {
    const whose = `the decision of ${of(d, "by")} on approval ${id}`;
    if (!has(d, "assertion")) {
      check(!exists(wants) || of(d, "decision") !== "APPROVED", `${whose} is not signed with a passkey, as it must be`);
      continue;
    }
    const problem = refuted(at(d, "assertion"), [...lead(a, d), of(d, "decision"), sha256(reasonOf(c, a, d, records.map((r) => r.record))).toString("hex")].join("\n"));
    check(problem === "", `${whose} has a signature that does not hold: ${problem}`);
    check(registeredBefore(a, d, records), `${whose} is signed with a passkey whose registration by them the log does not prove before it`);
  }
}

/** lead is what is signed before the decision: with the state on which it was given, if it was given on one. */
function lead(a: Json, d: Json): string[] {
  const state = of(d, "stateDigest");
  const about = [of(a, "id"), of(a, "requestDigest")];
  return state === "" ? ["countersign decision v1", ...about] : ["countersign decision v2", ...about, state];
}

function registeredBefore(a: Json, d: Json, records: Placed[]): boolean {
  const said: [string, string][] = [["outcome", "done"], ["action", "approvals.decide"], ["step", of(a, "stepId")], ["digest", of(a, "requestDigest")]];
  const decided = records.findIndex(({ record }) => said.every(([name, value]) => word(record, name) === value) && sameAssertion(record, d));
  return records.slice(0, Math.max(0, decided)).some((r) => isRegistration(r, d));
}

const sha256 = (...parts: (string | Uint8Array)[]): Buffer => parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest();

/** refuted says why an assertion is no answer of its passkey to what is signed, "" if it is. */
function refuted(a: Json | undefined, signed: string): string {
  const [data, client, signature, spki] = ["authenticatorData", "clientDataJSON", "signature", "publicKey"].map((name) => decoded(of(a, name)));
  if (data === undefined || client === undefined || signature === undefined || spki === undefined) return "its members must be base64url without padding";
  const rpId = of(a, "rpId");
  return wrongClient(client, sha256(signed).toString("base64url"), rpId) || wrongData(data, rpId) || (verified(spki, Buffer.concat([data, sha256(client)]), signature) ? "" : "its signature is not of the registered key");
}

/** decoded reads the one spelling of bytes in base64url. */
function decoded(value: string): Buffer | undefined {
  const bytes = Buffer.from(value, "base64url");
  return bytes.length > 0 && bytes.toString("base64url") === value ? bytes : undefined;
}

/** wrongClient checks what the browser says of the page. */
function wrongClient(client: Buffer, challenge: string, rpId: string): string {
  const said = flatObject(client);
  if (said === undefined) return "clientDataJSON is no JSON object with unique keys";
  const is = (name: string, value: unknown) => said.get(name) === value;
  if (!is("type", "webauthn.get")) return "clientDataJSON is of another ceremony";
  if (!is("challenge", challenge)) return "it is about another decision: another approval, request, answer or reason than this one";
  if (!ofParty(said.get("origin"), rpId)) return "it was made on a page that is not one of its relying party";
  return said.has("topOrigin") || !(is("crossOrigin", false) || !said.has("crossOrigin")) ? "it was made in a frame of another site's page" : "";
}

/** flatObject reads an object whose keys are unique, at its top. */
function flatObject(bytes: Buffer): Map<string, unknown> | undefined {
  try {
    const source = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    const value: unknown = JSON.parse(source);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    const members = new Map(Object.entries(value));
    return keysAtTop(source) === members.size ? members : undefined;
  } catch {
    return undefined;
  }
}

/** keysAtTop counts the keys of an object, repeated ones too: each is followed by a colon at the first level. */
function keysAtTop(source: string): number {
  let [depth, keys] = [0, 0];
  for (const [token] of source.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]/g)) {
    if (token === "{" || token === "[") depth++;
    else if (token === "}" || token === "]") depth--;
    else if (token === ":" && depth === 1) keys++;
  }
  return keys;
}

/** ofParty reports a page of the relying party: of its very name, by https, or by http on this machine. */
function ofParty(origin: unknown, rpId: string): boolean {
  const found = typeof origin === "string" ? /^(https?):\/\/([^/?#@\\\s:]+)(?::([0-9]{1,5}))?$/.exec(origin) : null;
  if (found === null || rpId === "" || found[2] !== rpId) return false;
  return found[1] === "https" || rpId === "localhost" || rpId.endsWith(".localhost");
}

const [present, userVerified, mayBackUp, backedUp, attested, extended] = [0x01, 0x04, 0x08, 0x10, 0x40, 0x80];
const dataLength = 37;

/** wrongData checks what the authenticator says. */
function wrongData(data: Buffer, rpId: string): string {
  if (data.length < dataLength) return "authenticatorData is too short";
  const flags = data[32] as number;
  const set = (flag: number) => (flags & flag) !== 0;
  if (!data.subarray(0, 32).equals(sha256(rpId))) return "it is of another relying party than the passkey";
  if (!set(present) || !set(userVerified)) return "the authenticator did not verify its user, by PIN, fingerprint or face";
  return set(attested) || (!set(extended) && data.length !== dataLength) || (set(backedUp) && !set(mayBackUp)) ? "authenticatorData is not that of an assertion" : "";
}

/** verified checks a signature by ES256, EdDSA or RS256: the kind of the key decides which. */
function verified(spki: Buffer, signed: Buffer, signature: Buffer): boolean {
  try {
    const key = createPublicKey({ key: spki, format: "der", type: "spki" });
    const algorithm = algorithmOf(key);
    return algorithm !== undefined && key.export({ format: "der", type: "spki" }).equals(spki) && verify(algorithm, signed, key, signature);
  } catch {
    return false;
  }
}

/** algorithmOf is the hash of a key's signatures, null for EdDSA; undefined for a key that no passkey here has. */
function algorithmOf(key: KeyObject): "sha256" | null | undefined {
  const { namedCurve, modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  switch (key.asymmetricKeyType) {
    case "ec":
      return namedCurve === "prime256v1" ? "sha256" : undefined;
    case "ed25519":
      return holdersAlone(Buffer.from(key.export({ format: "jwk" }).x ?? "", "base64url")) ? null : undefined;
    case "rsa":
      return modulusLength >= 2048 && modulusLength <= 8192 ? "sha256" : undefined;
  }
  return undefined;
}
