// The Ed25519 keys that count: those for which their holder alone can sign.

const prime = 2n ** 255n - 19n;

/** The y of the eight points of small order, for which one signature is good for any text. */
const smallOrder = [
  0n,
  1n,
  prime - 1n,
  0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n,
  0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n,
];

/** holdersAlone reports a key in the one form that it has, for which not anybody can sign. */
export function holdersAlone(publicKey: Uint8Array): boolean {
  const y = BigInt(`0x${Buffer.from(publicKey).reverse().toString("hex")}`) & (2n ** 255n - 1n);
  return publicKey.length === 32 && y < prime && !smallOrder.includes(y);
}
