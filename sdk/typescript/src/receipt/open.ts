// Takes a receipt apart by its table of contents, without reading JSON, so that a byte
// that was altered is found where it stands, whatever it was made.
import { formats, need, sections, UnknownFormat } from "./failure.js";

/** A receipt of which no byte was altered since it was signed. */
export interface Opened {
  format: string;
  publicKey: string;
  keyId: string;
  sections: Buffer[];
}

export interface Crypto {
  signed(publicKey: string, text: Uint8Array, signature: string): boolean;
  sha256(...parts: Uint8Array[]): string;
}

const opening = '{"contents":';
const beforeSections = ',"sections":{';
const beforeSignature = '},"signature":';
const maxContents = 4096;

const hex = "[0-9a-f]{64}";
const entries = sections.map((name) => `\\{"bytes":([1-9][0-9]{0,8}),"name":"${name}","sha256":"(${hex})"\\}`);
const contentsForm = new RegExp(`^\\{"format":"(${formats.join("|")})","sections":\\[${entries.join(",")}\\]\\}`);
const laterForm = /^\{"format":"(countersign-receipt\/[1-9][0-9]{0,8})"/;
const signatureForm = new RegExp(`^\\{"algorithm":"Ed25519","contentsSha256":"(${hex})","keyId":"(${hex})","publicKey":"(${hex})","value":"([0-9a-f]{128})"\\}$`);
const signatureLength = '{"algorithm":"Ed25519","contentsSha256":"","keyId":"","publicKey":"","value":""}'.length + 3 * 64 + 128;

/** open checks the signature and every digest, and names the first part that fails. */
export function open(file: Buffer, crypto: Crypto): Opened {
  need(file.toString("latin1", 0, opening.length) === opening, "frame", "it does not begin as a receipt does");
  const head = file.toString("latin1", opening.length, opening.length + maxContents);
  const found = contentsForm.exec(head);
  const named = laterForm.exec(head)?.[1];
  if (named !== undefined && !formats.includes(named)) throw new UnknownFormat(named);
  need(found !== null, "contents", `it is no table of contents of the format ${formats.at(-1)}`);
  const format = found[1] as string;
  const start = opening.length + found[0].length;
  const end = file.length - 1 - signatureLength;
  need(end >= start && file[file.length - 1] === 0x7d, "frame", "it does not end as a receipt does");
  const key = checkSignature(format, file.subarray(opening.length, start), file.toString("latin1", end, file.length - 1), crypto);
  return { format, ...key, sections: cut(file, start, end, found.slice(2), crypto) };
}

/** checkSignature tells contents that were altered from a signature that was. */
function checkSignature(format: string, contents: Buffer, text: string, { signed, sha256 }: Crypto): { publicKey: string; keyId: string } {
  const found = signatureForm.exec(text);
  need(found !== null, "signature", `it is no signature of the format ${format}`);
  const [, digest, keyId, publicKey, value] = found as unknown as [string, string, string, string, string];
  const hashed = sha256(contents) === digest;
  const good = signed(publicKey, Buffer.concat([Buffer.from(`${format}\n`), contents]), value);
  need(hashed || good, "contents", "the table of contents is not what was signed");
  need(hashed, "signature", "its contentsSha256 is not that of the contents, which are what was signed");
  need(good, "signature", "it is not that of the contents by the key beside it");
  need(sha256(Buffer.from(publicKey, "hex")) === keyId, "signature", "its keyId is not that of the key beside it");
  return { publicKey, keyId };
}

/** cut finds each section where the contents put it, and compares its digest. */
function cut(file: Buffer, start: number, end: number, table: string[], { sha256 }: Crypto): Buffer[] {
  let at = start;
  const literal = (text: string) => {
    need(at + text.length <= end && file.toString("latin1", at, at + text.length) === text, "frame", "what stands around the sections is not as the format has it");
    at += text.length;
  };
  literal(beforeSections);
  const out = sections.map((name, i) => {
    literal(`${i > 0 ? "," : ""}"${name}":`);
    const bytes = Number(table[2 * i]); // at most nine digits
    const section = file.subarray(at, at + bytes);
    need(at + bytes <= end && sha256(section) === table[2 * i + 1], name, `it is not the ${bytes} bytes whose digest was signed`);
    at += bytes;
    return section;
  });
  literal(beforeSignature);
  need(at === end, "frame", "what stands around the sections is not as the format has it");
  return out;
}
