// Thirty first calls of a model that knows nothing but what its client passes on: which tools
// there are, in their own words, and what it is told of its calls. It believes what it reads.
// What it believes is compared with what happened at the API.
import { appendFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { type Desk, startDesk } from "../support/desk.js";

export interface Shown {
  name: string;
  description: string;
  schema: unknown;
}

/** Door is what a client needs to connect. */
export interface Door {
  url: string;
  token: string;
}

/** Way is how a model comes to the tools: a client of the protocol, or an adapter, in its framework. */
export interface Way {
  shown(door: Door): Promise<Shown[]>;
  /** call has the model make a call; returned is what it is told, "" where its client ends its turn. */
  call(door: Door, name: string, args: Record<string, unknown>): Promise<unknown>;
}

/** What a model believes of a call. */
type Belief = "done" | "not done" | "may be done" | "waits" | "nobody told me";

interface First {
  does: string;
  args: Record<string, unknown>;
  rehearsal?: boolean;
  /** What a person decides once it waits. */
  decision?: "APPROVED" | "REJECTED";
  suggested?: Record<string, unknown>;
  /** What the model would send if it is told that this is wrong. */
  corrected?: Record<string, unknown>;
  /** What happens to the service while it is called. */
  meanwhile?: "stopped" | "restarted";
  /** The same call once more, which the model means to be another one. */
  twice?: boolean;
}

const refund = (orderId: string, more: Partial<First> & { amount?: unknown } = {}): First => {
  const { amount = 64.5, ...rest } = more;
  return { does: "Pays an order back", args: { orderId, amount }, ...rest };
};
const note = (orderId: string, text: string, more: Partial<First> = {}): First => ({ does: "Keeps a note", args: { orderId, text }, ...more });
const read = (args: Record<string, unknown>, more: Partial<First> = {}): First => ({ does: "One order", args, ...more });
const search = (args: Record<string, unknown>, more: Partial<First> = {}): First => ({ does: "Orders of a customer", args, ...more });

export const firstCalls: First[] = [
  read({ orderId: "F-1" }),
  read({ orderId: "F-2", reason: "the customer asks where it is" }),
  read({ orderId: "F-3-missing" }),
  read({ orderId: "F-4" }, { rehearsal: true }),
  search({ email: "f5@example.com" }),
  search({ email: "f6@example.com", limit: null, open: true }, { corrected: { email: "f6@example.com", open: true } }),
  search({ email: "f7@example.com", limit: "5" }, { corrected: { email: "f7@example.com", limit: 5 } }),
  refund("F-8", { decision: "APPROVED" }),
  refund("F-9", { decision: "REJECTED" }),
  refund("F-10", { decision: "REJECTED", suggested: { orderId: "F-10", amount: 60 } }),
  refund("F-11"),
  refund("F-12", { amount: 1200 }),
  refund("F-13-pending", { decision: "APPROVED" }),
  refund("F-14-lost", { decision: "APPROVED" }),
  refund("F-15-refused", { decision: "APPROVED" }),
  refund("F-16", { rehearsal: true }),
  refund("F-17", { rehearsal: true, amount: 2000 }),
  refund("F-18", { amount: "64.50", corrected: { orderId: "F-18", amount: 64.5 }, decision: "APPROVED" }),
  refund("F-19", { decision: "APPROVED", twice: true }),
  note("F-20", "called, nobody there"),
  note("F-21", "called again", { args: { orderId: "F-21", text: "again", tags: ["phone"] } }),
  note("F-22", "lost"),
  note("F-23", "pending"),
  note("F-24", "refused"),
  note("F-25", "only tried", { rehearsal: true }),
  note("F-26", "held", { meanwhile: "stopped" }),
  note("F-27", "cut", { meanwhile: "restarted" }),
  { does: "Cancels an order", args: { orderId: "F-28" }, decision: "APPROVED" },
  { does: "Cancels an order", args: { orderId: "F-29" }, decision: "REJECTED" },
  { does: "Changes where", args: { orderId: "F-30", address: { street: "Main St 1", floor: 2 } } },
  { does: "Makes a voucher", args: { percent: 10, task: "F-31" }, rehearsal: true },
];

/** words are all texts in what a model was told, however deep. */
function words(told: unknown): string {
  return (typeof told === "string" ? told : JSON.stringify(told) ?? "").replaceAll("\\", "");
}

const member = (text: string, name: string): string | undefined => new RegExp(`"${name}":\\s?"([^"]*)"`).exec(text)?.[1];

/** believes reads the sentence that the answer has for the model and, where there is none, the outcome as the tool's description defines it. */
function believes(text: string): Belief {
  const message = member(text, "message") ?? "";
  if (/this call sent nothing|nothing was sent|nothing took effect|nothing was begun|before anything was sent$/i.test(message)) return "not done";
  if (/must approve|a stop holds it|it is under way/i.test(message)) return "waits";
  if (/nobody knows|may have taken effect/i.test(message)) return "may be done";
  if (/answered as expected/i.test(message)) return "done";
  // Some clients compare arguments with the schema themselves, and call nothing.
  return member(text, "outcome") === "REFUSED" || /fix your mistakes|fix the following errors/i.test(text) ? "not done" : "nobody told me";
}

export function playsFirstCalls(way: string, played: Way): void {
  describe(`first calls by ${way}`, () => {
    let desk: Desk;
    beforeAll(async () => {
      desk = await startDesk();
    });
    const doorOf = (first: First): Door => ({ url: `${desk.url}/mcp/agents/${desk.agentId}${first.rehearsal ? "/rehearsal" : ""}`, token: desk.token });

    test.each(firstCalls.map((first, n) => [n + 1, first] as const))("%i", async (n, first) => {
      const door = doorOf(first);
      const tool = (await played.shown(door)).find(({ description }) => description.includes(first.does));
      if (!tool) throw new Error(`no tool says ${first.does}`);
      const status = (await played.shown(door)).find(({ name }) => name.endsWith("run_status"));
      const about = String(first.args.orderId ?? first.args.email ?? first.args.task).replace("@", "%40");
      const did: string[] = [];
      let said = "";
      const calls = async (args: Record<string, unknown>, by = tool.name) => {
        said = words(await played.call(door, by, args));
        return said;
      };

      if (first.meanwhile === "stopped") await desk.stop();
      const going = calls(first.args).catch((error: unknown) => void (said = String(error))); // which its client throws
      if (first.meanwhile === "restarted") await desk.restart();
      await going;
      if (first.meanwhile === "stopped") await desk.go();
      // What it wasn't told, and what it is told to, a model tries once more, word for word.
      const same = () => believes(said) === "nobody told me" || /make the (very )?same call again/i.test(said);
      for (let tries = 0; same() && tries < 3; tries++) {
        did.push("made the same call again");
        await calls(first.args).catch((error: unknown) => void (said = String(error)));
      }
      if (first.corrected && believes(said) === "not done") {
        did.push("corrected its arguments");
        await calls(first.corrected);
      }
      if (first.decision && believes(said) === "waits") {
        did.push("ended its turn");
        const run = await desk.waiting(about);
        await desk.decide(run, first.decision, first.suggested);
        await desk.agent.waitRun(run.id, { until: "standstill" });
      }
      for (let tries = 0; believes(said) === "waits" && (first.decision || first.meanwhile) && tries < 20; tries++) {
        if (tries === 0) did.push("asked for its run");
        await calls({ runId: member(said, "runId") ?? "", waitSeconds: 5 }, status?.name);
      }
      if (first.suggested && /"suggestedInput":/.test(said)) {
        did.push("asked for what was suggested");
        await calls(first.suggested);
      }
      if (first.twice) {
        did.push("made the same call for another return");
        await calls(first.args);
      }
      const belief = believes(said);
      const sent = desk.sent(about).filter(({ method }) => method !== "GET");
      const row = [n, first.does, JSON.stringify(first.args), `${member(said, "outcome") ?? "-"}: ${(member(said, "message") ?? said).slice(0, 90)}`, did.join(", ") || "ended its turn", belief, sent.length];
      if (process.env.COUNTERSIGN_TABLE) appendFileSync(process.env.COUNTERSIGN_TABLE, `| ${way} | ${row.join(" | ")} |\n`);

      // Nothing reaches the API twice, and what is believed is so.
      expect(sent.length).toBeLessThanOrEqual(1);
      const reads = desk.sent(about).length > 0 && sent.length === 0;
      const happened: Belief =
        sent.length === 0 && !reads ? (first.decision === undefined && !first.rehearsal && about.startsWith("F-11") ? "waits" : "not done") : /lost|pending/.test(`${sent[0]?.path} ${sent[0]?.body}`) ? "may be done" : /refused|missing/.test(JSON.stringify(desk.sent(about))) ? "not done" : "done";
      if (first.suggested) return expect(belief).toBe("waits"); // for another decision
      if (first.twice) return expect(said).toContain("This call sent nothing");
      expect(belief).toBe(happened);
    });
  });
}
