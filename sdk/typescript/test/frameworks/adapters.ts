// Each adapter as a way of its own to the tools.
import { Countersign, type Tools } from "../../src/index.js";
import { type Door, playsFirstCalls } from "./firstcalls.js";
import type { Played } from "./played.js";

/** playsAdapter plays the first calls by an adapter, whose tools are the SDK's. */
export function playsAdapter(framework: string, { turn }: Played): void {
  const listed = new Map<string, Promise<Tools>>();
  const tools = ({ url, token }: Door): Promise<Tools> => {
    const { origin, pathname } = new URL(url);
    const [agentId = "", rehearsal] = pathname.split("/").slice(3);
    const made = listed.get(url) ?? new Countersign({ baseUrl: origin, token }).tools(agentId, { rehearsal: rehearsal !== undefined });
    listed.set(url, made);
    return made;
  };
  playsFirstCalls(`the adapter for ${framework}`, {
    shown: tools,
    call: async (door, name, args) => (await turn(await tools(door), [{ name, args }]))[0],
  });
}
