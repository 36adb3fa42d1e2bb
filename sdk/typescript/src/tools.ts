import { CountersignConnectionError } from "./errors.js";
import { encode, rawJson } from "./json.js";
import { sleep } from "./time.js";
import { ArgumentsError, told, ToolError } from "./told.js";
import type { ToolAnswer } from "./toolanswer.js";
import { type Call, segment, type Transport } from "./transport.js";

/** Values, or the JSON text of an object, as a model wrote it: its numbers keep their digits. */
export type Arguments = Record<string, unknown> | string;

export interface ToolsOptions {
  /** The door for rehearsals, where nothing is sent. Default false. */
  rehearsal?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

export interface ToolCallOptions {
  signal?: AbortSignal | undefined;
}

export interface TellOptions extends ToolCallOptions {
  /** How many seconds a call waits at most for a person, or for a stop to be lifted. Default 0: the model is told that it waits. */
  wait?: number | undefined;
}

/** A capability as a tool for a model. The same call finds its run as long as that goes on, and 24 hours after its end. */
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
  call(args?: Arguments, o?: ToolCallOptions): Promise<ToolAnswer>;
  /** The answer as JSON text, whose numbers keep their digits. */
  text(args?: Arguments, o?: ToolCallOptions): Promise<string>;
  /**
   * As text, but what goes wrong is told to the model too, in the same form: no answer, a
   * token that isn't taken, arguments that are none. Only a cancellation is thrown.
   */
  tell(args?: Arguments, o?: TellOptions): Promise<string>;
  /** What became of a run of this agent, in the form of `tell`. */
  status(runId: string, o?: TellOptions): Promise<string>;
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

interface Listed {
  name: string;
  title?: string;
  description?: string;
  inputSchema: Record<string, unknown>;
  annotations?: { readOnlyHint?: boolean };
}

const statusTool = "run_status";
/** The longest wait that the service takes, in seconds. */
const longestWait = 50;
const leastPauseMs = 1000;
const lostCodes = new Set(["no_answer", "internal"]);

const goesOn = (outcome: string) => ["WAITING_FOR_A_PERSON", "RUNNING", "HELD"].includes(outcome);
const seconds = (given: unknown) => (typeof given === "number" && given > 0 ? Math.min(given, longestWait) : 0);

/** Door is where an agent's tools are called: LIVE, or for rehearsal. */
export class Door {
  readonly #transport: Transport;
  readonly #path: string;
  readonly #signal: AbortSignal | undefined;
  readonly #rehearsal: boolean;

  constructor(transport: Transport, agentId: string, o: ToolsOptions = {}) {
    this.#transport = transport;
    this.#path = `/mcp/agents/${segment(agentId)}${o.rehearsal ? "/rehearsal" : ""}`;
    this.#signal = o.signal;
    this.#rehearsal = o.rehearsal === true;
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
    const readOnly = annotations?.readOnlyHint === true;
    const text = async (args: Arguments = {}, o: ToolCallOptions = {}) => this.#call(name, written(args), o.signal);
    return {
      name,
      title: title ?? name,
      description: description ?? "",
      schema: inputSchema,
      readOnly,
      text,
      call: async (args, o) => JSON.parse(await text(args, o)),
      tell: (args = {}, o) => this.#tell(name, readOnly, args, o),
      status: (runId, o) => this.#tell(statusTool, true, { runId }, o),
    };
  }

  /** #call is the answer of a tool to arguments as JSON text. */
  async #call(name: string, given: string, signal: AbortSignal | undefined): Promise<string> {
    const args = JSON.parse(given);
    // The service finds the run of the same call, so that it may be sent again; one that
    // asks `again` would be another run.
    const call = this.#message("tools/call", `{"name":${JSON.stringify(name)},"arguments":${given}}`, !Object.hasOwn(args, "again"), signal);
    return answered(await this.#transport.text({ ...call, moreMs: 1000 * seconds(args.waitSeconds) }));
  }

  async #tell(name: string, readOnly: boolean, args: Arguments, { signal, wait = 0 }: TellOptions = {}): Promise<string> {
    const end = Date.now() + 1000 * wait;
    const said = await this.#told(name, readOnly, args, signal);
    const { outcome, runId } = JSON.parse(said) as ToolAnswer;
    return runId && goesOn(outcome) ? this.#settled(runId, said, end, signal) : said;
  }

  /** #settled asks for a run that goes on, or waits, until the time is over. */
  async #settled(runId: string, said: string, end: number, signal: AbortSignal | undefined): Promise<string> {
    for (;;) {
      const left = Math.min(Math.floor((end - Date.now()) / 1000), longestWait);
      if (left < 1) return said;
      const asked = Date.now();
      const now = await this.#told(statusTool, true, { runId, waitSeconds: left }, signal);
      const { outcome, error } = JSON.parse(now) as ToolAnswer;
      const unanswered = outcome === "UNKNOWN" && error !== undefined && lostCodes.has(error);
      if (!unanswered && !goesOn(outcome)) return now;
      if (!unanswered) said = now;
      // Of many waits at once the service answers some without waiting.
      if (Date.now() - asked < leastPauseMs) await sleep(leastPauseMs, signal);
    }
  }

  async #told(name: string, readOnly: boolean, args: Arguments, signal: AbortSignal | undefined): Promise<string> {
    let again = false;
    try {
      const given = written(args);
      again = Object.hasOwn(JSON.parse(given), "again");
      return await this.#call(name, given, signal);
    } catch (error) {
      const answer = signal?.aborted ? undefined : told(error, { harmless: readOnly || this.#rehearsal, again });
      if (answer === undefined) throw error;
      return JSON.stringify(answer);
    }
  }

  #message(method: string, params: string, repeatable: boolean, signal: AbortSignal | undefined): Call {
    const body = rawJson(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`);
    return { method: "POST", path: this.#path, prefixed: false, accept: "application/json, text/event-stream", body, repeatable, signal };
  }
}

/** written is the JSON text of arguments, which must be an object. */
function written(args: Arguments): string {
  const text = typeof args === "string" ? args.trim() || "{}" : encode(exact(args, "arguments"));
  if (!isObject(text)) throw new ArgumentsError("a tool's arguments must be an object");
  return text;
}

/**
 * Frameworks read a model's numbers as doubles. Those of at most 15 digits are the decimal
 * that was written; of others nobody knows which one was.
 */
function exact<T>(value: T, where: string): T {
  if (typeof value === "number" && !Number.isSafeInteger(value)) {
    const [digits = ""] = value.toExponential().replace(/[-.]/g, "").split("e");
    if (!Number.isFinite(value) || digits.length > 15) throw new ArgumentsError(`${where}: ${value} has more digits than are exact; give the arguments as JSON text`);
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
