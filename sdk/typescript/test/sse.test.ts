import { expect, test } from "vitest";
import { serverEvents, type ServerEvent } from "../src/sse.js";

async function* bytes(...chunks: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk;
}

async function read(...chunks: (string | Uint8Array)[]): Promise<ServerEvent[]> {
  const events: ServerEvent[] = [];
  for await (const event of serverEvents(bytes(...chunks))) events.push(event);
  return events;
}

const text = ': hello\n\nid: 1\nevent: run\ndata: {"a":\ndata: "größe"}\n\ndata\n\nid: 2\nretry: 5\ndata:x\n\n';
const want = [
  { id: "1", event: "run", data: '{"a":\n"größe"}' },
  { id: "1", event: "message", data: "" },
  { id: "2", event: "message", data: "x" },
];

test.each(["\n", "\r", "\r\n"])("events are the same with the line end %j, wherever chunks end", async (end) => {
  const whole = new TextEncoder().encode(text.replaceAll("\n", end));
  expect(await read(whole)).toEqual(want);
  expect(await read(...Array.from(whole, (byte) => Uint8Array.of(byte)))).toEqual(want);
  for (let cut = 1; cut < whole.length; cut++) expect(await read(whole.subarray(0, cut), whole.subarray(cut))).toEqual(want);
});

test("an event that the stream cuts off is none", async () => {
  expect(await read("id: 1\ndata: whole\n\nid: 2\ndata: half\n")).toEqual([{ id: "1", event: "message", data: "whole" }]);
});

test("a line without an end is not read for ever", async () => {
  const mebibyte = "x".repeat(1 << 20);
  await expect(read("data: ", ...Array(9).fill(mebibyte))).rejects.toThrow("too long");
  await expect(read(...Array(9).fill(`data: ${mebibyte}\n`))).rejects.toThrow("too long");
});
