// The sections of a receipt as values, and how their members are read.
import { Digits, type Json } from "./canonical.js";

export interface Checks {
  sha256(...parts: Uint8Array[]): string;
  /** By the key of the receipt. */
  signed(text: Uint8Array, signature: string): boolean;
  /** By any key. */
  signedBy(publicKey: string, text: Uint8Array, signature: string): boolean;
}

/** The sections, and the format that they are of. */
export type Claims = { format: string } & Record<"approvals" | "audit" | "plan" | "requests" | "run" | "statement", Json>;

// What is missing, or of another type, reads as nothing.
export const at = (v: Json | undefined, name: string): Json | undefined => (v instanceof Map ? v.get(name) : undefined);
export const has = (v: Json | undefined, name: string): boolean => v instanceof Map && v.has(name);
export const text = (v: Json | undefined): string => (typeof v === "string" ? v : "");
export const list = (v: Json | undefined): Json[] => (Array.isArray(v) ? v : []);
export const exists = (v: Json | undefined): v is Json => v !== undefined && v !== null;
export const digits = (v: Json | undefined): string => (v instanceof Digits ? v.text : "");
/** A number that counts something, below 10^15; -1 for anything else. */
export const whole = (v: Json | undefined): number => (/^[0-9]{1,15}$/.test(digits(v)) ? Number(digits(v)) : -1);

export const masked = (c: Claims): boolean => at(c.statement, "masked") === true;

export const redacted = (c: Claims): boolean => at(c.statement, "redacted") === true;
