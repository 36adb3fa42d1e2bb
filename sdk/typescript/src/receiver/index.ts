export { type Answer, json, maxBytes, type Reply } from "./answer.js";
export { expressMiddleware, type VerifiedRequest } from "./express.js";
export { MemoryStore, type MemoryBounds } from "./memory.js";
export { type Handler, nodeHandler } from "./node.js";
export { type Delivery, remember, type RememberOptions } from "./remember.js";
export type { ReceivedCall, ReceiverOptions } from "./request.js";
export { bodyHash, type Call, type HeadersIn, runtimeHeaders, type Secret, SignatureError, type SignedRequest, verifySignature } from "./signature.js";
export { type Begin, type Queryable, schema, SqlStore, SqlTransactions, transactionsOf } from "./sql.js";
export { type Claim, type Entry, NotClaimed, type Store, type Transactor } from "./store.js";
