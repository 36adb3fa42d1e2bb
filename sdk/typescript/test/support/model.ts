// A scripted model in the form of the AI SDK's provider specification, version 2, which its later releases take too.
interface Shown {
  tools: { name: string; description: string; inputSchema: unknown }[];
  prompt: { role: string; content: unknown }[];
}

/** callsRefund calls refund with these arguments, and ends its turn once it has a result. */
export function callsRefund(args: object) {
  const seen: Shown[] = [];
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const answer = (shown: Shown) => {
    seen.push(shown);
    const told = shown.prompt.some(({ role }) => role === "tool");
    const content = told ? { type: "text", text: JSON.stringify(shown.prompt.at(-1)) } : { type: "tool-call", toolCallId: "1", toolName: "refund", input: JSON.stringify(args) };
    return { content: [content], finishReason: told ? "stop" : "tool-calls", usage, warnings: [] };
  };
  return {
    specificationVersion: "v2",
    provider: "scripted",
    modelId: "scripted",
    supportedUrls: {},
    seen,
    doGenerate: async (shown: Shown) => answer(shown),
    doStream: async (shown: Shown) => {
      const { content: [part], finishReason } = answer(shown);
      const text = [{ type: "text-start", id: "t" }, { type: "text-delta", id: "t", delta: (part as { text?: string })?.text }, { type: "text-end", id: "t" }];
      const parts = [{ type: "stream-start", warnings: [] }, ...(part?.type === "text" ? text : [part]), { type: "finish", finishReason, usage }];
      return { stream: ReadableStream.from(parts) };
    },
  };
}
