import { CountersignConnectionError } from "./errors.js";

/** One server-sent event. */
export interface ServerEvent {
  id: string;
  event: string;
  data: string;
}

/** More than this without the end of an event is not read on, in characters. */
const longestEvent = 8 << 20;

/**
 * serverEvents reads a stream of server-sent events: fields by line, an event at
 * each blank line, comments passed over. An event that the stream cuts off is none.
 */
export async function* serverEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  let pending = new Pending();
  for await (const line of lines(chunks)) {
    if (line !== "") {
      pending.take(line);
    } else {
      if (pending.hasData) yield pending.event();
      pending = new Pending(pending.id);
    }
  }
}

/** Pending is the event whose lines are arriving. An id holds until the next one. */
class Pending {
  id: string;
  #event = "message";
  #data: string[] = [];
  #size = 0;

  constructor(id = "") {
    this.id = id;
  }

  get hasData(): boolean {
    return this.#data.length > 0;
  }

  event(): ServerEvent {
    return { id: this.id, event: this.#event, data: this.#data.join("\n") };
  }

  take(line: string): void {
    const [, name, value = ""] = /^([^:]*)(?:: ?([\s\S]*))?$/.exec(line) ?? [];
    if (name === "data") {
      this.#size += value.length;
      if (this.#size > longestEvent) throw new CountersignConnectionError("an event is too long");
      this.#data.push(value);
    }
    if (name === "event") this.#event = value;
    if (name === "id" && !value.includes("\0")) this.id = value;
  }
}

/** lines cuts a byte stream at LF, CR and CRLF, wherever its chunks end. */
async function* lines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let held: string[] = []; // joined once a line ends: a long line costs its length, not its square
  let size = 0;
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true });
    held.push(text);
    size += text.length;
    if (size > longestEvent) throw new CountersignConnectionError("an event is too long");
    if (!/[\r\n]/.test(text) && !held.at(-2)?.endsWith("\r")) continue;
    const parts = held.join("").split(/\r\n|\n|\r(?!$)/);
    const rest = parts.pop() ?? "";
    held = [rest];
    size = rest.length;
    yield* parts;
  }
  const rest = held.join("");
  if (rest.endsWith("\r")) yield rest.slice(0, -1);
}
