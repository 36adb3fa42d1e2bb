export const target: string;
export function bundled(): string;
