// What the verifier uses of node:crypto. SHA-256 is computed here, since WebCrypto's answers come
// later and the verifier asks at once. Signatures are WebCrypto's: a question that it hasn't answered yet is
// taken for good, noted, and answered before the verifier is asked again; see verify.js.
const round = Uint32Array.from(
  "428a2f98 71374491 b5c0fbcf e9b5dba5 3956c25b 59f111f1 923f82a4 ab1c5ed5 d807aa98 12835b01 243185be 550c7dc3 72be5d74 80deb1fe 9bdc06a7 c19bf174 e49b69c1 efbe4786 0fc19dc6 240ca1cc 2de92c6f 4a7484aa 5cb0a9dc 76f988da 983e5152 a831c66d b00327c8 bf597fc7 c6e00bf3 d5a79147 06ca6351 14292967 27b70a85 2e1b2138 4d2c6dfc 53380d13 650a7354 766a0abb 81c2c92e 92722c85 a2bfe8a1 a81a664b c24b8b70 c76c51a3 d192e819 d6990624 f40e3585 106aa070 19a4c116 1e376c08 2748774c 34b0bcb5 391c0cb3 4ed8aa4a 5b9cca4f 682e6ff3 748f82ee 78a5636f 84c87814 8cc70208 90befffa a4506ceb bef9a3f7 c67178f2"
    .split(" ").map((word) => Number.parseInt(word, 16)),
);

function sha256(bytes) {
  const padded = new Uint8Array(((bytes.length + 72) >> 6) << 6);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, (bytes.length << 3) >>> 0);
  const state = Uint32Array.of(0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19);
  const w = new Uint32Array(64);
  const turned = (x, n) => (x >>> n) | (x << (32 - n));
  for (let at = 0; at < padded.length; at += 64) {
    for (let i = 0; i < 16; i++) w[i] = view.getUint32(at + 4 * i);
    for (let i = 16; i < 64; i++) {
      const [x, y] = [w[i - 15], w[i - 2]];
      w[i] = w[i - 16] + (turned(x, 7) ^ turned(x, 18) ^ (x >>> 3)) + w[i - 7] + (turned(y, 17) ^ turned(y, 19) ^ (y >>> 10));
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i++) {
      const one = (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + round[i] + w[i]) | 0;
      const two = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, i) => (state[i] += word));
  }
  const out = new Buffer(32);
  state.forEach((word, i) => new DataView(out.buffer).setUint32(4 * i, word));
  return out;
}

function createHash() {
  const parts = [];
  const hash = {
    update(part) {
      parts.push(typeof part === "string" ? Buffer.from(part) : part);
      return hash;
    },
    digest(encoding) {
      const sum = sha256(Buffer.concat(parts));
      return encoding === undefined ? sum : sum.toString(encoding);
    },
  };
  return hash;
}

// Keys: those that the specification names, in their one form.
const spkiOfP256 = Buffer.from("3059301306072a8648ce3d020106082a8648ce3d030107034200", "hex");
const spkiOfEd25519 = Buffer.from("302a300506032b6570032100", "hex");
const rsaEncryption = Buffer.from("06092a864886f70d0101010500", "hex");

const begins = (bytes, with_) => bytes.length > with_.length && Buffer.compare(bytes.subarray(0, with_.length), with_) === 0;

/** element reads one element of DER that ends where the bytes do. */
function element(bytes, tag) {
  const [content, rest] = elements(bytes, tag);
  if (rest.length > 0) throw new SyntaxError("more than one element");
  return content;
}

function elements(bytes, tag) {
  if (bytes[0] !== tag || bytes.length < 2) throw new SyntaxError("another element");
  let [length, at] = [bytes[1], 2];
  if (length >= 0x80) {
    const count = length & 0x7f;
    if (count < 1 || count > 3 || bytes.length < 2 + count || bytes[2] === 0) throw new SyntaxError("no length");
    length = bytes.subarray(2, 2 + count).reduce((n, b) => n * 256 + b, 0);
    if (length < 0x80 || (count > 1 && length < 2 ** (8 * (count - 1)))) throw new SyntaxError("a length in another spelling");
    at = 2 + count;
  }
  if (bytes.length < at + length) throw new SyntaxError("cut off");
  return [bytes.subarray(at, at + length), bytes.subarray(at + length)];
}

