import { hostname } from "node:os";
import { CountersignError } from "./errors.js";
import { sleep } from "./time.js";
import type { AgentWithInstances, Heartbeat, HeartbeatAck } from "./types.js";

export interface HeartbeatOptions {
  /** The service's id of the agent. */
  agentId: string;
  /** Of this process, the same after a restart; default this machine's name. Two processes at a time need one each. */
  instanceId?: string;
  /** Default 30000; the service calls an instance STALE after 120 s. */
  intervalMs?: number;
  /** How much of the interval is left to chance, so that instances don't beat together. Default 0.1. */
  jitter?: number;
  /** Asked before each beat. Default "IDLE". */
  state?: () => Heartbeat["state"];
  /** Is told each beat that failed; the loop goes on. */
  onError?: (error: unknown) => void;
  /** Is told each beat that was acknowledged. */
  onBeat?: (ack: HeartbeatAck) => void;
}

/** A loop that runs until `stop`, which ends a beat under way as well. */
export interface HeartbeatLoop {
  readonly instanceId: string;
  stop(): Promise<void>;
}

/** Where beats go; the client is one. */
interface Sink {
  heartbeat(agentId: string, beat: Heartbeat, options: { signal?: AbortSignal }): Promise<HeartbeatAck>;
  agent(agentId: string, options: { signal?: AbortSignal }): Promise<AgentWithInstances>;
}

/**
 * startHeartbeat says at once, and then at each interval, that this instance lives.
 * A beat starts only when the one before it is answered. The sequence starts at the
 * clock's milliseconds: a process that restarts under the same instance id goes on
 * above what it used before. Two processes under one id can't go on: one of them is
 * told so by onError, with the code sequence_conflict, and its loop ends.
 */
export function startHeartbeat(sink: Sink, options: HeartbeatOptions): HeartbeatLoop {
  const loop = new Loop(sink, options);
  const done = loop.run();
  return { instanceId: loop.instanceId, stop: () => (loop.end(), done) };
}

/**
 * hostInstance is an instance's name by its machine, which recurs where the process starts
 * again: the service keeps each name that it has heard.
 */
export function hostInstance(name: string): string {
  return "host-" + name.replace(/[^A-Za-z0-9._-]/g, "-").slice(0, 100);
}

class Loop {
  readonly instanceId: string;
  readonly #sink: Sink;
  readonly #options: HeartbeatOptions;
  readonly #stopped = new AbortController();
  #sequence = Date.now();
  #ended = false; // by another process of the same name
  #settled = false; // the sequence is above all that this instance used before

  constructor(sink: Sink, options: HeartbeatOptions) {
    this.#sink = sink;
    this.#options = options;
    this.instanceId = options.instanceId ?? hostInstance(hostname());
    const { intervalMs = 30_000, jitter = 0.1 } = options;
    if (!(intervalMs > 0) || !(jitter >= 0 && jitter < 1)) throw new TypeError("intervalMs must be above 0, jitter from 0 to below 1");
  }

  end(): void {
    this.#stopped.abort();
  }

  async run(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await this.#try(() => this.#beat());
      if (this.#ended) return;
      await sleep(this.#pause(), signal, "unref").catch(() => {});
    }
  }

  #pause(): number {
    const { intervalMs = 30_000, jitter = 0.1 } = this.#options;
    return intervalMs * (1 + jitter * (2 * Math.random() - 1));
  }

  async #beat(): Promise<void> {
    const { signal } = this.#stopped;
    const state = this.#options.state?.() ?? "IDLE";
    const beat = { instanceId: this.instanceId, sequence: this.#sequence++, state, timestamp: new Date().toISOString() };
    try {
      const ack = await this.#sink.heartbeat(this.#options.agentId, beat, { signal });
      this.#settled = true;
      this.#options.onBeat?.(ack);
    } catch (error) {
      if (!(error instanceof CountersignError) || error.code !== "sequence_conflict") throw error;
      if (this.#settled) throw this.#shared(error);
      await this.#jumpAhead();
      throw error;
    }
  }

  /** jumpAhead goes above what the service has heard of this instance, by a clock that was ahead of ours. */
  async #jumpAhead(): Promise<void> {
    const agent = await this.#sink.agent(this.#options.agentId, { signal: this.#stopped.signal });
    const known = agent.instances.find((instance) => instance.instanceId === this.instanceId);
    this.#sequence = Math.max(this.#sequence, Date.now(), (known?.sequence ?? 0) + 1);
    this.#settled = true;
  }

  /** shared ends the loop: the name stays with the other process, else both would jump ahead for ever. */
  #shared(error: CountersignError): CountersignError {
    this.#ended = true;
    const message = `another process beats as instance ${this.instanceId} of agent ${this.#options.agentId}; give each process an instanceId of its own`;
    return new CountersignError(error.code, message, { status: error.status, requestId: error.requestId });
  }

  /** try lets nothing end the loop, an error callback that throws included. */
  async #try(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (this.#stopped.signal.aborted) return;
      try {
        this.#options.onError?.(error);
      } catch {
        // whoever listens is on their own
      }
    }
  }
}
