// Reads the JSON of an answer, as exactly as the service does: what another reader could take for
// something else is none.
import { Digits, type Json } from "./canonical.js";
import { plainNumber } from "./value.js";

const maxDepth = 64;
const maxExponent = 9; // digits

/** readAnswer is the value of a body, null where there is nothing in it; undefined where it is no exact JSON. */
export function readAnswer(body: Uint8Array): Json | undefined {
  try {
    const text = withoutMark(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body));
    if (/^[ \t\r\n]*$/.test(text)) return null;
    const reader = new Reader(text, true);
    const value = reader.value(0);
    return reader.ended() ? value : undefined;
  } catch {
    return undefined;
  }
}

/** saysError reports a body whose `error` is one of these codes, however it goes on behind it. */
export function saysError(body: Uint8Array, ...codes: string[]): boolean {
  try {
    return new Reader(withoutMark(new TextDecoder("utf-8", { ignoreBOM: true }).decode(body)), false).says("error", codes);
  } catch {
    return false;
  }
}

const withoutMark = (text: string): string => (text.startsWith("\ufeff") ? text.slice(1) : text);

class Reader {
  readonly #text: string;
  readonly #exact: boolean;
  #at = 0;

  constructor(text: string, exact: boolean) {
    this.#text = text;
    this.#exact = exact;
  }

  ended(): boolean {
    this.#space();
    return this.#at === this.#text.length;
  }

  value(depth: number): Json {
    const first = this.#next();
    if (first === "{" || first === "[") {
      if (this.#exact && depth >= maxDepth) throw new SyntaxError("nested too deep");
      return first === "{" ? this.#object(depth + 1) : this.#array(depth + 1);
    }
    if (first === '"') return this.#string();
    for (const [word, value] of [["true", true], ["false", false], ["null", null]] as const) {
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return value;
      }
    }
    return this.#number();
  }

  /** Whether an object has a member of this name that is one of these texts; nothing behind it is looked at. */
  says(name: string, texts: string[]): boolean {
    this.#take("{");
    for (;;) {
      const member = this.#string();
      this.#take(":");
      const first = this.#next();
      const value = this.value(0);
      if (member === name && (first === "{" || first === "[")) return false;
      if (member === name && texts.some((text) => text === value)) return true;
      this.#take(",");
    }
  }

  #space(): void {
    while (" \t\r\n".includes(this.#text[this.#at] ?? "x")) this.#at++;
  }

  #next(): string | undefined {
    this.#space();
    return this.#text[this.#at];
  }

  #take(mark: string): void {
    if (this.#next() !== mark) throw new SyntaxError(`no ${mark}`);
    this.#at++;
  }

  #took(mark: string): boolean {
    const is = this.#next() === mark;
    if (is) this.#at++;
    return is;
  }

  #object(depth: number): Json {
    const out = new Map<string, Json>();
    this.#take("{");
    if (this.#took("}")) return out;
    do {
      const name = this.#string();
      if (this.#exact && out.has(name)) throw new SyntaxError("a key twice");
      this.#take(":");
      out.set(name, this.value(depth));
    } while (this.#took(","));
    this.#take("}");
    return out;
  }

  #array(depth: number): Json {
    const out: Json[] = [];
    this.#take("[");
    if (this.#took("]")) return out;
    do out.push(this.value(depth));
    while (this.#took(","));
    this.#take("]");
    return out;
  }

  #string(): string {
    if (this.#next() !== '"') throw new SyntaxError("no text");
    const start = this.#at++;
    while (this.#text[this.#at] !== '"') {
      if (this.#at >= this.#text.length) throw new SyntaxError("no end");
      this.#at += this.#text[this.#at] === "\\" ? 2 : 1;
    }
    const value = JSON.parse(this.#text.slice(start, ++this.#at)) as string;
    if (this.#exact && Buffer.from(value).toString() !== value) throw new SyntaxError("a lone surrogate");
    return value;
  }

  #number(): Digits {
    const form = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?([0-9]+))?/y;
    form.lastIndex = this.#at;
    const found = form.exec(this.#text);
    if (found === null || (found[1] ?? "").replace(/^0+/, "").length > maxExponent) throw new SyntaxError("no value");
    this.#at += found[0].length;
    return new Digits(plainNumber(found[0]));
  }
}