/** natural is a positive whole number of DER in its one spelling. */
function natural(bytes) {
  if (bytes.length === 0 || bytes[0] & 0x80 || (bytes[0] === 0 && bytes.length > 1 && !(bytes[1] & 0x80))) throw new SyntaxError("no natural number");
  return bytes[0] === 0 ? bytes.subarray(1) : bytes;
}

function createPublicKey({ key, format }) {
  if (format === "jwk") return { kind: "ed25519", spki: Buffer.concat([spkiOfEd25519, Buffer.from(key.x, "base64url")]) };
  const spki = Buffer.from(key);
  const made = (more) => ({ spki, export: ({ format: as }) => (as === "jwk" ? { x: spki.subarray(spkiOfEd25519.length).toString("base64url") } : spki), ...more });
  if (begins(spki, spkiOfP256) && spki.length === 91 && spki[26] === 4) return made({ kind: "p256", asymmetricKeyType: "ec", asymmetricKeyDetails: { namedCurve: "prime256v1" } });
  if (begins(spki, spkiOfEd25519) && spki.length === 44) return made({ kind: "ed25519", asymmetricKeyType: "ed25519" });
  const body = element(spki, 0x30);
  const [algorithm, bits] = elements(body, 0x30);
  if (Buffer.compare(algorithm, rsaEncryption) !== 0) throw new SyntaxError("a key of another kind");
  const string = element(bits, 0x03);
  if (string[0] !== 0) throw new SyntaxError("no whole bytes");
  const [modulus, rest] = elements(element(string.subarray(1), 0x30), 0x02);
  natural(element(rest, 0x02));
  const n = natural(modulus);
  return made({ kind: "rsa", asymmetricKeyType: "rsa", asymmetricKeyDetails: { modulusLength: 8 * n.length - Math.clz32(n[0] ?? 0) + 24 } });
}

/** rawSignature is an ECDSA signature as WebCrypto takes it. */
function rawSignature(der) {
  const [r, rest] = elements(element(der, 0x30), 0x02);
  const out = new Buffer(64);
  for (const [i, part] of [natural(r), natural(element(rest, 0x02))].entries()) {
    if (part.length > 32) throw new SyntaxError("too large");
    out.set(part, 32 * (i + 1) - part.length);
  }
  return out;
}

const algorithms = {
  ed25519: [{ name: "Ed25519" }, { name: "Ed25519" }],
  p256: [{ name: "ECDSA", namedCurve: "P-256" }, { name: "ECDSA", hash: "SHA-256" }],
  rsa: [{ name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }, { name: "RSASSA-PKCS1-v1_5" }],
};

// What is known of signatures, and what is still to be asked.
const known = new Map();
let open = [];

function verify(_, signed, key, signature) {
  const question = [key.kind, Buffer.from(key.spki).toString("hex"), sha256(signed).toString("hex"), signed.length, Buffer.from(signature).toString("hex")].join(" ");
  if (known.has(question)) return known.get(question);
  open.push({ question, kind: key.kind, spki: Uint8Array.from(key.spki), signed: Uint8Array.from(signed), signature: Buffer.from(signature) });
  return true;
}

/** unsupported says that this browser can't answer at all, which isn't that a signature is wrong. */
class Unsupported extends Error {}

async function answered({ kind, spki, signed, signature }) {
  const subtle = globalThis.crypto?.subtle;
  if (subtle === undefined) throw new Unsupported("This browser checks signatures only over https, or on this machine.");
  const [imports, verifies] = algorithms[kind];
  try {
    const key = await subtle.importKey("spki", spki, imports, false, ["verify"]);
    return await subtle.verify(verifies, key, kind === "p256" ? rawSignature(signature) : Uint8Array.from(signature), signed);
  } catch (error) {
    if (error?.name === "NotSupportedError") throw new Unsupported(`This browser can’t check signatures by ${imports.name}.`);
    return false;
  }
}

/** settle answers what was asked; false if nothing was. */
async function settle() {
  const asked = new Map(open.map((o) => [o.question, o]));
  open = [];
  for (const [question, o] of asked) if (!known.has(question)) known.set(question, await answered(o));
  return asked.size > 0;
}
