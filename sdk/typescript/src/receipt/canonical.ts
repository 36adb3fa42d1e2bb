// Reads JSON in its canonical form and in no other. Numbers stay the digits that they
// were written with: JavaScript's are doubles, and would be other numbers.
import { fail, type ReceiptPart } from "./failure.js";

export type Json = null | boolean | string | Digits | Json[] | Map<string, Json>;

/** Digits is a number, as its text. */
export class Digits {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const maxDepth = 128;
const maxPlainZeros = 20;

/** canonical reads a section, which fails where it is not in canonical form. */
export function canonical(bytes: Uint8Array, section: ReceiptPart): Json {
  const refuse = () => fail(section, "it is not in canonical form");
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return refuse();
  }
  const reader = new Reader(text, refuse);
  const value = reader.value(0);
  return reader.ended() ? value : refuse();
}

class Reader {
  readonly #text: string;
  readonly #refuse: () => never;
  #at = 0;

  constructor(text: string, refuse: () => never) {
    this.#text = text;
    this.#refuse = refuse;
  }

  ended(): boolean {
    return this.#at === this.#text.length;
  }

  value(depth: number): Json {
    switch (this.#text[this.#at]) {
      case "{":
        return depth < maxDepth ? this.#object(depth + 1) : this.#refuse();
      case "[":
        return depth < maxDepth ? this.#array(depth + 1) : this.#refuse();
      case '"':
        return this.#string();
      case "t":
        return this.#word("true", true);
      case "f":
        return this.#word("false", false);
      case "n":
        return this.#word("null", null);
      default:
        return this.#number();
    }
  }

  #word<T>(word: string, value: T): T {
    return this.#take(word) ? value : this.#refuse();
  }

  #take(text: string): boolean {
    const found = this.#text.startsWith(text, this.#at);
    if (found) this.#at += text.length;
    return found;
  }

  /** Its keys ascend by their UTF-8 bytes, so that none comes twice. */
  #object(depth: number): Json {
    const members = new Map<string, Json>();
    this.#at++;
    if (this.#take("}")) return members;
    let last: Buffer | undefined;
    do {
      if (this.#text[this.#at] !== '"') this.#refuse();
      const key = this.#string();
      const bytes = Buffer.from(key);
      if (last !== undefined && Buffer.compare(last, bytes) >= 0) this.#refuse();
      last = bytes;
      if (!this.#take(":")) this.#refuse();
      members.set(key, this.value(depth));
    } while (this.#take(","));
    return this.#take("}") ? members : this.#refuse();
  }

  #array(depth: number): Json {
    const list: Json[] = [];
    this.#at++;
    if (this.#take("]")) return list;
    do list.push(this.value(depth));
    while (this.#take(","));
    return this.#take("]") ? list : this.#refuse();
  }

  /** Only what must be escaped is, each in one way. */
  #string(): string {
    const plain = /[^"\\\u0000-\u001f]*/y;
    let out = "";
    for (this.#at++; ; ) {
      plain.lastIndex = this.#at;
      const run = (plain.exec(this.#text) as RegExpExecArray)[0];
      out += run;
      this.#at += run.length;
      if (this.#take('"')) return out;
      out += this.#escape();
    }
  }

  #escape(): string {
    for (const [escape, character] of escapes) if (this.#take(escape)) return character;
    const form = /\\u00([01][0-9a-f])/y;
    form.lastIndex = this.#at;
    const found = form.exec(this.#text);
    const character = found === null ? this.#refuse() : String.fromCharCode(Number.parseInt(found[1] as string, 16));
    if ("\n\r\t".includes(character)) this.#refuse();
    this.#at += 6;
    return character;
  }

  /** An integer, or one without a last zero and a power of ten: see the specification. */
  #number(): Digits {
    const form = /0(?![0-9.eE])|-?[1-9][0-9]*(?:e(-?[1-9][0-9]{0,17}))?(?![0-9.eE+-])/y;
    form.lastIndex = this.#at;
    const found = form.exec(this.#text);
    if (found === null) return this.#refuse();
    const [text, power] = found;
    const digits = text.split("e")[0] as string;
    const zeros = digits === "0" ? 0 : (/0*$/.exec(digits) as RegExpExecArray)[0].length;
    const plain = power === undefined ? zeros <= maxPlainZeros : zeros === 0 && (power.startsWith("-") || power.length > 2 || Number(power) > maxPlainZeros);
    if (!plain) this.#refuse();
    this.#at += text.length;
    return new Digits(text);
  }
}

const escapes: [string, string][] = [['\\"', '"'], ["\\\\", "\\"], ["\\n", "\n"], ["\\r", "\r"], ["\\t", "\t"]];
