// What holds for an agent of any framework against the real service: five outcomes, calls at
// once, restarts, waits, cancellation, and sleeping until a person has decided.
import { beforeAll, describe, expect, test } from "vitest";
import type { ToolAnswer, Tools } from "../../src/index.js";
import { answerIn, type Desk, startDesk } from "../support/desk.js";

export interface Asked {
  name: string;
  args: Record<string, unknown>;
}

/** An agent that sleeps, in a form that outlives its process. */
export interface Asleep {
  /** What its framework says that it sleeps for. */
  runId: string;
  goOn(tools: Tools): Promise<unknown>;
}

/** How a framework's agent is played, whose model is scripted. */
export interface Played {
  /** turn has the model make these calls at once; returned is what it was told of each, as its framework passes it on. */
  turn(tools: Tools, calls: Asked[], o?: { wait?: number; signal?: AbortSignal }): Promise<unknown[]>;
  /** sleeps has the model make a call that waits for a person; absent where a framework has nothing to sleep by. */
  sleeps?(tools: Tools, call: Asked): Promise<Asleep>;
}

/** How many seconds a long wait is; `make frameworks` waits longer than clients usually do. */
const longWait = Number(process.env.COUNTERSIGN_LONG_WAIT ?? 1);

export function playsLive(framework: string, played: Played): void {
  describe(`${framework} against the real service`, () => {
    let desk: Desk;
    beforeAll(async () => {
      desk = await startDesk();
    });

    const note = (orderId: string, text: string, more: object = {}): Asked => ({ name: "note", args: { orderId, text, ...more } });
    const refund = (orderId: string, more: object = {}): Asked => ({ name: "refund", args: { orderId, amount: 64.5, waitSeconds: 0, ...more } });
    const told = async (...calls: Asked[]): Promise<ToolAnswer[]> => (await played.turn(await desk.tools(), calls)).map(answerIn);
    /** one is what a model is told that makes the same call again as long as it is under way. */
    const one = async (call: Asked): Promise<ToolAnswer> => {
      for (;;) {
        const [answer] = (await told(call)) as [ToolAnswer];
        if (answer.outcome !== "RUNNING") return answer;
      }
    };

    test("a call that needs nobody is done, and said to be so", async () => {
      expect(await one(note("A-1", "plain"))).toMatchObject({ outcome: "DONE", message: expect.any(String) });
      expect(desk.sent("A-1")).toHaveLength(1);
    });

    test("a call that waits for a person is done once it is approved, and once only", async () => {
      const waits = await one(refund("A-2"));
      expect(waits).toMatchObject({ outcome: "WAITING_FOR_A_PERSON", url: expect.stringContaining("/console/approvals/") });
      expect(desk.sent("A-2")).toEqual([]);
      await desk.decide({ id: waits.runId as string }, "APPROVED");
      await desk.agent.waitRun(waits.runId as string);
      expect(await one(refund("A-2"))).toMatchObject({ outcome: "DONE", runId: waits.runId, replayed: true });
      expect(desk.sent("A-2")).toHaveLength(1);
    });

    test("a rejection is told with its reason, and with what would be approved", async () => {
      const { runId } = await one(refund("A-3"));
      await desk.decide({ id: runId as string }, "REJECTED", { orderId: "A-3", amount: 60 });
      await desk.agent.waitRun(runId as string);
      expect(await one(refund("A-3"))).toMatchObject({ outcome: "REFUSED", error: expect.stringContaining("seen"), suggestedInput: { amount: 60 } });
      expect(desk.sent("A-3")).toEqual([]);
    });

    test("what the API refuses is told in its own words", async () => {
      expect(await one(note("A-4", "refused"))).toMatchObject({ outcome: "REFUSED", steps: [{ response: { statusCode: 422, body: expect.stringContaining("the order is closed") } }] });
    });

    test("what failed its expectation is not said to be done", async () => {
      expect(await one(note("A-5", "pending"))).toMatchObject({ outcome: "NOT_AS_EXPECTED", message: expect.stringContaining("don't do it again") });
    });

    test("a lost answer is unknown, and can't be made again by any means of the model", async () => {
      const lost = await one(note("A-6", "lost"));
      expect(lost).toMatchObject({ outcome: "UNKNOWN", url: expect.stringContaining("/console/recovery/"), message: expect.stringContaining("don't do it again in any form") });
      expect(await one(note("A-6", "lost"))).toMatchObject({ outcome: "UNKNOWN", runId: lost.runId });
      expect(await one(note("A-6", "lost", { again: "it was cut off" }))).toMatchObject({ outcome: "UNKNOWN", error: "state_conflict" });
      expect(await one(note("A-6", "lost", { task: "another" }))).toMatchObject({ outcome: "WAITING_FOR_A_PERSON" });
      expect(desk.sent("A-6")).toHaveLength(1);
    });

    test("calls at once are each told their own answer", async () => {
      const orders = Array.from({ length: 6 }, (_, n) => `B-${n}`);
      const waits = { waitSeconds: 50 }; // for a slot, and for whoever decides
      const calls = [...orders.map((orderId) => ({ name: "read", args: { orderId, ...waits } })), note("B-7", "plain", waits), refund("B-8", waits)];
      const turn = told(...calls);
      await desk.decide(await desk.waiting("B-8"), "APPROVED");
      const answers = await turn;
      expect(answers.map(({ outcome }) => outcome)).toEqual(calls.map(() => "DONE"));
      orders.forEach((orderId, n) => expect(answers[n]?.steps?.[0]?.output).toMatchObject({ id: orderId }));
    });

    test("null for what is optional, as strict schemas have a model send, leaves it out", async () => {
      expect(await one(note("A-9", "plain", { tags: null, task: null, reason: null, again: null, waitSeconds: null }))).toMatchObject({ outcome: "DONE" });
      expect(JSON.parse(desk.sent("A-9")[0]?.body ?? "")).toEqual({ orderId: "A-9", text: "plain" });
    });

    test("wrong arguments are told, with what would be right, and nothing is sent", async () => {
      expect(await one(refund("A-10", { amount: "much" }))).toMatchObject({ outcome: "REFUSED", error: "invalid_request", message: expect.stringContaining("amount") });
      expect(await one({ name: "refund", args: { orderId: "A-10" } })).toMatchObject({ outcome: "REFUSED", error: "invalid_request" });
      expect(desk.sent("A-10")).toEqual([]);
    });

    test("a call that waits outlasts a restart of the service, and is sent once", async () => {
      const turn = played.turn(await desk.tools(), [refund("A-11")], { wait: 3600 });
      const run = await desk.waiting("A-11");
      await desk.restart();
      await desk.decide(run, "APPROVED");
      expect(answerIn((await turn)[0])).toMatchObject({ outcome: "DONE", runId: run.id });
      expect(desk.sent("A-11")).toHaveLength(1);
    });

    test("a call outlasts a long wait", async () => {
      const turn = played.turn(await desk.tools(), [refund("A-12")], { wait: 3600 });
      const run = await desk.waiting("A-12");
      await new Promise((resolve) => setTimeout(resolve, 1000 * longWait));
      await desk.decide(run, "APPROVED");
      expect(answerIn((await turn)[0])).toMatchObject({ outcome: "DONE", runId: run.id });
    });

    test("an agent that is cancelled while its call waits leaves a run that nobody has decided, and nothing is sent", async () => {
      const cancel = new AbortController();
      const turn = played.turn(await desk.tools(), [refund("A-13")], { wait: 3600, signal: cancel.signal });
      const ended = turn.catch(() => "some frameworks throw, others tell their model");
      const run = await desk.waiting("A-13");
      cancel.abort();
      await ended;
      expect(await desk.run(run.id)).toMatchObject({ status: "WAITING_APPROVAL" });
      expect(desk.sent("A-13")).toEqual([]);
    });

    if (!played.sleeps) return;
    const sleeps = played.sleeps;
    const gate = { waitSeconds: 4 }; // until it is known that a person is asked

    test("an agent sleeps until its call is approved, over a restart, and its call is sent once", async () => {
      const asleep = await sleeps(await desk.tools(), refund("A-14", gate));
      await desk.restart();
      await desk.decide({ id: asleep.runId }, "APPROVED");
      await desk.agent.waitRun(asleep.runId);
      expect(answerIn(await asleep.goOn(await desk.tools()))).toMatchObject({ outcome: "DONE", runId: asleep.runId });
      expect(desk.sent("A-14")).toHaveLength(1);
    });

    test("an agent that wakes up is told of a rejection, and of what would be approved", async () => {
      const asleep = await sleeps(await desk.tools(), refund("A-15", gate));
      await desk.decide({ id: asleep.runId }, "REJECTED", { orderId: "A-15", amount: 60 });
      await desk.agent.waitRun(asleep.runId);
      expect(answerIn(await asleep.goOn(await desk.tools()))).toMatchObject({ outcome: "REFUSED", runId: asleep.runId, suggestedInput: { amount: 60 } });
      expect(desk.sent("A-15")).toEqual([]);
    });
  });
}
