// What the verifier uses of Node's Buffer, over a Uint8Array.
const hexOf = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
const latin1 = (bytes) => {
  let out = "";
  for (let i = 0; i < bytes.length; i += 8192) out += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return out;
};
const encoder = new TextEncoder();

/** base64 is read leniently, as Node does: whoever reads it compares the one spelling. */
function fromBase64(text) {
  const plain = text.replace(/-/g, "+").replace(/_/g, "/").replace(/=.*$/s, "").replace(/[^A-Za-z0-9+/]/g, "");
  const whole = plain.length % 4 === 1 ? plain.slice(0, -1) : plain;
  return Uint8Array.from(atob(whole + "=".repeat((4 - (whole.length % 4)) % 4)), (c) => c.charCodeAt(0));
}

function fromHex(text) {
  const digits = /^(?:[0-9a-fA-F]{2})*/.exec(text)[0];
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

const read = {
  utf8: (text) => encoder.encode(text),
  hex: fromHex,
  base64: fromBase64,
  base64url: fromBase64,
};

const written = {
  utf8: (bytes) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes),
  latin1,
  hex: hexOf,
  base64: (bytes) => btoa(latin1(bytes)),
  base64url: (bytes) => btoa(latin1(bytes)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, ""),
};

class Buffer extends Uint8Array {
  static get [Symbol.species]() {
    return Buffer;
  }
  static from(value, encoding, length) {
    if (typeof value === "string") return Buffer.#over(read[encoding ?? "utf8"](value));
    if (value instanceof ArrayBuffer) return new Buffer(value, encoding, length);
    return Buffer.#over(Uint8Array.from(value));
  }
  static #over(bytes) {
    return new Buffer(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
  static concat(parts) {
    const out = new Buffer(parts.reduce((n, part) => n + part.length, 0));
    let at = 0;
    for (const part of parts) {
      out.set(part, at);
      at += part.length;
    }
    return out;
  }
  static compare(a, b) {
    const n = Math.min(a.length, b.length);
    for (let i = 0; i < n; i++) if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1;
    return Math.sign(a.length - b.length);
  }
  static byteLength(text) {
    return encoder.encode(text).length;
  }
  equals(other) {
    return Buffer.compare(this, other) === 0;
  }
  toString(encoding = "utf8", from = 0, to = this.length) {
    return written[encoding](this.subarray(from, to));
  }
  readBigUInt64BE(at) {
    return new DataView(this.buffer, this.byteOffset, this.byteLength).getBigUint64(at);
  }
}
