// A scripted model in the form of the AI SDK's provider specification, version 2, which its later releases take too.
interface Shown {
  tools: { name: string; description: string; inputSchema: unknown }[];
  prompt: { role: string; content: unknown }[];
}

interface Result {
  toolCallId: string;
  output: { type: string; value: unknown };
}

export const callsRefund = (args: object) => callsTools([{ name: "refund", args }]);

/** callsTools makes these calls at once, and ends its turn once it has a result. */
export function callsTools(calls: { name: string; args: object }[]) {
  const seen: Shown[] = [];
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const answer = (shown: Shown) => {
    seen.push(shown);
    const told = shown.prompt.some(({ role }) => role === "tool");
    const asked = calls.map(({ name, args }, n) => ({ type: "tool-call", toolCallId: String(n + 1), toolName: name, input: JSON.stringify(args) }));
    const content = told ? [{ type: "text", text: JSON.stringify(shown.prompt.at(-1)) }] : asked;
    return { content, finishReason: told ? "stop" : "tool-calls", usage, warnings: [] };
  };
  return {
    specificationVersion: "v2",
    provider: "scripted",
    modelId: "scripted",
    supportedUrls: {},
    seen,
    /** told is what it was told of each call, in their order. */
    told: (): unknown[] => {
      const results = (seen.at(-1)?.prompt ?? []).filter(({ role }) => role === "tool").flatMap(({ content }) => content as Result[]);
      return calls.map((_, n) => results.find(({ toolCallId }) => toolCallId === String(n + 1))?.output.value);
    },
    doGenerate: async (shown: Shown) => answer(shown),
    doStream: async (shown: Shown) => {
      const { content, finishReason } = answer(shown);
      const parts = content.flatMap((part) =>
        part.type === "text" ? [{ type: "text-start", id: "t" }, { type: "text-delta", id: "t", delta: (part as { text: string }).text }, { type: "text-end", id: "t" }] : [part as object],
      );
      return { stream: ReadableStream.from([{ type: "stream-start", warnings: [] }, ...parts, { type: "finish", finishReason, usage }]) };
    },
  };
}
