import { CountersignConnectionError } from "./errors.js";
import { encode, rawJson } from "./json.js";
import { type Call, segment, type Transport } from "./transport.js";

/** Values, or the JSON text of an object, as a model wrote it: its numbers keep their digits. */
export type Arguments = Record<string, unknown> | string;

/**
 * What a call came to, for the model to read: `outcome` (REHEARSED,
 * WAITING_FOR_A_PERSON with `url`, DONE, REFUSED, NOT_AS_EXPECTED, UNKNOWN, STOPPED or
 * RUNNING) and the run's fields, or `error` and `message` of a refusal.
 */
export type ToolAnswer = Record<string, unknown>;

export interface ToolsOptions {
  /** The door for rehearsals, where nothing is sent. Default false. */
  rehearsal?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** A capability as a tool for a model. The same call within 24 hours finds its run. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /**
   * JSON schema of the arguments: the capability's inputs and, where no input has the
   * name, task (what the call belongs to), reason (shown to the approver) and again (a
   * reason to repeat).
   */
  readonly schema: Record<string, unknown>;
  readonly readOnly: boolean;
  call(args?: Arguments, o?: { signal?: AbortSignal | undefined }): Promise<ToolAnswer>;
  /** The answer as JSON text, whose numbers keep their digits. */
  text(args?: Arguments, o?: { signal?: AbortSignal | undefined }): Promise<string>;
}

/** The tools in the order in which the door lists them, each also by name. */
export interface Tools extends Array<Tool> {
  /** The tool of a capability, or the tool that has this name itself. A name that no tool has throws a RangeError. */
  named(name: string): Tool;
}

/** byName adds the lookup without making it one of the array's elements. */
function byName(tools: Tool[]): Tools {
  const named = (name: string) => {
    // The title is the capability's name; that of the tool is spelt as models take it.
    const tool = tools.find((t) => t.title === name) ?? tools.find((t) => t.name === name);
    if (!tool) throw new RangeError(`no tool ${name}; there are ${tools.map((t) => t.title).sort().join(", ")}`);
    return tool;
  };
  return Object.defineProperty(tools, "named", { value: named }) as Tools;
}

/** The door did not take a message, such as a call of a tool that the agent doesn't have. */
export class ToolError extends Error {
  /** Of JSON-RPC. */
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = "ToolError";
    this.code = code;
  }
}

interface Listed {
  name: string;
  title?: string;
  description?: string;
  inputSchema: Record<string, unknown>;
  annotations?: { readOnlyHint?: boolean };
}

/** Door is where an agent's tools are called: LIVE, or for rehearsal. */
export class Door {
  readonly #transport: Transport;
  readonly #path: string;
  readonly #signal: AbortSignal | undefined;

  constructor(transport: Transport, agentId: string, o: ToolsOptions = {}) {
    this.#transport = transport;
    this.#path = `/mcp/agents/${segment(agentId)}${o.rehearsal ? "/rehearsal" : ""}`;
    this.#signal = o.signal;
  }

  /** tools reads all pages of the list. */
  async tools(): Promise<Tools> {
    const found: Tool[] = [];
    for (let params = {}; ; ) {
      const page = result(await this.#transport.text(this.#message("tools/list", JSON.stringify(params), true, this.#signal)));
      for (const listed of (page.tools ?? []) as Listed[]) found.push(this.#tool(listed));
      if (!page.nextCursor) return byName(found);
      params = { cursor: page.nextCursor };
    }
  }

  #tool({ name, title, description, inputSchema, annotations }: Listed): Tool {
    const text = async (args: Arguments = {}, o: { signal?: AbortSignal | undefined } = {}) => {
      const given = written(args);
      // The service finds the run of the same call, so that it may be sent again; one that
      // asks `again` would be another run.
      const repeatable = !Object.hasOwn(JSON.parse(given), "again");
      const params = `{"name":${JSON.stringify(name)},"arguments":${given}}`;
      return answered(await this.#transport.text(this.#message("tools/call", params, repeatable, o.signal)));
    };
    return {
      name,
      title: title ?? name,
      description: description ?? "",
      schema: inputSchema,
      readOnly: annotations?.readOnlyHint === true,
      text,
      call: async (args, o) => JSON.parse(await text(args, o)),
    };
  }

  #message(method: string, params: string, repeatable: boolean, signal: AbortSignal | undefined): Call {
    const body = rawJson(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`);
    return { method: "POST", path: this.#path, prefixed: false, accept: "application/json, text/event-stream", body, repeatable, signal };
  }
}

/** written is the JSON text of arguments, which must be an object. */
function written(args: Arguments): string {
  const text = typeof args === "string" ? args.trim() || "{}" : encode(exact(args, "arguments"));
  const value = JSON.parse(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new TypeError("a tool's arguments must be an object");
  return text;
}

/**
 * Frameworks read a model's numbers as doubles. Those of at most 15 digits are the decimal
 * that was written; of others nobody knows which one was.
 */
function exact<T>(value: T, where: string): T {
  if (typeof value === "number" && !Number.isSafeInteger(value)) {
    const [digits = ""] = value.toExponential().replace(/[-.]/g, "").split("e");
    if (!Number.isFinite(value) || digits.length > 15) throw new TypeError(`${where}: ${value} has more digits than are exact; give the arguments as JSON text`);
  }
  if (typeof value === "object" && value !== null) for (const [name, member] of Object.entries(value)) exact(member, `${where}.${name}`);
  return value;
}

/** answered is the JSON text of what a call of a tool came to. */
function answered(message: string): string {
  const { content, structuredContent } = result(message) as { content?: { type: string; text?: string }[]; structuredContent?: unknown };
  const text = (content ?? []).map((part) => (part.type === "text" ? (part.text ?? "") : "")).join("");
  if (isObject(text)) return text; // the same as structuredContent, digit for digit
  return JSON.stringify(structuredContent ?? { message: text });
}

function isObject(text: string): boolean {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function result(message: string): Record<string, unknown> {
  const { error, result } = (JSON.parse(message) ?? {}) as { error?: { code?: number; message?: string }; result?: unknown };
  if (typeof error === "object" && error !== null) throw new ToolError(error.code ?? 0, error.message ?? "");
  if (typeof result !== "object" || result === null) throw new CountersignConnectionError("the answer is no message of MCP");
  return result as Record<string, unknown>;
}
