import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { CountersignError, type Heartbeat, type HeartbeatAck } from "../src/index.js";
import { hostname } from "node:os";
import { hostInstance, startHeartbeat } from "../src/heartbeat.js";

beforeEach(() => vi.useFakeTimers({ now: 1_767_225_600_000 }));
afterEach(() => vi.useRealTimers());

/** sink takes beats and answers each as told. */
function sink(answer: (beat: Heartbeat, n: number) => Promise<unknown> = async () => ({})) {
  const beats: Heartbeat[] = [];
  return {
    beats,
    heartbeat: async (_: string, beat: Heartbeat) => answer(beat, beats.push(beat)) as Promise<HeartbeatAck>,
    agent: async () => ({ instances: [{ instanceId: "i-1", sequence: 1_900_000_000_000 }] }) as never,
  };
}

test("beats come at once and at each interval, with a sequence above any earlier one", async () => {
  const to = sink();
  const loop = startHeartbeat(to, { agentId: "a", instanceId: "i-1", jitter: 0, state: () => "BUSY" });
  await vi.advanceTimersByTimeAsync(60_000);
  await loop.stop();
  expect(to.beats.map((beat) => beat.sequence)).toEqual([1_767_225_600_000, 1_767_225_600_001, 1_767_225_600_002]);
  expect(to.beats.map((beat) => beat.timestamp)).toEqual(["2026-01-01T00:00:00.000Z", "2026-01-01T00:00:30.000Z", "2026-01-01T00:01:00.000Z"]);
  expect(to.beats[0]).toMatchObject({ instanceId: "i-1", state: "BUSY" });
});

test("no two intervals need be the same, and none is more than the jitter away", async () => {
  const to = sink();
  const loop = startHeartbeat(to, { agentId: "a", jitter: 0.1 });
  await vi.advanceTimersByTimeAsync(600_000);
  await loop.stop();
  const times = to.beats.map((beat) => Date.parse(beat.timestamp));
  const gaps = times.slice(1).map((time, i) => time - (times[i] as number));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(27_000);
  expect(Math.max(...gaps)).toBeLessThanOrEqual(33_001);
  expect(new Set(gaps).size).toBeGreaterThan(1);
});

test("a beat that isn't answered holds the next one back", async () => {
  let answered = () => {};
  const to = sink((_, n) => (n === 1 ? new Promise<void>((done) => (answered = done)) : Promise.resolve()));
  const loop = startHeartbeat(to, { agentId: "a", jitter: 0 });
  await vi.advanceTimersByTimeAsync(300_000);
  expect(to.beats).toHaveLength(1);
  answered();
  await vi.advanceTimersByTimeAsync(30_000);
  expect(to.beats).toHaveLength(2);
  await loop.stop();
});

test("errors go to the callback, and the loop goes on whatever that does", async () => {
  const to = sink(async () => Promise.reject(new Error("away")));
  const errors: unknown[] = [];
  const loop = startHeartbeat(to, { agentId: "a", jitter: 0, onError: (error) => { errors.push(error); throw error; } });
  await vi.advanceTimersByTimeAsync(90_000);
  await loop.stop();
  expect(errors).toHaveLength(4);
});

test("an instance without a name has its machine's, the same after a restart", async () => {
  const ids = [];
  for (let life = 0; life < 2; life++) {
    const loop = startHeartbeat(sink(), { agentId: "a" });
    ids.push(loop.instanceId);
    await loop.stop();
  }
  expect(ids[0]).toBe(ids[1]);
  expect(ids[0]).toBe(hostInstance(hostname()));
  expect(hostInstance("büro 2.local")).toBe("host-b-ro-2.local");
  expect(hostInstance("a".repeat(200))).toHaveLength(105);
});

test("a sequence conflict makes it go above what the service has heard", async () => {
  const to = sink(async (_, n) => n === 1 ? Promise.reject(new CountersignError("sequence_conflict", "used", { status: 409 })) : {});
  const loop = startHeartbeat(to, { agentId: "a", instanceId: "i-1", jitter: 0 });
  await vi.advanceTimersByTimeAsync(30_000);
  await loop.stop();
  expect(to.beats.map((beat) => beat.sequence)).toEqual([1_767_225_600_000, 1_900_000_000_001]);
});

test("of two processes under one id one is told to take a name of its own, and its loop ends", async () => {
  let last = 0;
  const shared = {
    heartbeat: async (_: string, beat: Heartbeat) => {
      if (beat.sequence <= last) throw new CountersignError("sequence_conflict", "used", { status: 409 });
      last = beat.sequence;
      return {} as HeartbeatAck;
    },
    agent: async () => ({ instances: [{ instanceId: "i-1", sequence: last }] }) as never,
  };
  const errors: unknown[][] = [[], []];
  let beats = 0;
  const first = startHeartbeat(shared, { agentId: "a", instanceId: "i-1", jitter: 0, onError: (error) => errors[0]?.push(error) });
  await vi.advanceTimersByTimeAsync(10_000);
  const second = startHeartbeat(shared, { agentId: "a", instanceId: "i-1", jitter: 0, onError: (error) => errors[1]?.push(error), onBeat: () => beats++ });
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(errors[0]).toMatchObject([{ code: "sequence_conflict", message: expect.stringContaining("another process beats as instance i-1") }]);
  expect(errors[1]).toEqual([]);
  expect(beats).toBe(121);
  await Promise.all([first.stop(), second.stop()]);
});

test("after stop no beat comes and no timer is left", async () => {
  const to = sink();
  const loop = startHeartbeat(to, { agentId: "a" });
  await vi.advanceTimersByTimeAsync(0);
  await loop.stop();
  expect(vi.getTimerCount()).toBe(0);
  await vi.advanceTimersByTimeAsync(300_000);
  expect(to.beats).toHaveLength(1);
});
