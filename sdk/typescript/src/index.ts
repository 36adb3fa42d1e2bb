export { Countersign, type CallOptions, type StartOptions } from "./client.js";
export { CountersignConnectionError, CountersignError, type ErrorCode, errorCodes } from "./errors.js";
export type { HeartbeatLoop, HeartbeatOptions } from "./heartbeat.js";
export { type Body, RawJson, rawJson } from "./json.js";
export { Listing, type Page } from "./listing.js";
export type { Options as CountersignOptions } from "./options.js";
export { type Arguments, type Tool, type ToolAnswer, ToolError, type Tools, type ToolsOptions } from "./tools.js";
export type * from "./types.js";
export type { WaitOptions } from "./wait.js";
