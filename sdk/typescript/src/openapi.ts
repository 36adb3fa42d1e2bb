// Generated from the service's OpenAPI document by `npm run generate`. Not for editing.

export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Action: {
            description: string;
            id: string;
            inputs: string[];
            memoryEffects: components["schemas"]["MemoryEffect"][];
            name: string;
            simulatedResult: string;
        };
        ActionBinding: {
            capability: string;
            expectation?: components["schemas"]["Expectation"];
            input?: {
                [key: string]: unknown;
            };
            /** @description input name to variable id, read before the action's own effects */
            inputVariables?: {
                [key: string]: string;
            };
            projectId: string;
        };
        Admission: {
            /** @description of admit only, at most 20; absent: the agent keeps those that it has, and an empty list takes them away */
            budgets?: components["schemas"]["Budget"][];
            /**
             * Format: int64
             * @description absent: whatever the revision is
             */
            expectedRevision?: number;
            /** @description never blank */
            reason: string;
        };
        Agent: {
            /** @description given at its admission: how often its LIVE steps may call, and for how much */
            budgets?: components["schemas"]["Budget"][];
            capabilities: string[];
            /** Format: date-time */
            createdAt: string;
            /** @description fixed inputs by capability name */
            executorInputs: {
                [key: string]: {
                    [key: string]: unknown;
                };
            };
            externalAgentId: string;
            goal: string;
            id: string;
            /** @description by which tokens of identity providers a caller is this agent */
            identities?: components["schemas"]["AgentIdentity"][];
            /**
             * Format: int64
             * @description of the identities alone; absent, which is 0, at first
             */
            identitiesRevision?: number;
            /** Format: date-time */
            lastHeartbeatAt?: string;
            /**
             * @description the worst of the instances heard within 120 s; shown, never a gate
             * @enum {string}
             */
            liveness: "UNKNOWN" | "STALE" | "ONLINE" | "BUSY" | "ERROR";
            modelId?: string;
            name: string;
            /** @description the system that it belongs to */
            projectId: string;
            /** @description true: hidden from lists unless asked for, and nothing new is made of it; restoring ends that */
            retired?: boolean;
            /**
             * Format: int64
             * @description the registry's: rises with each synced change and each suspension
             */
            revision: number;
            role: string;
            /**
             * Format: int64
             * @description the manifest's own revision
             */
            sourceRevision: number;
            /** @enum {string} */
            status: "PENDING" | "ADMITTED";
            suspended: boolean;
            /** Format: date-time */
            updatedAt: string;
        };
        AgentIdentity: {
            /** @description sub, azp, client_id, act.sub, or an https:// name. Where it isn't sub, the token's sub is the person on whose behalf the agent acts */
            claim: string;
            /** @description the issuer's address, as its tokens have it in iss */
            issuer: string;
            /** @description absent: both */
            modes?: ("DRY_RUN" | "LIVE")[];
            value: string;
        };
        AgentModel: {
            actions: components["schemas"]["Action"][];
            agent: components["schemas"]["ModelAgent"];
            description: string;
            id: string;
            name: string;
            /** Format: int64 */
            revision: number;
            scenarios: components["schemas"]["Scenario"][];
            /** @enum {string} */
            schemaVersion: "1.0.0";
            scope: components["schemas"]["ModelScope"];
            states: components["schemas"]["ModelState"][];
            transitions: components["schemas"]["Transition"][];
            updatedAt: string;
            variables: components["schemas"]["Variable"][];
        };
        AgentPage: {
            /** @description the resources of this page */
            items: components["schemas"]["ListedAgent"][];
            /**
             * Format: int64
             * @description offset of the next page, null on the last
             */
            nextOffset: number | null;
            /**
             * Format: int64
             * @description how many there are in scope and matching the filters
             */
            total: number;
        };
        AgentRunStart: {
            capability: string;
            /** @description required for LIVE, unless the capability has one; judged besides it */
            expectation?: components["schemas"]["Expectation"];
            /**
             * Format: int64
             * @description the agent's current revision
             */
            expectedRevision: number;
            /** @description all but the agent's fixed inputs */
            inputs?: {
                [key: string]: unknown;
            };
            /**
             * @description default DRY_RUN
             * @enum {string}
             */
            mode?: "DRY_RUN" | "LIVE";
            /** @description as of POST /runs */
            reason?: string;
        };
        AgentWithInstances: {
            /** @description given at its admission: how often its LIVE steps may call, and for how much */
            budgets?: components["schemas"]["Budget"][];
            capabilities: string[];
            /** Format: date-time */
            createdAt: string;
            /** @description fixed inputs by capability name */
            executorInputs: {
                [key: string]: {
                    [key: string]: unknown;
                };
            };
            externalAgentId: string;
            goal: string;
            id: string;
            /** @description by which tokens of identity providers a caller is this agent */
            identities?: components["schemas"]["AgentIdentity"][];
            /**
             * Format: int64
             * @description of the identities alone; absent, which is 0, at first
             */
            identitiesRevision?: number;
            /**
             * Format: int64
             * @description how many there are: those heard within 30 days
             */
            instanceCount: number;
            /** @description those heard last, newest first, at most 1000 */
            instances: components["schemas"]["Instance"][];
            /** Format: date-time */
            lastHeartbeatAt?: string;
            /**
             * @description the worst of the instances heard within 120 s; shown, never a gate
             * @enum {string}
             */
            liveness: "UNKNOWN" | "STALE" | "ONLINE" | "BUSY" | "ERROR";
            modelId?: string;
            name: string;
            /** @description the system that it belongs to */
            projectId: string;
            /** @description true: hidden from lists unless asked for, and nothing new is made of it; restoring ends that */
            retired?: boolean;
            /**
             * Format: int64
             * @description the registry's: rises with each synced change and each suspension
             */
            revision: number;
            role: string;
            /**
             * Format: int64
             * @description the manifest's own revision
             */
            sourceRevision: number;
            /** @enum {string} */
            status: "PENDING" | "ADMITTED";
            suspended: boolean;
            /** Format: date-time */
            updatedAt: string;
        };
        AgentWords: {
            /** @description why a call that was made within a day is made again */
            again?: string;
            /** @description why the agent asks, in its own words */
            reason?: string;
            /** @description what the call belongs to; the same inputs for another task are another run */
            task?: string;
        };
        AnswerEvidence: {
            /** @description the answer's raw body */
            bodyBase64: string;
            /** @description the X-Runtime-Answer that came with the answer */
            signature: string;
            /** @description the X-Runtime-Timestamp that the request was sent with */
            timestamp: string;
        };
        AnswerKeysWrite: {
            /** @description the Ed25519 public keys by which the receiver signs: none, one, or two while it changes; ed25519: and 64 hex digits each */
            answerKeys: string[];
        };
        AnsweredBy: {
            /**
             * Format: date-time
             * @description when the receiver signed it, by its own clock
             */
            at: string;
            /** @description SHA-256 of the answer key's 32 bytes, lowercase hex */
            keyId: string;
        };
        Approval: {
            /** @description what the agent said of its call over MCP; nobody has checked it */
            agentWords?: components["schemas"]["AgentWords"];
            /**
             * Format: int64
             * @description how many different deciders must approve; absent in records of older releases, which needed one
             */
            approvalsNeeded?: number;
            /**
             * Format: int64
             * @description 1 or 2: how many times it was asked for anew in this attempt since the state had changed; after the second the step fails instead
             */
            askedAgain?: number;
            /** @description of a call over MCP: the latest approval of the same capability, with the same inputs or title, that a person rejected within 24 hours before */
            askedAgainAfter?: string;
            /**
             * Format: int64
             * @description which attempt of the step it lets out
             */
            attempt: number;
            /** @description no user that this service knows is the person for whom the agent asked, so that it can't say who that is */
            behindUnknown?: boolean;
            capability: string;
            /** @description what of the state is no longer as it was in the approval before */
            changed?: components["schemas"]["StateChange"][];
            /** Format: date-time */
            decidedAt?: string;
            decidedBy?: string;
            /** @description the same of who decided */
            decidedByMakers?: string[];
            /** @description a token's name, a user's or an agent's */
            decidedByName?: string;
            /**
             * @description each approval of it must be signed with a passkey: the tenant asked for that when it was asked for
             * @enum {string}
             */
            decisionAssertion?: "PASSKEY";
            decisionReason?: string;
            /** @description oldest first; decidedBy is who gave the last */
            decisions?: components["schemas"]["GivenDecision"][];
            /** @description who may decide in place of the groups, and from when */
            escalations?: components["schemas"]["Escalation"][];
            /** @description what will judge the answer: an Expectation, or an array of several that must all hold */
            expectation?: unknown;
            /** Format: date-time */
            expiresAt: string;
            /** @description every decider is a member of one of them, and each has at least one decider */
            groups?: string[];
            id: string;
            /** @description the run's */
            identity?: components["schemas"]["Identity"];
            inputSnapshot: {
                [key: string]: unknown;
            };
            /** @description the run's: for whom the agent asked */
            onBehalfOf?: components["schemas"]["OnBehalfOf"];
            /** @description up to 10 runs with the same capability and the same inputs or title whose outcome nobody knows: this one could do it twice */
            openAlike?: string[];
            planId: string;
            /** @description the approval that it takes the place of */
            previousApprovalId?: string;
            projectId: string;
            /** @description of the rules and budgets that ask, or that the same call is open */
            reasons?: string[];
            /**
             * Format: date-time
             * @description when what its run held was removed
             */
            redactedAt?: string;
            request: components["schemas"]["Request"];
            /** @description absent for who must not see all of the request */
            requestDigest?: string;
            /** Format: date-time */
            requestedAt: string;
            /** @description who asked for the run */
            requestedBy: string;
            /** @description who made the token that asked, or the sign-in link of the session that did, and who made that one, nearest first, up to a user or the bootstrap token */
            requestedByMakers?: string[];
            /** @description a token's name, a user's or an agent's */
            requestedByName?: string;
            /** @description what became of earlier runs of the agent, or of the token that asked; absent where there is too little; lists leave it out */
            requesterRecord?: components["schemas"]["RequesterRecord"];
            /**
             * Format: date-time
             * @description the run's: the request may have been sent by the store that this one replaces
             */
            restoredAt?: string;
            runId: string;
            /** @description why the run was started, in the words of who started it */
            runReason?: string;
            /** @description up to 10 other LIVE runs of the last 90 days with the same request, newest first; lists leave it out */
            same?: components["schemas"]["SameRequest"][];
            /** @description both go back to one maker: one person may have moved both */
            sharedMaker?: boolean;
            /** @description where inputs come from that an earlier step answered */
            sources?: components["schemas"]["InputSource"][];
            /** @description where the capability has a precondition: what was read before it was asked for, or when a reviewer looked again. It is read once more before anything is sent */
            state?: components["schemas"]["State"];
            /** @description of state: SHA-256 of the canonical form of its capability and fields; absent for who must not see all of it */
            stateDigest?: string;
            /** @enum {string} */
            status: "PENDING" | "APPROVED" | "REJECTED";
            stepId: string;
            /** @description the latest rejection with a suggestion of these very inputs, of the 90 days before; lists leave it out */
            suggestedFrom?: components["schemas"]["SuggestedFrom"];
            /** @description what who rejected it would approve instead, as inputs of the capability; a run with them is a new run with its own approval */
            suggestedInput?: {
                [key: string]: unknown;
            };
            /** @description true: another one was asked for in its place; it lets nothing out any more, whatever the state is later */
            superseded?: boolean;
            /** @description the capability's title, filled from what will be sent */
            title?: string;
            /** @description what is usually approved of this capability; absent where there is too little, or it is hidden from you; lists leave it out */
            usual?: components["schemas"]["Usual"];
        };
        ApprovalPage: {
            /** @description the resources of this page */
            items: components["schemas"]["ListedApproval"][];
            /**
             * Format: int64
             * @description offset of the next page, null on the last
             */
            nextOffset: number | null;
            /**
             * Format: int64
             * @description how many there are in scope and matching the filters
             */
            total: number;
        };
        ApprovalRule: {
            /**
             * Format: int64
             * @description how many different deciders must approve; default 1
             */
            approvals?: number;
            /** @description who may decide in place of the groups when nobody has for a while */
            escalate?: components["schemas"]["Escalate"];
            /** @description every decider is a member of one of them, and each has at least one decider */
            groups?: string[];
            /** @description why, for those who are asked or denied; never blank */
            reason: string;
            /** @enum {string} */
            then: "ALLOW" | "ASK" | "DENY";
            /** @description over the inputs as they will be sent; variableId is an input, a dotted path leads deeper */
            when: components["schemas"]["Condition"];
        };
        Assertion: {
            authenticatorData: string;
            /** @description its bytes, not its text */
            clientDataJSON: string;
            credentialId: string;
            /** @description of the passkey as it was registered: SubjectPublicKeyInfo, base64url */
            publicKey: string;
            /**
             * Format: int64
             * @description sequence number of the audit record of the passkey's registration
             */
            registration: number;
            /** @description the relying party of the passkey: the name in the service's public address */
            rpId: string;
            signature: string;
        };
        AuditCheckpoint: {
            /** @description the signed note, with the signature of the log and the cosignatures */
            checkpoint: string;
            cosignatures: components["schemas"]["AuditCosignature"][];
            /**
             * Format: int64
             * @description of the log: 0 is the first; another is another log to whoever verifies it
             */
            epoch: number;
            /** @description RFC 6962 tree hash, lowercase hex */
            head: string;
            /** @description the vkey by which the checkpoint is signed */
            logKey: string;
            /** @description names the log */
            origin: string;
            /**
             * Format: int64
             * @description records that the head counts
             */
            records: number;
        };
        AuditCosignature: {
            /** Format: date-time */
            at: string;
            /** @description its vkey, as the settings have it */
            witness: string;
        };
        AuditExport: {
            /**
             * Format: int64
             * @description only records behind this sequence number were asked for
             */
            after?: number;
            /** Format: date-time */
            at: string;
            /** @description the newest head that witnesses have cosigned; absent before the first */
            cosigned?: components["schemas"]["AuditCheckpoint"];
            /** @description some records were not asked for */
            filtered: boolean;
            /** @description its RFC 6962 tree hash, lowercase hex */
            head: string;
            /**
             * Format: int64
             * @description lines before this one
             */
            records: number;
            /**
             * Format: int64
             * @description records of the whole log
             */
            size: number;
            /** @description whose log it is; empty for the realm's */
            tenantId: string;
        };
        AuditExportEnd: {
            export: components["schemas"]["AuditExport"];
        };
        AuditRecord: {
            action: string;
            actor: string;
            /** @description who made the sign-in link that the actor's session began with, nearest first: it may have been theirs */
            actorMakers?: string[];
            /** @description in lists: a token's name, a user's or an agent's; no part of the sealed record */
            actorName?: string;
            after: string;
            /** @description of a project: the answer keys that it has from then on; of a step that is sent: those by one of which its answer must be signed */
            answerKeys?: string[];
            /** @description of a decision that was signed with a passkey */
            assertion?: components["schemas"]["Assertion"];
            /** Format: date-time */
            at: string;
            before: string;
            /** @description the system clock stood before that of the record before, by more than the record waited to be written */
            clockBack?: boolean;
            /** @description of a new epoch of the log: the last checkpoint of the one before that witnesses have cosigned */
            cosigned?: string;
            /**
             * Format: int64
             * @description so many refusals of this principal and operation with this code, within a minute after one that has its own record; the subject and requestId are of the last, the subject kind/* where they were about several
             */
            count?: number;
            /**
             * @description of an approval that was asked for: each approval of it must be signed with a passkey
             * @enum {string}
             */
            decisionAssertion?: "PASSKEY";
            /** @description request digest of what was approved or sent */
            digest?: string;
            /** @description RFC 6962 leaf hash of the record without this field and actorName, lowercase hex */
            hash?: string;
            /** @description by which the actor signed in, of an agent that does so at an identity provider */
            identity?: components["schemas"]["Identity"];
            /** @description for whom that agent acted, by its issuer's word */
            onBehalfOf?: components["schemas"]["OnBehalfOf"];
            /** @description done, or refused: code */
            outcome: string;
            /** @description of a passkey that was registered */
            passkey?: components["schemas"]["PasskeyRegistration"];
            /** @description the reason or evidence given */
            reason?: string;
            requestId: string;
            /** @description random, so that the record can't be found out by its hash */
            salt?: string;
            /**
             * Format: int64
             * @description 0 for the first; the order of the log
             */
            seq: number;
            /** @description digest of the state that was read, decided on, or sent by */
            stateDigest?: string;
            /** @description the step of the run that it is about */
            step?: string;
            /** @description kind/id */
            subject: string;
            /** @description the chat service in which a person asked for it; absent for the API and the console */
            via?: string;
            /** @description it lets out what was held back before: an approval lowered, a budget removed or widened, an origin or a probe changed, APPROVER granted */
            weakens?: boolean;
        };
        AuditRecordPage: {
            /** @description the resources of this page */
            items: components["schemas"]["ListedAuditRecord"][];
            /**
             * Format: int64
             * @description offset of the next page, null on the last
             */
            nextOffset: number | null;
            /**
             * Format: int64
             * @description how many there are in scope and matching the filters
             */
            total: number;
        };
        AuditVerification: {
            /** @description the newest head that witnesses have cosigned; absent before the first */
            cosigned?: components["schemas"]["AuditCheckpoint"];
            /**
             * Format: int64
             * @description sequence number of the first record that does not fit
             */
            firstBroken?: number;
            /** @description RFC 6962 tree hash, lowercase hex */
            head: string;
            intact: boolean;
            /**
             * Format: int64
             * @description records that the head counts
             */
            records: number;
        };
        Auth: {
            credentialEnv?: string;
            /** @description API_KEY only */
            headerName?: string;
            /** @enum {string} */
            type: "HMAC" | "BEARER" | "API_KEY" | "BASIC" | "NONE";
            /** @description BASIC only; the variable holds the password */
            user?: string;
        };
        Binding: {
            field: string;
            stepId: string;
        };
        BreakGlass: {
            /** Format: date-time */
            at: string;
            reason: string;
        };
        Budget: {
            /**
             * Format: int64
             * @description so many steps; instead of sum and most
             */
            count?: number;
            /** @description with sum: the most that the values may come to, a number */
            most?: unknown;
            /** @description never blank; shown to who is asked or denied */
            reason: string;
            /** @description a number input, of which the values are added exactly; one below 0 adds nothing */
            sum?: string;
            /**
             * @description of a step that would exceed it
             * @enum {string}
             */
            then: "ASK" | "DENY";
            /** @description a Go duration, 1s to 720h */
            window: string;
        };
        BudgetUse: {
            agentId?: string;
            budget: components["schemas"]["Budget"];
            capability?: string;
            /**
             * Format: date-time
             * @description of a budget that is used up: when it has room again if nothing else is sent
             */
            freeAt?: string;
            /** @description of used: of steps of which nobody knows whether they took effect, or that may have though they failed; of the newest 5,000 steps in the window */
            mayHaveHappened?: unknown;
            /** @description so many steps, or what their values come to; absent where the budget adds what is hidden from you */
            used?: unknown;
        };
        BudgetUses: {
            items: components["schemas"]["ListedBudgetUse"][];
        };
        Capability: {
            /**
             * @description default: ALWAYS for a side effect, NONE for a read
             * @enum {string}
             */
            approval?: "NONE" | "RISK_BASED" | "ALWAYS";
            /** @description what decides, by the inputs, before approval does */
            approvalRules?: components["schemas"]["ApprovalRule"][];
            /** @description how often LIVE steps may call it, and for how much, at most 20 */
            budgets?: components["schemas"]["Budget"][];
            description?: string;
            /** @description what the output of every step of it must be; a step's own is judged besides */
            expectation?: components["schemas"]["Expectation"];
            /** @description true only when the receiver deduplicates durably */
            idempotent?: boolean;
            /** @description inputs not declared in it are rejected */
            inputSchema?: {
                [key: string]: components["schemas"]["InputField"];
            };
            /** @enum {string} */
            method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
            name: string;
            /** @description field of the response taken as the step's output */
            outputField?: string;
            /** @description fields of the output, a dotted path for deeper ones: what forms offer where an input is bound to it; nothing is refused for them at a run */
            outputs?: string[];
            /** @description absolute path on the registered origin; {name} placeholders are filled from the input */
            path: string;
            /** @description what is read before its approval is asked for and again before it is sent, and must be so */
            precondition?: components["schemas"]["Precondition"];
            /** @description a GET capability of this project that shows, in recovery, what happened */
            probe?: string;
            request?: components["schemas"]["RequestMapping"];
            /** @description input and output fields masked for a VIEWER and in logs */
            sensitive?: string[];
            /** @description default: every method but GET has one */
            sideEffect?: boolean;
            /**
             * Format: int64
             * @description for the whole call; default 10000
             */
            timeoutMs?: number;
            /** @description what a call does, in words, with {input} places; a dotted path leads deeper */
            title?: string;
        };
        Change: {
            /**
             * Format: int64
             * @description revision now; 0 when it is gone
             */
            current: number;
            id: string;
            /** @enum {string} */
            kind: "model" | "project" | "agent" | "team";
            message: string;
            /**
             * Format: int64
             * @description revision in the plan
             */
            planned: number;
            retired?: boolean;
            suspended: boolean;
        };
        ChangeDecided: {
            assertion?: components["schemas"]["Assertion"];
            /** Format: date-time */
            at: string;
            by: string;
            byName?: string;
            /** @enum {string} */
            decision: "APPROVED" | "REJECTED";
            reason: string;
        };
        ChangeDecision: {
            /** @description a passkey's answer over this decision; where the tenant asks for one, APPROVED needs it */
            assertion?: components["schemas"]["SignedAnswer"];
            /** @enum {string} */
            decision: "APPROVED" | "REJECTED";
            /** @description never blank */
            reason: string;
        };
        ChangeDifference: {
            /** @description any JSON value */
            now?: unknown;
            path: string;
            /** @description in words */
            text: string;
            /** @description any JSON value */
            was?: unknown;
            weakens: boolean;
        };
        ChangeWithdrawal: {
            reason?: string;
        };
        Changed: {
            id: string;
            /** @description approval or run; there may be more kinds */
            kind: string;
        };
        CompileRequest: {
            /** @description keyed by action id */
            actionBindings: {
                [key: string]: components["schemas"]["ActionBinding"];
            };
            inputs?: {
                [key: string]: components["schemas"]["ModelValue"];
            };
            /**
             * @description default DRY_RUN
             * @enum {string}
             */
            mode?: "DRY_RUN" | "LIVE";
            name?: string;
            scenarioId: string;
        };
        Condition: components["schemas"]["Predicate"] | components["schemas"]["ConditionGroup"];
        ConditionGroup: {
            /** @enum {string} */
            combinator: "AND" | "OR";
            conditions: components["schemas"]["Condition"][];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "group";
        };
        Conformance: {
            capability: string;
            /**
             * Format: date-time
             * @description when it was recorded, by the server's clock
             */
            checkedAt: string;
            /** @description who recorded it */
            checkedBy: string;
            /** @description a token's name, or a user's */
            checkedByName?: string;
            /** @description the rules show that the receiver deduplicates */
            proven: boolean;
            rules: components["schemas"]["RuleVerdict"][];
            target: string;
        };
        ConformanceWrite: {
            capability: string;
            /**
             * Format: int64
             * @description the project's present revision
             */
            expectedRevision: number;
            rules: components["schemas"]["RuleVerdict"][];
            /** @description origin of the sandbox that was tried */
            target: string;
        };
        Credential: {
            /** @description what the tenant's projects and webhooks use it for */
            kinds: ("HMAC" | "BEARER" | "API_KEY" | "BASIC")[];
            /** @description of a server environment variable */
            name: string;
            /** @description the only origin that it may be used at; absent: any */
            origin?: string;
            /** @description of the tenant, that use it now */
            projects: string[];
            /**
             * Format: date-time
             * @description when the tenant registered it first
             */
            since: string;
            /** @description the only tenant that may use it */
            tenantId: string;
            /** @description of the tenant, that are signed with it now */
            webhooks?: string[];
        };
        CredentialPage: {
            /** @description the resources of this page */
            items: components["schemas"]["ListedCredential"][];
            /**
             * Format: int64
             * @description offset of the next page, null on the last
             */
            nextOffset: number | null;
            /**
             * Format: int64
             * @description how many there are in scope and matching the filters
             */
            total: number;
        };
        Decision: {
            /** @description a passkey's answer over this decision; where the approval or the tenant asks for one, APPROVED needs it */
            assertion?: components["schemas"]["SignedAnswer"];
            /** @enum {string} */
            decision: "APPROVED" | "REJECTED";
            /** @description never blank */
            reason: string;
            /** @description of the request that whoever decides has seen: must be the approval's */
            requestDigest?: string;
            /** @description of the state that whoever decides has seen: must be the approval's */
            stateDigest?: string;
            /** @description with REJECTED only: the inputs that would be approved, which must fit the capability */
            suggestedInput?: {
                [key: string]: unknown;
            };
        };
        Delegation: {
            /** Format: date-time */
            createdAt: string;
            createdBy: string;
            /** @description a token's name, or a user's */
            createdByName?: string;
            /** @description who decides instead: the e-mail address of a user of the tenant */
            delegate: string;
            /** Format: date-time */
            from: string;
            reason: string;
            /** Format: date-time */
            until: string;
            /** @description who is away: the e-mail address of a user of the tenant */
            user: string;
        };
        DelegationPage: {
            /** @description the resources of this page */
            items: components["schemas"]["ListedDelegation"][];
            /**
             * Format: int64
             * @description offset of the next page, null on the last
             */
            nextOffset: number | null;
            /**
             * Format: int64
             * @description how many there are in scope and matching the filters
             */
            total: number;
        };
        DelegationWrite: {
            /** @description ignored */
            createdAt?: unknown;
            /** @description ignored */
            createdBy?: unknown;
            /** @description ignored */
            createdByName?: unknown;
            /** @description who decides instead: the e-mail address of a user of the tenant with the role APPROVER */
            delegate: string;
            /**
             * Format: date-time
             * @description default: now
             */
            from?: string;
            /** @description never blank */
            reason: string;
            /**
             * Format: date-time
             * @description after from, by 90 days at most
             */
            until: string;
            /** @description ignored */
            user?: unknown;
        };
        DeskEvent: {
            changed?: components["schemas"]["Changed"];
            waiting?: components["schemas"]["WaitingCounts"];
        };
        Difference: {
            /** @description such as input.amount, method, url or body */
            path: string;
            /** @description null: it wasn't there */
            rehearsed: unknown;
            /** @description null: it isn't there */
            sent: unknown;
        };
        Discrepancy: {
            field: string;
            /** @description any JSON value */
            found: unknown;
            /** @description any JSON value */
            sent: unknown;
        };
        Drift: {
            changes: components["schemas"]["Change"][];
            current: boolean;
        };
        Error: {
            /** @description stable code */
            error: "agent_not_admitted" | "approval_expired" | "assertion_invalid" | "assertion_required" | "capacity" | "change_proposed" | "credential_not_allowed" | "csrf" | "drift" | "expectation_not_met" | "expectation_required" | "health_check_required" | "idempotency_conflict" | "idempotency_key_required" | "internal" | "invalid_json" | "invalid_request" | "manifest_conflict" | "method_not_allowed" | "model_invalid" | "not_found" | "origin_not_allowed" | "payload_too_large" | "plan_invalid" | "project_disabled" | "project_in_use" | "project_scope" | "quota_exceeded" | "revision_conflict" | "role_required" | "self_approval" | "sequence_conflict" | "state_conflict" | "unauthenticated" | "unavailable" | (string & {});
            /** @description what is wrong, where, and what would be right */
            message: string;
            requestId: string;
        };
        Escalate: {
            /** @description a Go duration, 1s to 720h, since the approval was asked for */
            after: string;
            groups: string[];
        };
        Escalation: {
            /** Format: date-time */
            at: string;
            /** @description the approval's groups for which they decide */
            for: string[];
            /** @description whose members may decide from then on */
            groups: string[];
        };
        Expectation: {
            /** @description any JSON value; numbers compare by exact value */
            equals: unknown;
            field: string;
            /** Format: int64 */
            statusCode?: number;
        };
        ExpectationCheck: {
            /** @description absent when the output has no such field */
            actual?: unknown;
            /** @description any JSON value */
            expected: unknown;
            field: string;
            /** @enum {string} */
            status: "PASSED" | "FAILED" | "SIMULATED";
        };
        GivenDecision: {
            /** @description the passkey's answer over this decision; left out with the digest for who must not see all of the request */
            assertion?: components["schemas"]["Assertion"];
            /** Format: date-time */
            at: string;
            by: string;
            /** @description who made the token that decided, and who made that one, nearest first */
            byMakers?: string[];
            /** @description a token's name, a user's or an agent's */
            byName?: string;
            /** @enum {string} */
            decision: "APPROVED" | "REJECTED";
            /** @description groups that it was given as a member of, since the approval's own had not decided in time */
            escalated?: string[];
            /** @description the approval's groups that it was given for */
            groups?: string[];
            /** @description its decider may not decide it any more: removed, without the role, the project or the groups, or with a token that has ended; or it was given on another state; it came before enough had approved, so it doesn't count */
            left?: boolean;
            /** @description users who were away and in whose place it was given: their delegate decided as themself */
            onBehalfOf?: string[];
            reason: string;
            /** @description of the state that it was given on; one on another state than the approval's doesn't count. Left out with the approval's */
            stateDigest?: string;
            /** @description how it came: console, api, slack, mcp or, by later releases, others; absent in receipts, for what the service decided itself and in records of older releases */
            via?: string;
        };
        Group: {
            /** @description name=value of a claim of the identity provider; whoever signed in with it last is a member too */
            claim?: string;
            /** Format: date-time */
            createdAt: string;
            id: string;
            /** @description e-mail addresses of users of the tenant */
            members: string[];
            name: string;
            /**
             * Format: int64
             * @description 1 on create, one more on each update
             */
            revision: number;
            /** Format: date-time */
            updatedAt: string;
        };
        GroupPage: {
            /** @description the resources of this page */
            items: components["schemas"]["ListedGroup"][];
            /**
             * Format: int64
             * @description offset of the next page, null on the last
             */
            nextOffset: number | null;
            /**
             * Format: int64
             * @description how many there are in scope and matching the filters
             */
            total: number;
        };
        GroupWrite: {
            /** @description name=value of a claim of the identity provider, such as groups=finance */
            claim?: string;
            /** @description ignored */
            createdAt?: unknown;
            /**
             * Format: int64
             * @description absent or 0 creates; else the current revision
             */
            expectedRevision?: number;
            /** @description ignored */
            id?: unknown;
            /** @description e-mail addresses of users of the tenant */
            members: string[];
            name: string;
            /** @description ignored */
            revision?: unknown;
            /** @description ignored */
            updatedAt?: unknown;
        };
        Health: {
            /** @description names of the witnesses that have cosigned what an audit log is not any more: it was cut off, or told anew */
            auditRewound?: string[] | null;
            /**
             * @description degraded: reads are served, writes are not
             * @enum {string}
             */
            status: "ok" | "degraded";
            /**
             * @description full: writes wait for space, or for the database to give the right to write
             * @enum {string}
             */
            store: "ok" | "full";
            version: string;
        };
        HealthCheck: {
            /** Format: date-time */
            checkedAt: string;
            error?: string;
            healthy: boolean;
            /** Format: int64 */
            latencyMs: number;
            projectId: string;
            /** Format: int64 */
            revision: number;
            /**
             * Format: int64
             * @description 0 when no answer came
             */
            statusCode: number;
        };
        Heartbeat: {
            /** @description identifies the process instance */
            instanceId: string;
            /**
             * Format: int64
             * @description increases for each instance id, over restarts of the service too
             */
            sequence: number;
            /**
             * @description ONLINE is IDLE
             * @enum {string}
             */
            state: "IDLE" | "BUSY" | "ERROR" | "ONLINE";
            /**
             * Format: date-time
             * @description within 120 s of the server's time
             */
            timestamp: string;
        };
        HeartbeatAck: {
            acknowledged: boolean;
            agentId: string;
            duplicate: boolean;
            instanceId: string;
            /**
             * @description of the agent, all instances considered
             * @enum {string}
             */
            liveness: "UNKNOWN" | "STALE" | "ONLINE" | "BUSY" | "ERROR";
            /** Format: date-time */
            receivedAt: string;
            /** Format: int64 */
            sequence: number;
        };
        HoldWrite: {
            /** @description false ends it */
            hold: boolean;
            /** @description never blank */
            reason: string;
        };
        IdentitiesWrite: {
            /** @description ignored */
            budgets?: unknown;
            /** @description ignored */
            capabilities?: unknown;
            /** @description ignored */
            createdAt?: unknown;
            /** @description ignored */
            executorInputs?: unknown;
            /**
             * Format: int64
             * @description the present identitiesRevision
             */
            expectedRevision?: number;
            /** @description ignored */
            externalAgentId?: unknown;
            /** @description ignored */
            goal?: unknown;
            /** @description ignored */
            id?: unknown;
            /** @description all that the agent has from now on; one that isn't here any more ends at once */
            identities: components["schemas"]["AgentIdentity"][];
            /** @description ignored */
            identitiesRevision?: unknown;
            /** @description ignored */
            instanceCount?: unknown;
            /** @description ignored */
            instances?: unknown;
            /** @description ignored */
            lastHeartbeatAt?: unknown;
            /** @description ignored */
            liveness?: unknown;
            /** @description ignored */
            modelId?: unknown;
            /** @description of those identities that name none; absent: both, as far as the caller has them */
            modes?: ("DRY_RUN" | "LIVE")[];
            /** @description ignored */
            name?: unknown;
            /** @description ignored */
            projectId?: unknown;
            /** @description ignored */
            retired?: unknown;
            /** @description ignored */
            revision?: unknown;
            /** @description ignored */
            role?: unknown;
            /** @description ignored */
            sourceRevision?: unknown;
            /** @description ignored */
            status?: unknown;
            /** @description ignored */
            suspended?: unknown;
            /** @description ignored */
            updatedAt?: unknown;
        };
        Identity: {
            /** @description sub, azp, client_id, act.sub, or an https:// name */
            claim: string;
            /** @description the token's iss, character for character */
            issuer: string;
            value: string;
        };
        InputField: {
            /** @description what it means, for people and models */
            description?: string;
            /** @description the values that it may have; numbers compare by exact value */
            enum?: unknown[];
            /**
             * Format: int64
             * @description of a string, in code points
             */
            maxLength?: number;
            /** @description of a number, exact */
            maximum?: unknown;
            /** @description of a number, exact */
            minimum?: unknown;
            /** @description further types that a value may have */
            orTypes?: ("string" | "number" | "boolean" | "object" | "array")[];
            /** @description true: the path takes any text for it, percent-encoded whole, and not an id alone */
            pathText?: boolean;
            /** @description of a string: an RE2 expression, unanchored; beside pathText it matches the whole value */
            pattern?: string;
            required: boolean;
            /** @enum {string} */
            type: "string" | "number" | "boolean" | "object" | "array";
        };
        InputSource: {
            field: string;
            input: string;
            stepId: string;
            /** @description the step's answer was judged, and was what was expected */
            verified: boolean;
        };
        Instance: {
            instanceId: string;
            /** @enum {string} */
            liveness: "STALE" | "ONLINE" | "BUSY" | "ERROR";
            /**
             * Format: date-time
             * @description by the service's clock
             */
            receivedAt: string;
            /** Format: int64 */
            sequence: number;
            /** @enum {string} */
            state: "IDLE" | "BUSY" | "ERROR";
            /** @description by the instance's clock, as it was sent */
            timestamp: string;
        };
        LateAnswer: {
            /** Format: date-time */
            at: string;
            /**
             * Format: int64
             * @description the sending that it answers; absent in records of older releases
             */
            attempt?: number;
            error?: string;
            /** @description any JSON value */
            output?: unknown;
            response?: components["schemas"]["Response"];
        };
        ListedAgent: {
            /** @description given at its admission: how often its LIVE steps may call, and for how much */
            budgets?: components["schemas"]["Budget"][] | components["schemas"]["Omitted"];
            capabilities: string[] | components["schemas"]["Omitted"];
            /** Format: date-time */
            createdAt: string;
            /** @description fixed inputs by capability name */
            executorInputs: {
                [key: string]: {
                    [key: string]: unknown;
                };
            };
            externalAgentId: string;
            goal: string | components["schemas"]["Omitted"];
            id: string;
            /** @description by which tokens of identity providers a caller is this agent */
            identities?: components["schemas"]["AgentIdentity"][] | components["schemas"]["Omitted"];
            /**
             * Format: int64
             * @description of the identities alone; absent, which is 0, at first
             */
            identitiesRevision?: number;
            /** Format: date-time */
            lastHeartbeatAt?: string;
            /**
             * @description the worst of the instances heard within 120 s; shown, never a gate
             * @enum {string}
             */
            liveness: "UNKNOWN" | "STALE" | "ONLINE" | "BUSY" | "ERROR";
            modelId?: string;
            name: string | components["schemas"]["Omitted"];
            /** @description the system that it belongs to */
            projectId: string;
            /** @description true: hidden from lists unless asked for, and nothing new is made of it; restoring ends that */
            retired?: boolean;
            /**
             * Format: int64
             * @description the registry's: rises with each synced change and each suspension
             */
            revision: number;
            role: string | components["schemas"]["Omitted"];
            /**
             * Format: int64
             * @description the manifest's own revision
             */
            sourceRevision: number;
            /** @enum {string} */
            status: "PENDING" | "ADMITTED";
            suspended: boolean;
            /** Format: date-time */
            updatedAt: string;
        };
        ListedApproval: {
            /** @description what the agent said of its call over MCP; nobody has checked it */
            agentWords?: components["schemas"]["AgentWords"] | components["schemas"]["Omitted"];
            /**
             * Format: int64
             * @description how many different deciders must approve; absent in records of older releases, which needed one
             */
            approvalsNeeded?: number;
            /**
             * Format: int64
             * @description 1 or 2: how many times it was asked for anew in this attempt since the state had changed; after the second the step fails instead
             */
            askedAgain?: number;
            /** @description of a call over MCP: the latest approval of the same capability, with the same inputs or title, that a person rejected within 24 hours before */
            askedAgainAfter?: string | components["schemas"]["Omitted"];
            /**
             * Format: int64
             * @description which attempt of the step it lets out
             */
            attempt: number;
            /** @description no user that this service knows is the person for whom the agent asked, so that it can't say who that is */
            behindUnknown?: boolean;
            capability: string | components["schemas"]["Omitted"];
            /** @description what of the state is no longer as it was in the approval before */
            changed?: components["schemas"]["StateChange"][] | components["schemas"]["Omitted"];
            /** Format: date-time */
            decidedAt?: string;
            decidedBy?: string;
            /** @description the same of who decided */
            decidedByMakers?: string[] | components["schemas"]["Omitted"];
            /** @description a token's name, a user's or an agent's */
            decidedByName?: string | components["schemas"]["Omitted"];
            /**
             * @description each approval of it must be signed with a passkey: the tenant asked for that when it was asked for
             * @enum {string}
             */
            decisionAssertion?: "PASSKEY";
            decisionReason?: string | components["schemas"]["Omitted"];
            /** @description oldest first; decidedBy is who gave the last */
            decisions?: components["schemas"]["GivenDecision"][] | components["schemas"]["Omitted"];
            /** @description who may decide in place of the groups, and from when */
            escalations?: components["schemas"]["Escalation"][] | components["schemas"]["Omitted"];
            /** @description what will judge the answer: an Expectation, or an array of several that must all hold */
            expectation?: unknown;
            /** Format: date-time */
            expiresAt: string;
            /** @description every decider is a member of one of them, and each has at least one decider */
            groups?: string[] | components["schemas"]["Omitted"];
            id: string;
            /** @description the run's */
            identity?: components["schemas"]["Identity"] | components["schemas"]["Omitted"];
            inputSnapshot: {
                [key: string]: unknown;
            };
            /** @description the run's: for whom the agent asked */
            onBehalfOf?: components["schemas"]["OnBehalfOf"] | components["schemas"]["Omitted"];
            /** @description up to 10 runs with the same capability and the same inputs or title whose outcome nobody knows: this one could do it twice */
            openAlike?: string[] | components["schemas"]["Omitted"];
            planId: string;
            /** @description the approval that it takes the place of */
            previousApprovalId?: string;
            projectId: string;
            /** @description of the rules and budgets that ask, or that the same call is open */
            reasons?: string[] | components["schemas"]["Omitted"];
            /**
             * Format: date-time
             * @description when what its run held was removed
             */
            redactedAt?: string;
            request: components["schemas"]["Request"] | components["schemas"]["Omitted"];
            /** @description absent for who must not see all of the request */
            requestDigest?: string;
            /** Format: date-time */
            requestedAt: string;
            /** @description who asked for the run */
            requestedBy: string;
            /** @description who made the token that asked, or the sign-in link of the session that did, and who made that one, nearest first, up to a user or the bootstrap token */
            requestedByMakers?: string[] | components["schemas"]["Omitted"];
            /** @description a token's name, a user's or an agent's */
            requestedByName?: string | components["schemas"]["Omitted"];
            /** @description what became of earlier runs of the agent, or of the token that asked; absent where there is too little; lists leave it out */
            requesterRecord?: components["schemas"]["RequesterRecord"] | components["schemas"]["Omitted"];
            /**
             * Format: date-time
             * @description the run's: the request may have been sent by the store that this one replaces
             */
            restoredAt?: string;
            runId: string;
            /** @description why the run was started, in the words of who started it */
            runReason?: string | components["schemas"]["Omitted"];
            /** @description up to 10 other LIVE runs of the last 90 days with the same request, newest first; lists leave it out */
            same?: components["schemas"]["SameRequest"][] | components["schemas"]["Omitted"];
            /** @description both go back to one maker: one person may have moved both */
            sharedMaker?: boolean;
            /** @description where inputs come from that an earlier step answered */
            sources?: components["schemas"]["InputSource"][] | components["schemas"]["Omitted"];
            /** @description where the capability has a precondition: what was read before it was asked for, or when a reviewer looked again. It is read once more before anything is sent */
            state?: components["schemas"]["State"] | components["schemas"]["Omitted"];
            /** @description of state: SHA-256 of the canonical form of its capability and fields; absent for who must not see all of it */
            stateDigest?: string;
            /** @enum {string} */
            status: "PENDING" | "APPROVED" | "REJECTED";
            stepId: string;
            /** @description the latest rejection with a suggestion of these very inputs, of the 90 days before; lists leave it out */
            suggestedFrom?: components["schemas"]["SuggestedFrom"] | components["schemas"]["Omitted"];
            /** @description what who rejected it would approve instead, as inputs of the capability; a run with them is a new run with its own approval */
            suggestedInput?: {
                [key: string]: unknown;
            };
            /** @description true: another one was asked for in its place; it lets nothing out any more, whatever the state is later */
            superseded?: boolean;
            /** @description the capability's title, filled from what will be sent */
            title?: string | components["schemas"]["Omitted"];
            /** @description what is usually approved of this capability; absent where there is too little, or it is hidden from you; lists leave it out */
            usual?: components["schemas"]["Usual"] | components["schemas"]["Omitted"];
        };
        ListedAuditRecord: {
            action: string;
            actor: string;
            /** @description who made the sign-in link that the actor's session began with, nearest first: it may have been theirs */
            actorMakers?: string[] | components["schemas"]["Omitted"];
            /** @description in lists: a token's name, a user's or an agent's; no part of the sealed record */
            actorName?: string | components["schemas"]["Omitted"];
            after: string | components["schemas"]["Omitted"];
            /** @description of a project: the answer keys that it has from then on; of a step that is sent: those by one of which its answer must be signed */
            answerKeys?: string[] | components["schemas"]["Omitted"];
            /** @description of a decision that was signed with a passkey */
            assertion?: components["schemas"]["Assertion"] | components["schemas"]["Omitted"];
            /** Format: date-time */
            at: string;
            before: string | components["schemas"]["Omitted"];
            /** @description the system clock stood before that of the record before, by more than the record waited to be written */
            clockBack?: boolean;
            /** @description of a new epoch of the log: the last checkpoint of the one before that witnesses have cosigned */
            cosigned?: string | components["schemas"]["Omitted"];
            /**
             * Format: int64
             * @description so many refusals of this principal and operation with this code, within a minute after one that has its own record; the subject and requestId are of the last, the subject kind/* where they were about several
             */
            count?: number;
            /**
             * @description of an approval that was asked for: each approval of it must be signed with a passkey
             * @enum {string}
             */
            decisionAssertion?: "PASSKEY";
            /** @description request digest of what was approved or sent */
            digest?: string;
            /** @description RFC 6962 leaf hash of the record without this field and actorName, lowercase hex */
            hash?: string;
            /** @description by which the actor signed in, of an agent that does so at an identity provider */
            identity?: components["schemas"]["Identity"] | components["schemas"]["Omitted"];
            /** @description for whom that agent acted, by its issuer's word */
            onBehalfOf?: components["schemas"]["OnBehalfOf"] | components["schemas"]["Omitted"];
            /** @description done, or refused: code */
            outcome: string | components["schemas"]["Omitted"];
            /** @description of a passkey that was registered */
            passkey?: components["schemas"]["PasskeyRegistration"] | components["schemas"]["Omitted"];
            /** @description the reason or evidence given */
            reason?: string | components["schemas"]["Omitted"];
            requestId: string;
            /** @description random, so that the record can't be found out by its hash */
            salt?: string | components["schemas"]["Omitted"];
            /**
             * Format: int64
             * @description 0 for the first; the order of the log
             */
            seq: number;
            /** @description digest of the state that was read, decided on, or sent by */
            stateDigest?: string;
            /** @description the step of the run that it is about */
            step?: string | components["schemas"]["Omitted"];
            /** @description kind/id */
            subject: string | components["schemas"]["Omitted"];
            /** @description the chat service in which a person asked for it; absent for the API and the console */
            via?: string | components["schemas"]["Omitted"];
            /** @description it lets out what was held back before: an approval lowered, a budget removed or widened, an origin or a probe changed, APPROVER granted */
            weakens?: boolean;
        };
        ListedBudgetUse: {
            agentId?: string;
            budget: components["schemas"]["Budget"] | components["schemas"]["Omitted"];
            capability?: string | components["schemas"]["Omitted"];
            /**
             * Format: date-time
             * @description of a budget that is used up: when it has room again if nothing else is sent
             */
            freeAt?: string;
            /** @description of used: of steps of which nobody knows whether they took effect, or that may have though they failed; of the newest 5,000 steps in the window */
            mayHaveHappened?: unknown;
            /** @description so many steps, or what their values come to; absent where the budget adds what is hidden from you */
            used?: unknown;
        };
        ListedCapability: {
            /**
             * @description default: ALWAYS for a side effect, NONE for a read
             * @enum {string}
             */
            approval?: "NONE" | "RISK_BASED" | "ALWAYS";
            /** @description what decides, by the inputs, before approval does */
            approvalRules?: components["schemas"]["ApprovalRule"][] | components["schemas"]["Omitted"];
            /** @description how often LIVE steps may call it, and for how much, at most 20 */
            budgets?: components["schemas"]["Budget"][] | components["schemas"]["Omitted"];
            description?: string | components["schemas"]["Omitted"];
            /** @description what the output of every step of it must be; a step's own is judged besides */
            expectation?: components["schemas"]["Expectation"] | components["schemas"]["Omitted"];
            /** @description true only when the receiver deduplicates durably */
            idempotent?: boolean;
            /** @description inputs not declared in it are rejected */
            inputSchema?: {
                [key: string]: components["schemas"]["InputField"];
            };
            /** @enum {string} */
            method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
            name: string | components["schemas"]["Omitted"];
            /** @description field of the response taken as the step's output */
            outputField?: string | components["schemas"]["Omitted"];
            /** @description fields of the output, a dotted path for deeper ones: what forms offer where an input is bound to it; nothing is refused for them at a run */
            outputs?: string[] | components["schemas"]["Omitted"];
            /** @description absolute path on the registered origin; {name} placeholders are filled from the input */
            path: string | components["schemas"]["Omitted"];
            /** @description what is read before its approval is asked for and again before it is sent, and must be so */
            precondition?: components["schemas"]["Precondition"] | components["schemas"]["Omitted"];
            /** @description a GET capability of this project that shows, in recovery, what happened */
            probe?: string | components["schemas"]["Omitted"];
            request?: components["schemas"]["RequestMapping"] | components["schemas"]["Omitted"];
            /** @description input and output fields masked for a VIEWER and in logs */
            sensitive?: string[] | components["schemas"]["Omitted"];
            /** @description default: every method but GET has one */
            sideEffect?: boolean;
            /**
             * Format: int64
             * @description for the whole call; default 10000
             */
            timeoutMs?: number;
            /** @description what a call does, in words, with {input} places; a dotted path leads deeper */
            title?: string | components["schemas"]["Omitted"];
        };
        ListedCredential: {
            /** @description what the tenant's projects and webhooks use it for */
            kinds: ("HMAC" | "BEARER" | "API_KEY" | "BASIC")[] | components["schemas"]["Omitted"];
            /** @description of a server environment variable */
            name: string | components["schemas"]["Omitted"];
            /** @description the only origin that it may be used at; absent: any */
            origin?: string | components["schemas"]["Omitted"];
            /** @description of the tenant, that use it now */
            projects: string[] | components["schemas"]["Omitted"];
            /**
             * Format: date-time
             * @description when the tenant registered it first
             */
            since: string;
            /** @description the only tenant that may use it */
            tenantId: string;
            /** @description of the tenant, that are signed with it now */
            webhooks?: string[] | components["schemas"]["Omitted"];
        };
        ListedDelegation: {
            /** Format: date-time */
            createdAt: string;
            createdBy: string;
            /** @description a token's name, or a user's */
            createdByName?: string | components["schemas"]["Omitted"];
            /** @description who decides instead: the e-mail address of a user of the tenant */
            delegate: string | components["schemas"]["Omitted"];
            /** Format: date-time */
            from: string;
            reason: string | components["schemas"]["Omitted"];
            /** Format: date-time */
            until: string;
            /** @description who is away: the e-mail address of a user of the tenant */
            user: string | components["schemas"]["Omitted"];
        };
        ListedGroup: {
            /** @description name=value of a claim of the identity provider; whoever signed in with it last is a member too */
            claim?: string | components["schemas"]["Omitted"];
            /** Format: date-time */
            createdAt: string;
            id: string;
            /** @description e-mail addresses of users of the tenant */
            members: string[] | components["schemas"]["Omitted"];
            name: string | components["schemas"]["Omitted"];
            /**
             * Format: int64
             * @description 1 on create, one more on each update
             */
            revision: number;
            /** Format: date-time */
            updatedAt: string;
        };
        ListedModel: {
            /** Format: date-time */
            createdAt: string;
            document: components["schemas"]["AgentModel"] | components["schemas"]["Omitted"];
            id: string;
            name: string | components["schemas"]["Omitted"];
            /** @description true: hidden from lists unless asked for, and nothing new is made of it; restoring ends that */
            retired?: boolean;
            /**
             * Format: int64
             * @description the server's: 1 on create, one more on each update and suspension
             */
            revision: number;
            schemaVersion: string;
            suspended: boolean;
            /** Format: date-time */
            updatedAt: string;
        };
        ListedPlan: {
            /** @description of an agent or team run: who carries it out */
            agents?: components["schemas"]["PlanAgent"][] | components["schemas"]["Omitted"];
            /** Format: date-time */
            createdAt: string;
            createdBy: string;
            /** @description a token's name, or a user's */
            createdByName?: string | components["schemas"]["Omitted"];
            /**
             * Format: int64
             * @description the edition by which its approval rules are judged, 3; absent where no step has rules, and in plans of before, which are judged as then
             */
            gate?: number;
            id: string;
            /** @enum {string} */
            mode: "DRY_RUN" | "LIVE";
            /** @description absent in the plan of a team run: see agents; and where a run has no model */
            modelId?: string;
            /** Format: int64 */
            modelRevision?: number;
            name: string | components["schemas"]["Omitted"];
            /** @description SHA-256 of the content without id, name, mode and times: joins a rehearsal and its LIVE twin; absent for who must not see all of it */
            planDigest?: string;
            planningInputs?: {
                [key: string]: unknown;
            };
            /** @description the project revisions that the plan was made from */
            projects: components["schemas"]["ProjectRef"][] | components["schemas"]["Omitted"];
            /**
             * Format: date-time
             * @description when what it held was removed, with the last of its runs: none can be started of it any more
             */
            redactedAt?: string;
            scenarioId?: string;
            /** @enum {string} */
            status: "READY" | "INVALID";
            steps: components["schemas"]["ListedStep"][];
            /** @description of a team run */
            team?: components["schemas"]["PlanTeam"] | components["schemas"]["Omitted"];
            validationErrors: string[] | components["schemas"]["Omitted"];
        };
        ListedProject: {
            /** @enum {string} */
            adapter: "HTTP_JSON" | "LOCAL_ECHO";
            /** @description the Ed25519 public keys, one or two, by which the receiver signs its answers: an answer that none of them signed is uncertain */
            answerKeys?: string[] | components["schemas"]["Omitted"];
            auth?: (components["schemas"]["Auth"] | components["schemas"]["Auth"][]) | components["schemas"]["Omitted"];
            authSecretEnv?: string;
            baseUrl?: string | components["schemas"]["Omitted"];
            capabilities: components["schemas"]["ListedCapability"][];
            /** @description the latest check of each capability's receiver at the present revision */
            conformance?: components["schemas"]["Conformance"][] | components["schemas"]["Omitted"];
            /** Format: date-time */
            createdAt: string;
            enabled: boolean;
            /** @description sent with each call; not secret */
            headers?: {
                [key: string]: string;
            };
            /** @description the latest check of the present revision */
            health?: components["schemas"]["HealthCheck"] | components["schemas"]["Omitted"];
            healthPath?: string | components["schemas"]["Omitted"];
            id: string;
            name: string | components["schemas"]["Omitted"];
            /** @description true: hidden from lists unless asked for, and nothing new is made of it; restoring ends that */
            retired?: boolean;
            /** Format: int64 */
            revision: number;
            /** @description each credential variable exists and isn't empty now */
            secretConfigured: boolean;
            /** @description where the receiver says what became of a call whose answer was lost; needs answerKeys and HMAC */
            settlement?: components["schemas"]["Settlement"] | components["schemas"]["Omitted"];
            /** Format: date-time */
            updatedAt: string;
            /** @description true: a secret is shorter than 32 bytes (HMAC) or 16 (others) now; nothing is refused for it */
            weakSecret?: boolean;
        };
        ListedProposedChange: {
            /** Format: int64 */
            approvalsNeeded: number;
            /** @description oldest first */
            decisions: components["schemas"]["ChangeDecided"][] | components["schemas"]["Omitted"];
            /** @description what weakens first */
            diff: components["schemas"]["ChangeDifference"][] | components["schemas"]["Omitted"];
            /** @description SHA-256 of the operation, the subject, what is asked for and what stands: what a passkey signs */
            digest: string;
            /** Format: date-time */
            endedAt?: string;
            /** @description why it lapsed or was withdrawn */
            endedReason?: string | components["schemas"]["Omitted"];
            /**
             * Format: date-time
             * @description it lapses then; once approved, what its proposer has not made by then
             */
            expiresAt: string;
            /** @description every decider is a member of one of them, and each has at least one decider */
            groups?: string[] | components["schemas"]["Omitted"];
            id: string;
            /** @description as the audit log names it, such as projects.write */
            operation: string | components["schemas"]["Omitted"];
            /** Format: date-time */
            proposedAt: string;
            proposedBy: string;
            proposedByName?: string | components["schemas"]["Omitted"];
            /** @description the proposer's, where the operation takes one */
            reason?: string | components["schemas"]["Omitted"];
            /**
             * Format: int64
             * @description of the subject, on which it was proposed; 0 for what is new or has none
             */
            revision: number;
            status: string | components["schemas"]["Omitted"];
            /** @description kind/id of what it changes */
            subject: string | components["schemas"]["Omitted"];
            /** @description what it does, in words */
            title: string | components["schemas"]["Omitted"];
        };
        ListedRun: {
            agentId?: string;
            /** @description what the agent said of its call over MCP; nobody has checked it */
            agentWords?: components["schemas"]["AgentWords"] | components["schemas"]["Omitted"];
            /** @description the latest approval asked for */
            approvalId?: string;
            cancelRequested: boolean;
            /** Format: date-time */
            completedAt?: string;
            /** Format: date-time */
            createdAt: string;
            /** @description code: message */
            error?: string | components["schemas"]["Omitted"];
            /** @description it is neither redacted nor archived until this is ended */
            hold?: components["schemas"]["RunHold"] | components["schemas"]["Omitted"];
            id: string;
            idempotencyKey: string;
            /** @description by which an agent asked that signs in at an identity provider */
            identity?: components["schemas"]["Identity"] | components["schemas"]["Omitted"];
            /** @description a side effect of it may have taken effect, whatever its status says: see that of its steps */
            mayHaveHappened?: boolean;
            /** @enum {string} */
            mode: "DRY_RUN" | "LIVE";
            /** @description for whom that agent asked, by its issuer's word; counts as who asked */
            onBehalfOf?: components["schemas"]["OnBehalfOf"] | components["schemas"]["Omitted"];
            /** @description up to 10 runs with the same capability and the same inputs or title whose outcome nobody knew when it was started, or a step of it began */
            openAlike?: string[] | components["schemas"]["Omitted"];
            /** @description absent for who must not see all of the plan */
            planDigest?: string;
            planId: string;
            /** @description why it was started, in the words of who started it */
            reason?: string | components["schemas"]["Omitted"];
            /** @description what it held was removed: values read •••, or are absent */
            redacted?: components["schemas"]["Redaction"] | components["schemas"]["Omitted"];
            requestedBy: string;
            /** @description a token's name, a user's or an agent's */
            requestedByName?: string | components["schemas"]["Omitted"];
            /**
             * Format: date-time
             * @description when the store was restored, or reopened after it was copied, while the run was unfinished: it may have been sent by the store that this one replaces
             */
            restoredAt?: string;
            /**
             * Format: int64
             * @description rises with every change of the run
             */
            revision: number;
            /** @enum {string} */
            status: "READY" | "RUNNING" | "WAITING_APPROVAL" | "RECOVERY_REQUIRED" | "COMPLETED" | "FAILED" | "CANCELLED";
            steps: components["schemas"]["ListedStepRun"][];
            teamId?: string;
            /**
             * Format: int64
             * @description completed steps that nothing was asked of
             */
            unverifiedSteps: number;
            /** Format: date-time */
            updatedAt: string;
            waitingFor?: components["schemas"]["WaitingFor"] | components["schemas"]["Omitted"];
        };
        ListedSearchHit: {
            /**
             * Format: date-time
             * @description when the record was made
             */
            at: string;
            id: string;
            /** @enum {string} */
            kind: "run" | "token";
            /** @description of a run */
            mode?: string | components["schemas"]["Omitted"];
            /** @description of the record */
            status?: string | components["schemas"]["Omitted"];
            /** @description the whole value there, where it is short */
            value?: string | components["schemas"]["Omitted"];
            /** @description where in the record it stands, such as: input orderId of step refund */
            where: string | components["schemas"]["Omitted"];
        };
        ListedStep: {
            actionId?: string;
            /** @description the agent that carries it out, in the plan of an agent or team run */
            readonly agentId?: string;
            capability: string | components["schemas"]["Omitted"];
            dependsOn?: string[] | components["schemas"]["Omitted"];
            expectation?: components["schemas"]["Expectation"] | components["schemas"]["Omitted"];
            id: string;
            input?: {
                [key: string]: unknown;
            };
            inputBindings?: {
                [key: string]: components["schemas"]["Binding"];
            };
            name: string | components["schemas"]["Omitted"];
            projectId: string;
        };
        ListedStepRun: {
            actionId?: string;
            agentId?: string;
            /** @description the answer was signed by the receiver, with this key */
            answeredBy?: components["schemas"]["AnsweredBy"] | components["schemas"]["Omitted"];
            approvalId?: string;
            /** @description until the inputs are known, as the capability's approval says; then as its rules do too */
            approvalRequired: boolean;
            /**
             * Format: int64
             * @description how many new approvals of the present attempt were asked for since the state had changed
             */
            askedAgain?: number;
            /**
             * Format: date-time
             * @description when it was asked for the first time
             */
            askedFrom?: string;
            /**
             * Format: int64
             * @description how often it was sent
             */
            attempt: number;
            capability: string | components["schemas"]["Omitted"];
            /** Format: date-time */
            completedAt?: string;
            dependsOn: string[] | components["schemas"]["Omitted"];
            error?: components["schemas"]["StepError"] | components["schemas"]["Omitted"];
            id: string;
            idempotencyKey: string;
            /** @description resolved; an input still bound shows {"$from": "step.field"} */
            input: {
                [key: string]: unknown;
            };
            /** @description an answer that came after nobody waited for it any more; it decides nothing */
            late?: components["schemas"]["LateAnswer"] | components["schemas"]["Omitted"];
            /**
             * Format: int64
             * @description the number of the look that is under way
             */
            looking?: number;
            /** @description the reads for its precondition, oldest first */
            looks?: components["schemas"]["Look"][] | components["schemas"]["Omitted"];
            /** @description a side effect that may have taken effect though it isn't COMPLETED: it was answered 2xx, not as expected, or a person confirmed that a sending had not been executed, which may still arrive, or the store was restored and the one that it replaces may have sent it */
            mayHaveHappened?: boolean;
            name: string | components["schemas"]["Omitted"];
            /**
             * Format: date-time
             * @description when it is asked next; absent: not by itself
             */
            nextAt?: string;
            probes?: components["schemas"]["ProbeRecord"][] | components["schemas"]["Omitted"];
            projectId: string;
            /**
             * Format: int64
             * @description how often the receiver was asked what became of the key
             */
            questions?: number;
            reconciliation?: components["schemas"]["Reconciliation"] | components["schemas"]["Omitted"];
            /** @description null until the request is made, and in a rehearsal where anything is bound; absent for who must not see all of the request */
            requestDigest?: string | null;
            /** @description the step ended by the receiver's own word, signed with this key */
            settledBy?: components["schemas"]["SettledBy"] | components["schemas"]["Omitted"];
            /** @description what the receiver said became of the step's key, each time that it said something new */
            settlements?: components["schemas"]["SettlementRecord"][] | components["schemas"]["Omitted"];
            sideEffect: boolean;
            /**
             * Format: date-time
             * @description when the latest attempt was committed
             */
            startedAt?: string;
            /** @description of the state that was read before it was sent; absent for who must not see all of it */
            stateDigest?: string;
            /** @enum {string} */
            status: "PENDING" | "WAITING_APPROVAL" | "RUNNING" | "COMPLETED" | "SIMULATED" | "FAILED" | "RECOVERY_REQUIRED" | "ABANDONED" | "CANCELLED" | "SKIPPED";
            verification?: components["schemas"]["Verification"] | components["schemas"]["Omitted"];
            /**
             * @description of a rehearsed step: what the gate would say of these inputs
             * @enum {string}
             */
            wouldBe?: "ALLOW" | "ASK" | "DENIED";
            /** @description of a rehearsed step with a precondition: what would be looked at */
            wouldCheck?: components["schemas"]["WouldCheck"] | components["schemas"]["Omitted"];
        };
        ListedTeam: {
            /** Format: date-time */
            createdAt: string;
            id: string;
            members: components["schemas"]["TeamMember"][] | components["schemas"]["Omitted"];
            name: string | components["schemas"]["Omitted"];
            /** @description true: hidden from lists unless asked for, and nothing new is made of it; restoring ends that */
            retired?: boolean;
            /**
             * Format: int64
             * @description 1 on create, one more on each update and suspension
             */
            revision: number;
            steps: components["schemas"]["ListedTeamStep"][];
            suspended: boolean;
            /** Format: date-time */
            updatedAt: string;
        };
        ListedTeamStep: {
            /** @description a member */
            agentId: string;
            /** @description one that the member has */
            capability: string | components["schemas"]["Omitted"];
            dependsOn?: string[] | components["schemas"]["Omitted"];
            expectation?: components["schemas"]["Expectation"] | components["schemas"]["Omitted"];
            id: string;
            input?: {
                [key: string]: unknown;
            };
            inputBindings?: {
                [key: string]: components["schemas"]["Binding"];
            };
            name: string | components["schemas"]["Omitted"];
        };
        ListedTenant: {
            /** Format: date-time */
            createdAt: string;
            id: string;
            name: string | components["schemas"]["Omitted"];
            /** Format: int64 */
            revision: number;
            /** Format: date-time */
            updatedAt: string;
        };
        ListedToken: {
            /** @description an agent token's: it does what these agents do, and nothing else */
            agentIds?: string[] | components["schemas"]["Omitted"];
            /**
             * Format: date-time
             * @description when its user confirmed that it is theirs
             */
            confirmedAt?: string;
            /** Format: date-time */
            createdAt: string;
            createdBy: string;
            /** @description a token's name, a user's or an agent's */
            createdByName?: string | components["schemas"]["Omitted"];
            /** Format: date-time */
            expiresAt: string;
            id: string;
            /**
             * Format: date-time
             * @description kept coarsely
             */
            lastUsedAt?: string;
            /** @description absent: both */
            modes?: ("DRY_RUN" | "LIVE")[] | components["schemas"]["Omitted"];
            name: string | components["schemas"]["Omitted"];
            /** @description absent: all projects of the tenant */
            projectIds?: string[] | components["schemas"]["Omitted"];
            /** @description a reading token's: it reads this while its maker is ADMIN of the whole tenant, and does nothing else */
            reads?: ("metrics" | "audit" | "realm")[] | components["schemas"]["Omitted"];
            /** @description the token that a reading token was renewed as; it ended within 24 hours */
            renewedAs?: string | components["schemas"]["Omitted"];
            /** Format: date-time */
            revokedAt?: string;
            roles: ("ADMIN" | "OPERATOR" | "APPROVER" | "VIEWER")[] | components["schemas"]["Omitted"];
            tenantId: string;
            userEmail?: string;
        };
        ListedUser: {
            /** Format: date-time */
            createdAt: string;
            createdBy: string;
            /** @description a token's name, a user's or an agent's */
            createdByName?: string | components["schemas"]["Omitted"];
            email: string | components["schemas"]["Omitted"];
            /** @description belongs to another tenant and has not accepted yet: no user of this one so far */
            invited?: boolean;
            /** @description absent: all projects of the tenant */
            projectIds?: string[] | components["schemas"]["Omitted"];
            roles: ("ADMIN" | "OPERATOR" | "APPROVER" | "VIEWER")[] | components["schemas"]["Omitted"];
            tenantId: string;
            /** Format: date-time */
            updatedAt: string;
        };
        ListedWebhook: {
            /** Format: date-time */
            createdAt: string;
            /**
             * Format: int64
             * @description notifications given up after their last try
             */
            dropped: number;
            enabled: boolean;
            events: ("approval.requested" | "approval.lapsing" | "run.recovery_required" | "run.ended" | "live.stopped" | "live.going" | "audit_rewound" | "token.lapsing" | "change.proposed" | "change.approved" | "change.ended")[] | components["schemas"]["Omitted"];
            id: string;
            lastError?: string | components["schemas"]["Omitted"];
            /** Format: date-time */
            lastErrorAt?: string;
            /** Format: date-time */
            lastSuccessAt?: string;
            /**
             * Format: int64
             * @description notifications that are tried, at most 64 at once; later ones wait in the audit log
             */
            pending: number;
            /** @description absent: all projects of the tenant */
            projectIds?: string[] | components["schemas"]["Omitted"];
            /**
             * Format: int64
             * @description 1 on create, one more on each update
             */
            revision: number;
            /** @description the server's variable that holds the signing secret */
            secretEnv: string;
            /** @description the variable isn't set, so nothing can be sent */
            secretIsMissing?: boolean;
            /** Format: date-time */
            updatedAt: string;
            url: string | components["schemas"]["Omitted"];
        };
        Look: {
            /**
             * Format: date-time
             * @description when it began
             */
            at: string;
            /** @description the person who asked for it, who decides by it and nothing else; absent: the service itself */
            by?: string;
            /** @description a token's name or a user's */
            byName?: string;
            capability: string;
            /** @description why it found nothing that could be judged */
            error?: string;
            /**
             * Format: int64
             * @description no two of a step share one; its key is <runId>.<stepId>~look-<n>
             */
            n: number;
            /** @description absent for who must not see all of the request */
            requestDigest?: string;
            /** @description of what it found; absent where it found nothing that could be judged, and for who must not see all of it */
            stateDigest?: string;
            /** Format: int64 */
            statusCode?: number;
            /** @description what it found; absent where an earlier look of the step that has them has the same stateDigest */
            values?: {
                [key: string]: unknown;
            };
        };
        Manifest: {
            /** @description several manifests say more: what one leaves out stays as it is */
            agents: components["schemas"]["ManifestAgent"][];
            /** @enum {string} */
            schemaVersion: "1.0";
        };
        ManifestAgent: {
            /** @description names of capabilities that the project has registered */
            capabilities: string[];
            /** @description fixed inputs by capability name */
            executorInputs?: {
                [key: string]: {
                    [key: string]: unknown;
                };
            };
            /** @description stable, the system's own name for the agent */
            externalAgentId: string;
            goal: string;
            /** @description a model of the tenant that no other system's agent has */
            modelId?: string;
            name: string;
            role: string;
            /**
             * Format: int64
             * @description raised whenever the manifest changes
             */
            sourceRevision: number;
        };
        MemoryEffect: {
            value: components["schemas"]["ModelValue"];
            variableId: string;
        };
        Mismatch: {
            /** @description any JSON value */
            actual: unknown;
            /** @description any JSON value */
            expected: unknown;
            /** @enum {string} */
            field: "expectedStateId" | "expectedPath" | "expectedResult";
        };
        Model: {
            /** Format: date-time */
            createdAt: string;
            document: components["schemas"]["AgentModel"];
            id: string;
            name: string;
            /** @description true: hidden from lists unless asked for, and nothing new is made of it; restoring ends that */
            retired?: boolean;
            /**
             * Format: int64
             * @description the server's: 1 on create, one more on each update and suspension
             */
            revision: number;
            schemaVersion: string;
            suspended: boolean;
            /** Format: date-time */
            updatedAt: string;
        };
        ModelAgent: {
            completionCriteria: string;
            goal: string;
            id: string;
            name: string;
            role: string;
            user: string;
        };
        ModelPage: {
            /** @description the resources of this page */
            items: components["schemas"]["ListedModel"][];
            /**
             * Format: int64
             * @description offset of the next page, null on the last
             */
            nextOffset: number | null;
            /**
             * Format: int64
             * @description how many there are in scope and matching the filters
             */
            total: number;
        };
        ModelScope: {
            allowedActions: string;
            askUserWhen: string;
            limits: string;
        };
        ModelState: {
            id: string;
            isFinal: boolean;
            isStart: boolean;
            meaning: string;
            name: string;
            position: components["schemas"]["Position"];
        };
        ModelValue: string | number | boolean | null;
        ModelWrite: {
            /** @description ignored */
            createdAt?: unknown;
            document: components["schemas"]["AgentModel"];
            /**
             * Format: int64
             * @description absent or 0 creates; else the current revision
             */
            expectedRevision?: number;
            /** @description ignored */
            id?: unknown;
            /** @description ignored: the document's name counts */
            name?: unknown;
            /** @description ignored */
            retired?: unknown;
            /** @description ignored */
            revision?: unknown;
            /** @description ignored: the document's counts */
            schemaVersion?: unknown;
            /** @description ignored */
            suspended?: unknown;
            /** @description ignored */
            updatedAt?: unknown;
        };
        NewToken: {
            /** @description an agent token's: it does what these agents do, and nothing else */
            agentIds?: string[];
            /**
             * Format: date-time
             * @description when its user confirmed that it is theirs
             */
            confirmedAt?: string;
            /** Format: date-time */
            createdAt: string;
            createdBy: string;
            /** @description a token's name, a user's or an agent's */
            createdByName?: string;
            /** Format: date-time */
            expiresAt: string;
            id: string;
            /**
             * Format: date-time
             * @description kept coarsely
             */
            lastUsedAt?: string;
            /** @description absent: both */
            modes?: ("DRY_RUN" | "LIVE")[];
            name: string;
            /** @description absent: all projects of the tenant */
            projectIds?: string[];
            /** @description a reading token's: it reads this while its maker is ADMIN of the whole tenant, and does nothing else */
            reads?: ("metrics" | "audit" | "realm")[];
            /** @description the token that a reading token was renewed as; it ended within 24 hours */
            renewedAs?: string;
            /** Format: date-time */
            revokedAt?: string;
            roles: ("ADMIN" | "OPERATOR" | "APPROVER" | "VIEWER")[];
            tenantId: string;
            /** @description shown once */
            token: string;
            userEmail?: string;
        };
        /** @description stands in a list for a value of more than 16 KiB; a read by id has it */
        Omitted: {
            $omitted: {
                bytes: number;
                sha256: string;
            };
        };
        OnBehalfOf: {
            /** @description only where the issuer has verified it */
            email?: string;
            issuer: string;
            /** @description the token's sub */
            subject: string;
        };
        PasskeyRegistration: {
            /** @description base64url */
            credentialId: string;
            /** @description who made the sign-in link that began the session in which it was added, nearest first: it may be theirs */
            makers?: string[];
            /** @description SubjectPublicKeyInfo, base64url */
            publicKey: string;
            rpId: string;
        };
        Plan: {
            /** @description of an agent or team run: who carries it out */
            agents?: components["schemas"]["PlanAgent"][];
            /** Format: date-time */
            createdAt: string;
            createdBy: string;
            /** @description a token's name, or a user's */
            createdByName?: string;
            /**
             * Format: int64
             * @description the edition by which its approval rules are judged, 3; absent where no step has rules, and in plans of before, which are judged as then
             */
            gate?: number;
            id: string;
            /** @enum {string} */
            mode: "DRY_RUN" | "LIVE";
            /** @description absent in the plan of a team run: see agents; and where a run has no model */
            modelId?: string;
            /** Format: int64 */
            modelRevision?: number;
            modelSnapshot?: components["schemas"]["Model"];
            /** @description of an agent or team run: the models of its agents */
            models?: components["schemas"]["Model"][];
            name: string;
            /** @description SHA-256 of the content without id, name, mode and times: joins a rehearsal and its LIVE twin; absent for who must not see all of it */
            planDigest?: string;
            planningInputs?: {
                [key: string]: unknown;
            };
            projectSnapshots?: components["schemas"]["Project"][];
            /** @description the project revisions that the plan was made from */
            projects: components["schemas"]["ProjectRef"][];
            /**
             * Format: date-time
             * @description when what it held was removed, with the last of its runs: none can be started of it any more
             */
            redactedAt?: string;
            scenarioId?: string;
            /** @enum {string} */
            status: "READY" | "INVALID";
            steps: components["schemas"]["Step"][];
            /** @description of a team run */
            team?: components["schemas"]["PlanTeam"];
            validationErrors: string[];
        };
        PlanAgent: {
            executorInputs: {
                [key: string]: {
                    [key: string]: unknown;
                };
            };
            id: string;
            /** @description absent where the agent has none */
            modelId?: string;
            /** Format: int64 */
            modelRevision?: number;
            projectId: string;
            /** Format: int64 */
            revision: number;
            /** Format: int64 */
            sourceRevision: number;
        };
        PlanPage: {
            /** @description the resources of this page */
            items: components["schemas"]["ListedPlan"][];
            /**
             * Format: int64
             * @description offset of the next page, null on the last
             */
            nextOffset: number | null;
            /**
             * Format: int64
             * @description how many there are in scope and matching the filters
             */
            total: number;
        };
        PlanTeam: {
            id: string;
            members: components["schemas"]["TeamMember"][];
            /** Format: int64 */
            revision: number;
        };
        PlanWrite: {
            id?: string;
            /**
             * @description default DRY_RUN
             * @enum {string}
             */
            mode?: "DRY_RUN" | "LIVE";
            modelId: string;
            /** Format: int64 */
            modelRevision: number;
            name: string;
            planningInputs?: {
                [key: string]: unknown;
            };
            scenarioId?: string;
            steps: components["schemas"]["Step"][];
        };
        Position: {
            /** Format: double */
            x: number;
            /** Format: double */
            y: number;
        };
        Precondition: {
            /** @description a GET capability of this project that only reads and asks nobody: its required inputs are inputs of this capability, and taken by name */
            capability: string;
            /** @description 1 to 10 fields of its output, read as an expectation's are: what was approved holds only while they stay as they were */
            fields: string[];
            /** @description a condition over the fields: nothing is sent, and nobody is asked, unless it holds */
            when?: components["schemas"]["Condition"];
        };
        Predicate: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "predicate";
            /** @enum {string} */
            operator: "eq" | "neq" | "gt" | "gte" | "lt" | "lte" | "isUnknown" | "isKnown";
            /** @description what the variable is compared with */
            value?: components["schemas"]["ModelValue"];
            variableId: string;
        };
        PredicateTrace: {
            /** @description the variable's value; null is unknown */
            actual: components["schemas"]["ModelValue"];
            holds: boolean;
            operator: string;
            transitionId: string;
            /** @description what it was compared with */
            value?: components["schemas"]["ModelValue"];
            variableId: string;
        };
        ProbeRecord: {
            /** Format: date-time */
            at: string;
            by: string;
            /** @description a token's name or a user's */
            byName?: string;
            capability: string;
            error?: string;
            /** Format: int64 */
            n: number;
            /** @description the whole body: the probe's outputField is not applied */
            output?: unknown;
            request?: components["schemas"]["Request"];
            response?: components["schemas"]["Response"];
        };
        ProbeStart: {
            stepId: string;
        };
        Problem: {
            /** @description stable word for this kind of problem */
            code: string;
            /** @description what is wrong and what would be right */
            message: string;
            /** @description JSON path into the document; empty for the whole */
            path: string;
            /** @description inputs that show it */
            witness?: unknown;
        };
        Project: {
            /** @enum {string} */
            adapter: "HTTP_JSON" | "LOCAL_ECHO";
            /** @description the Ed25519 public keys, one or two, by which the receiver signs its answers: an answer that none of them signed is uncertain */
            answerKeys?: string[];
            auth?: components["schemas"]["Auth"] | components["schemas"]["Auth"][];
            authSecretEnv?: string;
            baseUrl?: string;
            capabilities: components["schemas"]["Capability"][];
            /** @description the latest check of each capability's receiver at the present revision */
            conformance?: components["schemas"]["Conformance"][];
            /** Format: date-time */
            createdAt: string;
            enabled: boolean;
            /** @description sent with each call; not secret */
            headers?: {
                [key: string]: string;
            };
            /** @description the latest check of the present revision */
            health?: components["schemas"]["HealthCheck"];
            healthPath?: string;
            id: string;
            name: string;
            /** @description true: hidden from lists unless asked for, and nothing new is made of it; restoring ends that */
            retired?: boolean;
            /** Format: int64 */
            revision: number;
            /** @description each credential variable exists and isn't empty now */
            secretConfigured: boolean;
            /** @description where the receiver says what became of a call whose answer was lost; needs answerKeys and HMAC */
            settlement?: components["schemas"]["Settlement"];
            /** Format: date-time */
            updatedAt: string;
            /** @description true: a secret is shorter than 32 bytes (HMAC) or 16 (others) now; nothing is refused for it */
            weakSecret?: boolean;
        };
        ProjectPage: {
            /** @description the resources of this page */
            items: components["schemas"]["ListedProject"][];
            /**
             * Format: int64
             * @description offset of the next page, null on the last
             */
            nextOffset: number | null;
            /**
             * Format: int64
             * @description how many there are in scope and matching the filters
             */
            total: number;
        };
        ProjectRef: {
            id: string;
            /** Format: int64 */
            revision: number;
        };
        ProjectRunStart: {
            capability: string;
            /** @description judged besides the capability's; a LIVE run without either is counted in unverifiedSteps */
            expectation?: components["schemas"]["Expectation"];
            inputs?: {
                [key: string]: unknown;
            };
            /**
             * @description default DRY_RUN
             * @enum {string}
             */
            mode?: "DRY_RUN" | "LIVE";
            /** @description as of POST /runs */
            reason?: string;
        };
        ProjectWrite: {
            /** @enum {string} */
            adapter: "HTTP_JSON" | "LOCAL_ECHO";
            /** @description Ed25519 public keys by which the receiver signs its answers: ed25519: and 64 hex digits */
            answerKeys?: string[];
            /** @description an object, or an array of up to three for an API that wants several keys, of which one at most is HMAC */
            auth?: components["schemas"]["Auth"] | components["schemas"]["Auth"][];
            /** @description legacy HMAC: name of a server environment variable */
            authSecretEnv?: string;
            /** @description HTTP(S) origin on the server's list */
            baseUrl?: string;
            capabilities: components["schemas"]["Capability"][];
            /** @description ignored */
            conformance?: unknown;
            /** @description ignored */
            createdAt?: unknown;
            enabled?: boolean;
            /**
             * Format: int64
             * @description absent or 0 creates; else the current revision
             */
            expectedRevision?: number;
            /** @description fixed headers that each call is sent with, by name; not secret, and none that API_KEY may not name, but Accept with a JSON media type */
            headers?: {
                [key: string]: string;
            };
            /** @description ignored */
            health?: unknown;
            /** @description GET path of the health check; default / */
            healthPath?: string;
            /** @description ignored */
            id?: unknown;
            name: string;
            /** @description ignored */
            retired?: unknown;
            /** @description ignored */
            revision?: unknown;
            /** @description ignored */
            secretConfigured?: unknown;
            /** @description where the receiver says what became of a call whose answer was lost; needs answerKeys and HMAC */
            settlement?: components["schemas"]["Settlement"];
            /** @description ignored */
            updatedAt?: unknown;
            /** @description ignored */
            weakSecret?: unknown;
        };
        ProposedChange: {
            /** Format: int64 */
            approvalsNeeded: number;
            /** @description oldest first */
            decisions: components["schemas"]["ChangeDecided"][];
            /** @description what weakens first */
            diff: components["schemas"]["ChangeDifference"][];
            /** @description SHA-256 of the operation, the subject, what is asked for and what stands: what a passkey signs */
            digest: string;
            /** Format: date-time */
            endedAt?: string;
            /** @description why it lapsed or was withdrawn */
            endedReason?: string;
            /**
             * Format: date-time
             * @description it lapses then; once approved, what its proposer has not made by then
             */
            expiresAt: string;
            /** @description every decider is a member of one of them, and each has at least one decider */
            groups?: string[];
            id: string;
            /** @description as the audit log names it, such as projects.write */
            operation: string;
            /** Format: date-time */
            proposedAt: string;
            proposedBy: string;
            proposedByName?: string;
            /** @description the proposer's, where the operation takes one */
            reason?: string;
            /**
             * Format: int64
             * @description of the subject, on which it was proposed; 0 for what is new or has none
             */
            revision: number;
            status: string;
            /** @description kind/id of what it changes */
            subject: string;
            /** @description what it does, in words */
            title: string;
        };
        ProposedChangePage: {
            /** @description the resources of this page */
            items: components["schemas"]["ListedProposedChange"][];
            /**
             * Format: int64
             * @description offset of the next page, null on the last
             */
            nextOffset: number | null;
            /**
             * Format: int64
             * @description how many there are in scope and matching the filters
             */
            total: number;
        };
        Reason: {
            /** @description never blank */
            reason: string;
        };
        Reconcile: {
            /** @description never blank */
            evidence: string;
            /** @description what the receiver answered or has: as its API gives it, or only the capability's outputField */
            output?: {
                [key: string]: unknown;
            };
            /** @enum {string} */
            resolution: "CONFIRMED_COMPLETED" | "CONFIRMED_NOT_EXECUTED" | "ABANDON";
        };
        Reconciliation: {
            /** Format: date-time */
            at: string;
            by: string;
            /** @description a token's name or a user's */
            byName?: string;
            /** @description where the output contradicts what was sent */
            differs?: components["schemas"]["Discrepancy"][];
            evidence: string;
            /** @enum {string} */
            resolution: "CONFIRMED_COMPLETED" | "CONFIRMED_NOT_EXECUTED" | "ABANDON";
        };
        Redaction: {
            /** Format: date-time */
            at: string;
            by: string;
            /** @description a token's name or a user's */
            byName?: string;
        };
        Rehearsal: {
            planDigest?: string;
            /** @description the DRY_RUN run; absent when there is none */
            rehearsalId?: string;
            /** Format: date-time */
            rehearsedAt?: string;
            runId: string;
            steps: components["schemas"]["RehearsedStep"][];
            /** @enum {string} */
            verdict: "SAME" | "DIFFERENT" | "OPEN" | "NONE";
        };
        RehearsedStep: {
            /** @description the inputs that came from earlier outputs */
            bound: string[];
            differences: components["schemas"]["Difference"][];
            /** @description null where an input was bound */
            rehearsedDigest?: string | null;
            /** @description null until the request is made */
            sentDigest?: string | null;
            stepId: string;
            /** @enum {string} */
            verdict: "SAME" | "DIFFERENT" | "OPEN";
        };
        Request: {
            /** @description the exact JSON that is sent; null without a body */
            body: unknown;
            /** @description the project's headers, and the user of BASIC, by name; those that each call has aren't listed */
            headers?: unknown;
            method: string;
            /** @description the query fields by name, in the order sent */
            query: unknown;
            /** @description absolute, with the query as it stands on the wire */
            url: string;
        };
        RequestMapping: {
            body?: string[];
            query?: string[];
        };
        RequesterRecord: {
            /**
             * Format: int64
             * @description by a person
             */
            rejected: number;
            /** Format: int64 */
            runs: number;
            /**
             * Format: int64
             * @description completed, and all that was expected is so
             */
            verified: number;
        };
        Response: {
            /** @description of an answer that is no 2xx, or that can't be read: its first 4 KiB as text, credentials masked */
            body?: string;
            bodySha256?: string;
            /**
             * Format: int64
             * @description absent, with bodySha256, for who must not see all of the body
             */
            bytes?: number;
            /** Format: int64 */
            durationMs: number;
            /** @description of an answer that is no 2xx: its Retry-After, seconds or a date of HTTP, as it was sent */
            retryAfter?: string;
            /** @description of an answer that the receiver signed: what shows it */
            signed?: components["schemas"]["AnswerEvidence"];
            /**
             * Format: int64
             * @description 0 when no status line came
             */
            statusCode: number;
        };
        RuleVerdict: {
            /** @enum {string} */
            name: "accepts-signed" | "refuses-unsigned" | "refuses-wrong-signature" | "refuses-changed-body" | "refuses-changed-target" | "refuses-old-timestamp" | "refuses-future-timestamp" | "refuses-no-credential" | "refuses-wrong-credential" | "same-key-same-body" | "same-key-other-body" | "slow-answer" | "twins" | "effect-once" | "signs-answers" | "tells-fate" | "withdraws";
            /** @description statuses and digests, or why it was not tried; never a secret */
            seen?: string;
            /** @enum {string} */
            verdict: "HOLDS" | "BROKEN" | "NOT_TRIED";
        };
        Run: {
            agentId?: string;
            /** @description what the agent said of its call over MCP; nobody has checked it */
            agentWords?: components["schemas"]["AgentWords"];
            /** @description the latest approval asked for */
            approvalId?: string;
            cancelRequested: boolean;
            /** Format: date-time */
            completedAt?: string;
            /** Format: date-time */
            createdAt: string;
            /** @description code: message */
            error?: string;
            /** @description it is neither redacted nor archived until this is ended */
            hold?: components["schemas"]["RunHold"];
            id: string;
            idempotencyKey: string;
            /** @description by which an agent asked that signs in at an identity provider */
            identity?: components["schemas"]["Identity"];
            /** @description a side effect of it may have taken effect, whatever its status says: see that of its steps */
            mayHaveHappened?: boolean;
            /** @enum {string} */
            mode: "DRY_RUN" | "LIVE";
            /** @description for whom that agent asked, by its issuer's word; counts as who asked */
            onBehalfOf?: components["schemas"]["OnBehalfOf"];
            /** @description up to 10 runs with the same capability and the same inputs or title whose outcome nobody knew when it was started, or a step of it began */
            openAlike?: string[];
            /** @description absent for who must not see all of the plan */
            planDigest?: string;
            planId: string;
            planSnapshot?: components["schemas"]["Plan"];
            /** @description why it was started, in the words of who started it */
            reason?: string;
            /** @description what it held was removed: values read •••, or are absent */
            redacted?: components["schemas"]["Redaction"];
            requestedBy: string;
            /** @description a token's name, a user's or an agent's */
            requestedByName?: string;
            /**
             * Format: date-time
             * @description when the store was restored, or reopened after it was copied, while the run was unfinished: it may have been sent by the store that this one replaces
             */
            restoredAt?: string;
            /**
             * Format: int64
             * @description rises with every change of the run
             */
            revision: number;
            /** @enum {string} */
            status: "READY" | "RUNNING" | "WAITING_APPROVAL" | "RECOVERY_REQUIRED" | "COMPLETED" | "FAILED" | "CANCELLED";
            steps: components["schemas"]["StepRun"][];
            teamId?: string;
            /**
             * Format: int64
             * @description completed steps that nothing was asked of
             */
            unverifiedSteps: number;
            /** Format: date-time */
            updatedAt: string;
            waitingFor?: components["schemas"]["WaitingFor"];
        };
        RunHold: {
            /** Format: date-time */
            at: string;
            by: string;
            /** @description a token's name or a user's */
            byName?: string;
            reason: string;
        };
        RunPage: {
            /** @description the resources of this page */
            items: components["schemas"]["ListedRun"][];
            /**
             * Format: int64
             * @description offset of the next page, null on the last
             */
            nextOffset: number | null;
            /**
             * Format: int64
             * @description how many there are in scope and matching the filters
             */
            total: number;
        };
        RunStart: {
            planId: string;
            /** @description why it is started: shown to approvers, and kept in the audit log */
            reason?: string;
        };
        SameRequest: {
            /**
             * Format: date-time
             * @description when its approval was asked for, or without one when it was sent
             */
            at: string;
            runId: string;
            /** @enum {string} */
            status: "PENDING" | "WAITING_APPROVAL" | "RUNNING" | "COMPLETED" | "SIMULATED" | "FAILED" | "RECOVERY_REQUIRED" | "ABANDONED" | "CANCELLED" | "SKIPPED";
            stepId: string;
        };
        Scenario: {
            description: string;
            expectedPath: string[];
            expectedResult: string;
            expectedStateId: string;
            id: string;
            initialMemory: {
                [key: string]: components["schemas"]["ModelValue"];
            };
            inputs: {
                [key: string]: components["schemas"]["ModelValue"];
            };
            name: string;
        };
        SearchHit: {
            /**
             * Format: date-time
             * @description when the record was made
             */
            at: string;
            id: string;
            /** @enum {string} */
            kind: "run" | "token";
            /** @description of a run */
            mode?: string;
            /** @description of the record */
            status?: string;
            /** @description the whole value there, where it is short */
            value?: string;
            /** @description where in the record it stands, such as: input orderId of step refund */
            where: string;
        };
        SearchResult: {
            items: components["schemas"]["ListedSearchHit"][];
        };
        Session: {
            /** @description the X-CSRF-Token of unsafe requests; absent for a token, which needs none */
            csrfToken?: string;
            /** @description absent for a token that no user stands behind */
            email?: string;
            /**
             * Format: date-time
             * @description when it ends, however much it is used
             */
            expiresAt: string;
            /** @description the tenants that invite the user, who accepts in the console */
            invitations?: string[];
            /** @description who made the sign-in link that the session, or the passkey it began with, goes back to, nearest first: it counts as one person with them where four eyes are asked for */
            linkMakers?: string[];
            /** @description of a token; absent: both */
            modes?: ("DRY_RUN" | "LIVE")[];
            /** @description who acts: user:<e-mail> or token:<id> */
            principal: string;
            /** @description absent: all projects of the tenant */
            projectIds?: string[];
            /** @description a realm administrator */
            realm: boolean;
            roles: ("ADMIN" | "OPERATOR" | "APPROVER" | "VIEWER")[];
            /** @description the tenant that it acts in */
            tenantId: string;
            /** @description the tenants that the user belongs to; a token acts in one */
            tenants: string[];
        };
        Settle: {
            /**
             * @description CONFIRM: the step ends by what the statement says (DONE or WITHDRAWN). WITHDRAW: a key that the receiver never saw (UNSEEN) is withdrawn, and the step ends by that
             * @enum {string}
             */
            action: "CONFIRM" | "WITHDRAW";
            /**
             * Format: int64
             * @description the statement that it rests on, of the step's settlements
             */
            n: number;
            /** @description never blank */
            reason: string;
            stepId: string;
        };
        SettledBy: {
            /** Format: date-time */
            at: string;
            keyId: string;
        };
        Settlement: {
            /**
             * @description PROPOSE (default): a reviewer confirms what the receiver says; AUTOMATIC: the service goes by it, and withdraws what was never seen
             * @enum {string}
             */
            mode?: "PROPOSE" | "AUTOMATIC";
            /** @description on the registered origin: GET {path}/{key} tells, POST {path}/{key}/withdraw withdraws a key that was never seen; no capability has a path at or below it */
            path: string;
        };
        SettlementRecord: {
            /**
             * Format: date-time
             * @description when the answer came
             */
            at: string;
            /** @description why it is no valid statement */
            error?: string;
            keyId?: string;
            /**
             * Format: int64
             * @description the number of the question; no two of a step share one
             */
            n: number;
            /** @description of DONE: the body of the kept answer */
            output?: unknown;
            /** @description the state that the receiver named, where it counts as UNKNOWN: its memory may have forgotten the key */
            said?: string;
            /** @description lowercase hex */
            signature?: string;
            signed?: components["schemas"]["AnswerEvidence"];
            /**
             * Format: date-time
             * @description from when on the receiver has forgotten nothing, as it says
             */
            since?: string;
            /** @description what it counts as: DONE, IN_PROGRESS, UNKNOWN, UNSEEN or WITHDRAWN; absent where the answer was no statement */
            state?: string;
            /**
             * Format: int64
             * @description of DONE: that of the kept answer
             */
            statusCode?: number;
            /** @description path and query of the question */
            target?: string;
            /** @description of DONE: the body of a kept answer that isn't JSON, its first 4 KiB */
            text?: string;
            /** @description it was signed with an answer key of the project; what isn't decides nothing */
            valid: boolean;
            /** @description true: the question asked to withdraw the key */
            withdrawing?: boolean;
        };
        SignInLink: {
            /** Format: date-time */
            createdAt: string;
            /** @description counts as one person with the link's session where four eyes are asked for */
            createdBy: string;
            /** @description a token's name, or a user's */
            createdByName?: string;
            email: string;
            /** Format: date-time */
            expiresAt: string;
            /** @description the tenant that its session acts in, and no other */
            tenantId: string;
            /** @description shown once; it signs in once, whoever opens it and confirms */
            url: string;
        };
        SignInLinkWrite: {
            /**
             * Format: int64
             * @description default 15
             */
            expiresInMinutes?: number;
            /** @description another tenant than your own */
            tenantId?: string;
        };
        SignedAnswer: {
            authenticatorData: string;
            /** @description its bytes, not its text */
            clientDataJSON: string;
            credentialId: string;
            signature: string;
        };
        Simulation: {
            finalStateId: string;
            mismatches: components["schemas"]["Mismatch"][];
            outcome: "final" | "stuck" | "loop" | (string & {});
            /** @description no mismatch and no loop */
            passed: boolean;
            /** @description state ids visited, the start included; a loop ends with the state that recurs */
            path: string[];
            /** @description simulatedResult of the last action taken, empty when none ran */
            result: string;
            scenarioId: string;
            trace: components["schemas"]["TraceEntry"][];
            /** @description every variable at the end; null is unknown */
            values: {
                [key: string]: components["schemas"]["ModelValue"];
            };
        };
        SimulationRequest: {
            inputs?: {
                [key: string]: components["schemas"]["ModelValue"];
            };
            scenarioId: string;
        };
        State: {
            /**
             * Format: date-time
             * @description when the read began
             */
            at: string;
            /** @description the read */
            capability: string;
            /** @description the read's */
            request?: components["schemas"]["Request"];
            /** @description of the read's request; absent for who must not see all of it */
            requestDigest?: string;
            /** Format: int64 */
            statusCode: number;
            /** @description by field, exactly as the read gave them */
            values: {
                [key: string]: unknown;
            };
        };
        StateChange: {
            field: string;
            /** @description any JSON value */
            now: unknown;
            /** @description in the state of the approval before */
            then: unknown;
        };
        Step: {
            actionId?: string;
            /** @description the agent that carries it out, in the plan of an agent or team run */
            readonly agentId?: string;
            capability: string;
            dependsOn?: string[];
            expectation?: components["schemas"]["Expectation"];
            id: string;
            input?: {
                [key: string]: unknown;
            };
            inputBindings?: {
                [key: string]: components["schemas"]["Binding"];
            };
            name: string;
            projectId: string;
        };
        StepError: {
            code: "receiver_refused" | "output_missing" | "expectation_not_met" | "not_sent" | "outcome_unknown" | "approval_rejected" | "approval_expired" | "denied_by_rule" | "denied_by_budget" | "drift" | "project_disabled" | "cancelled" | "abandoned" | "set_aside" | "answer_unsigned" | "withdrawn" | "not_executed" | "precondition_failed" | "precondition_unknown" | (string & {});
            message: string;
        };
        StepRun: {
            actionId?: string;
            agentId?: string;
            /** @description the answer was signed by the receiver, with this key */
            answeredBy?: components["schemas"]["AnsweredBy"];
            approvalId?: string;
            /** @description until the inputs are known, as the capability's approval says; then as its rules do too */
            approvalRequired: boolean;
            /**
             * Format: int64
             * @description how many new approvals of the present attempt were asked for since the state had changed
             */
            askedAgain?: number;
            /**
             * Format: date-time
             * @description when it was asked for the first time
             */
            askedFrom?: string;
            /**
             * Format: int64
             * @description how often it was sent
             */
            attempt: number;
            capability: string;
            /** Format: date-time */
            completedAt?: string;
            dependsOn: string[];
            error?: components["schemas"]["StepError"];
            id: string;
            idempotencyKey: string;
            /** @description resolved; an input still bound shows {"$from": "step.field"} */
            input: {
                [key: string]: unknown;
            };
            /** @description an answer that came after nobody waited for it any more; it decides nothing */
            late?: components["schemas"]["LateAnswer"];
            /**
             * Format: int64
             * @description the number of the look that is under way
             */
            looking?: number;
            /** @description the reads for its precondition, oldest first */
            looks?: components["schemas"]["Look"][];
            /** @description a side effect that may have taken effect though it isn't COMPLETED: it was answered 2xx, not as expected, or a person confirmed that a sending had not been executed, which may still arrive, or the store was restored and the one that it replaces may have sent it */
            mayHaveHappened?: boolean;
            name: string;
            /**
             * Format: date-time
             * @description when it is asked next; absent: not by itself
             */
            nextAt?: string;
            /** @description the selected output */
            output?: unknown;
            probes?: components["schemas"]["ProbeRecord"][];
            projectId: string;
            /**
             * Format: int64
             * @description how often the receiver was asked what became of the key
             */
            questions?: number;
            reconciliation?: components["schemas"]["Reconciliation"];
            /** @description from WAITING_APPROVAL on; no credentials, ever */
            request?: components["schemas"]["Request"];
            /** @description null until the request is made, and in a rehearsal where anything is bound; absent for who must not see all of the request */
            requestDigest?: string | null;
            response?: components["schemas"]["Response"];
            /** @description the step ended by the receiver's own word, signed with this key */
            settledBy?: components["schemas"]["SettledBy"];
            /** @description what the receiver said became of the step's key, each time that it said something new */
            settlements?: components["schemas"]["SettlementRecord"][];
            sideEffect: boolean;
            /**
             * Format: date-time
             * @description when the latest attempt was committed
             */
            startedAt?: string;
            /** @description of the state that was read before it was sent; absent for who must not see all of it */
            stateDigest?: string;
            /** @enum {string} */
            status: "PENDING" | "WAITING_APPROVAL" | "RUNNING" | "COMPLETED" | "SIMULATED" | "FAILED" | "RECOVERY_REQUIRED" | "ABANDONED" | "CANCELLED" | "SKIPPED";
            verification?: components["schemas"]["Verification"];
            /**
             * @description of a rehearsed step: what the gate would say of these inputs
             * @enum {string}
             */
            wouldBe?: "ALLOW" | "ASK" | "DENIED";
            /** @description of a rehearsed step with a precondition: what would be looked at */
            wouldCheck?: components["schemas"]["WouldCheck"];
        };
        Stop: {
            by: string;
            /** @description a token's name or a user's, where it is one of the reader's tenant */
            byName?: string;
            reason: string;
            /** Format: date-time */
            since: string;
            /** @description * for all tenants */
            tenantId: string;
        };
        StopState: {
            stopped: boolean;
            /** @description those that stand */
            stops: components["schemas"]["Stop"][];
            /** @description * for all tenants */
            tenantId: string;
        };
        StopWrite: {
            /** @description never blank */
            reason: string;
            /** @description absent: the caller's own; another, or * for all, is for realm administrators only */
            tenantId?: string;
        };
        SuggestedFrom: {
            approvalId: string;
            /** @description who suggested them */
            by: string;
            /** @description a token's name, a user's or an agent's */
            byName?: string;
            runId: string;
        };
        SyncedAgents: {
            items: components["schemas"]["ListedAgent"][];
        };
        Team: {
            /** Format: date-time */
            createdAt: string;
            id: string;
            members: components["schemas"]["TeamMember"][];
            name: string;
            /** @description true: hidden from lists unless asked for, and nothing new is made of it; restoring ends that */
            retired?: boolean;
            /**
             * Format: int64
             * @description 1 on create, one more on each update and suspension
             */
            revision: number;
            steps: components["schemas"]["TeamStep"][];
            suspended: boolean;
            /** Format: date-time */
            updatedAt: string;
        };
        TeamMember: {
            agentId: string;
            /** @description never blank */
            role: string;
        };
        TeamPage: {
            /** @description the resources of this page */
            items: components["schemas"]["ListedTeam"][];
            /**
             * Format: int64
             * @description offset of the next page, null on the last
             */
            nextOffset: number | null;
            /**
             * Format: int64
             * @description how many there are in scope and matching the filters
             */
            total: number;
        };
        TeamRunStart: {
            /**
             * Format: int64
             * @description the team's current revision
             */
            expectedRevision: number;
            /** @description by step id: fields that override the step's input, but never a fixed one */
            inputs?: {
                [key: string]: {
                    [key: string]: unknown;
                };
            };
            /**
             * @description default DRY_RUN
             * @enum {string}
             */
            mode?: "DRY_RUN" | "LIVE";
            /** @description as of POST /runs */
            reason?: string;
        };
        TeamStep: {
            /** @description a member */
            agentId: string;
            /** @description one that the member has */
            capability: string;
            dependsOn?: string[];
            expectation?: components["schemas"]["Expectation"];
            id: string;
            input?: {
                [key: string]: unknown;
            };
            inputBindings?: {
                [key: string]: components["schemas"]["Binding"];
            };
            name: string;
        };
        TeamWrite: {
            /** @description ignored */
            createdAt?: unknown;
            /**
             * Format: int64
             * @description absent or 0 creates; else the current revision
             */
            expectedRevision?: number;
            /** @description ignored */
            id?: unknown;
            /** @description at least two different ADMITTED agents with models */
            members: components["schemas"]["TeamMember"][];
            name: string;
            /** @description ignored */
            retired?: unknown;
            /** @description ignored */
            revision?: unknown;
            /** @description at least one */
            steps: components["schemas"]["TeamStep"][];
            /** @description ignored */
            suspended?: unknown;
            /** @description ignored */
            updatedAt?: unknown;
        };
        Tenant: {
            /** Format: date-time */
            createdAt: string;
            id: string;
            name: string;
            /** Format: int64 */
            revision: number;
            /** Format: date-time */
            updatedAt: string;
        };
        TenantPage: {
            /** @description the resources of this page */
            items: components["schemas"]["ListedTenant"][];
            /**
             * Format: int64
             * @description offset of the next page, null on the last
             */
            nextOffset: number | null;
            /**
             * Format: int64
             * @description how many there are in scope and matching the filters
             */
            total: number;
        };
        TenantSettings: {
            /** @description weakening was taken away on the stopped store, within the last 30 days */
            breakGlass?: components["schemas"]["BreakGlass"];
            /**
             * @description PASSKEY: each approval is signed with a passkey of whoever gives it; NONE by default
             * @enum {string}
             */
            decisionAssertion: "NONE" | "PASSKEY";
            /**
             * Format: int64
             * @description 0 while nobody has set anything
             */
            revision: number;
            tenantId: string;
            /** Format: date-time */
            updatedAt?: string;
            /** @description changes that weaken are proposed, and made once so many administrators have approved; absent: they are made at once */
            weakening?: components["schemas"]["Weakening"];
        };
        TenantSettingsWrite: {
            /** @description ignored */
            breakGlass?: unknown;
            /** @enum {string} */
            decisionAssertion: "NONE" | "PASSKEY";
            /**
             * Format: int64
             * @description absent or 0 where nobody has set anything; else the current revision
             */
            expectedRevision?: number;
            /** @description never blank */
            reason: string;
            /** @description ignored */
            revision?: unknown;
            /** @description ignored */
            tenantId?: unknown;
            /** @description ignored */
            updatedAt?: unknown;
            /** @description absent ends it, which is itself a change that weakens */
            weakening?: components["schemas"]["Weakening"];
        };
        TenantWrite: {
            /** @description ignored */
            createdAt?: unknown;
            /** Format: int64 */
            expectedRevision?: number;
            /** @description ignored */
            id?: unknown;
            name: string;
            /** @description ignored */
            revision?: unknown;
            /** @description ignored */
            updatedAt?: unknown;
        };
        Toggle: {
            /** Format: int64 */
            expectedRevision: number;
            reason?: string;
        };
        Token: {
            /** @description an agent token's: it does what these agents do, and nothing else */
            agentIds?: string[];
            /**
             * Format: date-time
             * @description when its user confirmed that it is theirs
             */
            confirmedAt?: string;
            /** Format: date-time */
            createdAt: string;
            createdBy: string;
            /** @description a token's name, a user's or an agent's */
            createdByName?: string;
            /** Format: date-time */
            expiresAt: string;
            id: string;
            /**
             * Format: date-time
             * @description kept coarsely
             */
            lastUsedAt?: string;
            /** @description absent: both */
            modes?: ("DRY_RUN" | "LIVE")[];
            name: string;
            /** @description absent: all projects of the tenant */
            projectIds?: string[];
            /** @description a reading token's: it reads this while its maker is ADMIN of the whole tenant, and does nothing else */
            reads?: ("metrics" | "audit" | "realm")[];
            /** @description the token that a reading token was renewed as; it ended within 24 hours */
            renewedAs?: string;
            /** Format: date-time */
            revokedAt?: string;
            roles: ("ADMIN" | "OPERATOR" | "APPROVER" | "VIEWER")[];
            tenantId: string;
            userEmail?: string;
        };
        TokenPage: {
            /** @description the resources of this page */
            items: components["schemas"]["ListedToken"][];
            /**
             * Format: int64
             * @description offset of the next page, null on the last
             */
            nextOffset: number | null;
            /**
             * Format: int64
             * @description how many there are in scope and matching the filters
             */
            total: number;
        };
        TokenWrite: {
            /** @description makes an agent token, for these agents alone: roles is then OPERATOR, and projectIds absent */
            agentIds?: string[];
            /**
             * Format: int64
             * @description default 90
             */
            expiresInDays?: number;
            modes?: ("DRY_RUN" | "LIVE")[];
            name: string;
            /** @description absent: as far as its maker reaches */
            projectIds?: string[];
            /** @description makes a reading token, instead of roles: the tenant's figures, its audit log, and by a realm administrator the same of the realm; it does nothing else */
            reads?: ("metrics" | "audit" | "realm")[];
            /** @description required, unless it reads only */
            roles?: ("ADMIN" | "OPERATOR" | "APPROVER" | "VIEWER")[];
            /** @description realm administrators only */
            tenantId?: string;
            /** @description the user of the tenant who stands behind it */
            userEmail?: string;
        };
        TraceEntry: {
            actionId?: string;
            effects: components["schemas"]["MemoryEffect"][];
            from: string;
            /** @description the predicates evaluated in this state, in order */
            predicates: components["schemas"]["PredicateTrace"][];
            to: string;
            transitionId: string;
        };
        Transition: {
            actionId?: string | null;
            condition: components["schemas"]["Condition"];
            fromStateId: string;
            id: string;
            name: string;
            /** Format: int64 */
            priority: number;
            toStateId: string;
        };
        User: {
            /** Format: date-time */
            createdAt: string;
            createdBy: string;
            /** @description a token's name, a user's or an agent's */
            createdByName?: string;
            email: string;
            /** @description belongs to another tenant and has not accepted yet: no user of this one so far */
            invited?: boolean;
            /** @description absent: all projects of the tenant */
            projectIds?: string[];
            roles: ("ADMIN" | "OPERATOR" | "APPROVER" | "VIEWER")[];
            tenantId: string;
            /** Format: date-time */
            updatedAt: string;
        };
        UserPage: {
            /** @description the resources of this page */
            items: components["schemas"]["ListedUser"][];
            /**
             * Format: int64
             * @description offset of the next page, null on the last
             */
            nextOffset: number | null;
            /**
             * Format: int64
             * @description how many there are in scope and matching the filters
             */
            total: number;
        };
        UserWrite: {
            /** @description ignored */
            createdAt?: unknown;
            /** @description ignored */
            createdBy?: unknown;
            /** @description ignored */
            createdByName?: unknown;
            /** @description ignored */
            email?: unknown;
            /** @description ignored */
            invited?: unknown;
            /** @description absent: all projects of the tenant */
            projectIds?: string[];
            roles: ("ADMIN" | "OPERATOR" | "APPROVER" | "VIEWER")[];
            /** @description another tenant; realm administrators only */
            tenantId?: string;
            /** @description ignored */
            updatedAt?: unknown;
        };
        Usual: {
            /**
             * Format: int64
             * @description approved requests of the last 90 days that have such a number; of the newest 5,000 approvals at most
             */
            count: number;
            /** @description the first number that the capability's title, rules or budgets name */
            field: string;
            /** @description a number, exact */
            median: unknown;
        };
        Validation: {
            errors: components["schemas"]["Problem"][];
            valid: boolean;
            warnings: components["schemas"]["Problem"][];
        };
        Variable: {
            choices?: string[] | null;
            defaultValue: components["schemas"]["ModelValue"];
            description?: string | null;
            id: string;
            /** @enum {string} */
            kind: "input" | "memory";
            name: string;
            source: string;
            /** @enum {string} */
            type: "number" | "boolean" | "text" | "choice";
            unit?: string | null;
        };
        Verification: {
            /** @description absent when the output has no such field */
            actual?: unknown;
            /** @description where the capability and the step both expect something: the judgement by each, the capability's first. The fields beside it are those of the one that isn't met, else the step's own */
            checks?: components["schemas"]["ExpectationCheck"][];
            /** @description any JSON value */
            expected?: unknown;
            field?: string;
            /** @enum {string} */
            status: "PASSED" | "FAILED" | "NOT_REQUESTED" | "SIMULATED";
            /**
             * Format: int64
             * @description the HTTP status that was judged; absent after a reconcile
             */
            statusCode?: number;
        };
        WaitingCounts: {
            /**
             * Format: int64
             * @description that they may decide
             */
            approvals: number;
            /**
             * Format: int64
             * @description that they may decide
             */
            changes: number;
            /**
             * Format: int64
             * @description runs with an unknown outcome that they may reconcile
             */
            recoveries: number;
        };
        WaitingFor: {
            approvalId?: string;
            /**
             * Format: date-time
             * @description from when members of other groups may decide, too
             */
            escalatesAt?: string;
            /** Format: date-time */
            expiresAt?: string;
            /** @description there may be more kinds */
            kind: "approval" | "reconcile" | "slot" | "stop" | (string & {});
            /**
             * Format: date-time
             * @description until then an answer may still come, and no resolution is taken
             */
            notBefore?: string;
            /** @description method and path below the version prefix */
            operation: string;
            /**
             * Format: date-time
             * @description the run's
             */
            restoredAt?: string;
            role: string;
            /** Format: date-time */
            since: string;
            stepId: string;
        };
        Weakening: {
            /**
             * Format: int64
             * @description how many administrators, besides who proposes, must approve
             */
            approvals: number;
            /** @description every decider is a member of one of them, and each has at least one decider; absent: any administrator */
            groups?: string[];
        };
        Webhook: {
            /** Format: date-time */
            createdAt: string;
            /**
             * Format: int64
             * @description notifications given up after their last try
             */
            dropped: number;
            enabled: boolean;
            events: ("approval.requested" | "approval.lapsing" | "run.recovery_required" | "run.ended" | "live.stopped" | "live.going" | "audit_rewound" | "token.lapsing" | "change.proposed" | "change.approved" | "change.ended")[];
            id: string;
            lastError?: string;
            /** Format: date-time */
            lastErrorAt?: string;
            /** Format: date-time */
            lastSuccessAt?: string;
            /**
             * Format: int64
             * @description notifications that are tried, at most 64 at once; later ones wait in the audit log
             */
            pending: number;
            /** @description absent: all projects of the tenant */
            projectIds?: string[];
            /**
             * Format: int64
             * @description 1 on create, one more on each update
             */
            revision: number;
            /** @description the server's variable that holds the signing secret */
            secretEnv: string;
            /** @description the variable isn't set, so nothing can be sent */
            secretIsMissing?: boolean;
            /** Format: date-time */
            updatedAt: string;
            url: string;
        };
        WebhookPage: {
            /** @description the resources of this page */
            items: components["schemas"]["ListedWebhook"][];
            /**
             * Format: int64
             * @description offset of the next page, null on the last
             */
            nextOffset: number | null;
            /**
             * Format: int64
             * @description how many there are in scope and matching the filters
             */
            total: number;
        };
        WebhookWrite: {
            /** @description ignored */
            createdAt?: unknown;
            /** @description ignored */
            dropped?: unknown;
            /** @description default true */
            enabled?: boolean;
            events: ("approval.requested" | "approval.lapsing" | "run.recovery_required" | "run.ended" | "live.stopped" | "live.going" | "audit_rewound" | "token.lapsing" | "change.proposed" | "change.approved" | "change.ended")[];
            /**
             * Format: int64
             * @description absent or 0 creates; else the current revision
             */
            expectedRevision?: number;
            /** @description ignored */
            id?: unknown;
            /** @description ignored */
            lastError?: unknown;
            /** @description ignored */
            lastErrorAt?: unknown;
            /** @description ignored */
            lastSuccessAt?: unknown;
            /** @description ignored */
            pending?: unknown;
            /** @description absent: all projects of the tenant */
            projectIds?: string[];
            /** @description ignored */
            revision?: unknown;
            /** @description a variable on the server's list of signing or credential variables */
            secretEnv: string;
            /** @description ignored */
            secretIsMissing?: unknown;
            /** @description ignored */
            updatedAt?: unknown;
            /** @description its origin must be on the server's list SVC_PLATFORM_NOTIFY_ORIGINS */
            url: string;
        };
        WhatIf: {
            /** @description by the first number that the title, rules or budgets name */
            byField?: components["schemas"]["WhatIfField"];
            /** @description what would have gone out unasked, and a person rejected; newest first */
            loosened: components["schemas"]["WhatIfLoose"][];
            /**
             * Format: int64
             * @description runs; fewer than there are where judging them all would cost too much
             */
            played: number;
            /** @description what would */
            then: components["schemas"]["WhatIfCounts"];
            /** @description what happened */
            today: components["schemas"]["WhatIfCounts"];
        };
        WhatIfBucket: {
            /** Format: int64 */
            asked: number;
            /**
             * Format: int64
             * @description by a rule or a budget
             */
            denied: number;
            /** @description any JSON value */
            from: unknown;
            /**
             * Format: int64
             * @description without asking a person
             */
            sent: number;
            /** @description any JSON value */
            to: unknown;
        };
        WhatIfCounts: {
            /** Format: int64 */
            asked: number;
            /**
             * Format: int64
             * @description by a rule or a budget
             */
            denied: number;
            /**
             * Format: int64
             * @description without asking a person
             */
            sent: number;
        };
        WhatIfField: {
            buckets: components["schemas"]["WhatIfBucket"][];
            input: string;
        };
        WhatIfLoose: {
            decidedBy?: string;
            /** @description a token's name, a user's or an agent's */
            decidedByName?: string;
            inputs: {
                [key: string]: unknown;
            };
            reason?: string;
            runId: string;
        };
        WhatIfRequest: {
            /** @enum {string} */
            approval?: "NONE" | "RISK_BASED" | "ALWAYS";
            /** @description [] for none */
            approvalRules?: components["schemas"]["ApprovalRule"][];
            /** @description [] for none */
            budgets?: components["schemas"]["Budget"][];
            /** @description may be left out with a change that gives one capability another gate */
            capability?: string;
            /** @description a change of this project that is proposed, in place of a gate; for who reads changes */
            changeId?: string;
            /**
             * Format: int64
             * @description so many LIVE runs of the capability, the newest; with changeId 1000 if it is left out
             */
            last?: number;
        };
        WouldCheck: {
            capability: string;
            fields: string[];
            /** @description the read's; absent where it can't be made from these inputs */
            request?: components["schemas"]["Request"];
            when?: components["schemas"]["Condition"];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listAgents: {
        parameters: {
            query?: {
                /** @description page size, 1 to 200; default 100 */
                limit?: number;
                /** @description how many to skip; default 0 */
                offset?: number;
                /** @description only agents of this registry status */
                status?: "PENDING" | "ADMITTED";
                /** @description only agents of this system */
                projectId?: string;
                /** @description true shows what is retired too */
                retired?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentPage"];
                };
            };
        };
    };
    heartbeat: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                ftaAgentId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Heartbeat"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HeartbeatAck"];
                };
            };
        };
    };
    getAgent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentWithInstances"];
                };
            };
        };
    };
    admitAgent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Admission"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
        };
    };
    putAgentIdentities: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IdentitiesWrite"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
        };
    };
    restoreAgent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Reason"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
        };
    };
    retireAgent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Reason"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
        };
    };
    startAgentRun: {
        parameters: {
            query?: never;
            header: {
                /** @description repeating it with the same content finds the same run */
                "Idempotency-Key": string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentRunStart"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    /** @description true when an earlier start with this key made the run */
                    "Idempotency-Replayed"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
        };
    };
    suspendAgent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Admission"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
        };
    };
    listApprovals: {
        parameters: {
            query?: {
                /** @description page size, 1 to 200; default 100 */
                limit?: number;
                /** @description how many to skip; default 0 */
                offset?: number;
                /** @description only approvals of this status */
                status?: "PENDING" | "APPROVED" | "REJECTED";
                /** @description only approvals of this run */
                runId?: string;
                /** @description only approvals of this project */
                projectId?: string;
                /** @description only approvals of this agent's steps */
                agentId?: string;
                /** @description only approvals of runs that this principal asked for: user:… or token:… */
                requestedBy?: string;
                /** @description only approvals that this group decides */
                group?: string;
                /** @description only approvals that have this text anywhere in what you are shown of them, in whatever case */
                q?: string;
                /** @description oldest, expires (the one that expires first) or amount (the largest number first that a title, rule or budget names; refused where that is hidden from you); default the newest first */
                order?: "oldest" | "expires" | "amount";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalPage"];
                };
            };
        };
    };
    getApproval: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Approval"];
                };
            };
        };
    };
    decideApproval: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Decision"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Approval"];
                };
            };
        };
    };
    lookAgain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Approval"];
                };
            };
        };
    };
    listAudit: {
        parameters: {
            query?: {
                /** @description page size, 1 to 200; default 100 */
                limit?: number;
                /** @description how many to skip; default 0 */
                offset?: number;
                /** @description kind/id */
                subject?: string;
                /** @description user:…, token:… or system */
                actor?: string;
                /** @description such as runs.start */
                action?: string;
                /** @description not before this time */
                since?: string;
                /** @description true for the realm's log; realm administrators only */
                realm?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditRecordPage"];
                };
            };
        };
    };
    auditCheckpoint: {
        parameters: {
            query?: {
                /** @description true for the realm's log; realm administrators only */
                realm?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditCheckpoint"];
                };
            };
        };
    };
    exportAudit: {
        parameters: {
            query?: {
                /** @description kind/id */
                subject?: string;
                /** @description user:…, token:… or system */
                actor?: string;
                /** @description such as runs.start */
                action?: string;
                /** @description not before this time */
                since?: string;
                /** @description true for the realm's log; realm administrators only */
                realm?: boolean;
                /** @description only records behind this sequence number, so that a collector goes on where it stopped */
                after?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
        };
    };
    verifyAudit: {
        parameters: {
            query?: {
                /** @description true for the realm's log; realm administrators only */
                realm?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditVerification"];
                };
            };
        };
    };
    budgets: {
        parameters: {
            query?: {
                /** @description of this project's capabilities; this or agentId */
                projectId?: string;
                /** @description of this agent */
                agentId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetUses"];
                };
            };
        };
    };
    listChanges: {
        parameters: {
            query?: {
                /** @description page size, 1 to 200; default 100 */
                limit?: number;
                /** @description how many to skip; default 0 */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProposedChangePage"];
                };
            };
        };
    };
    getChange: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProposedChange"];
                };
            };
        };
    };
    decideChange: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeDecision"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProposedChange"];
                };
            };
        };
    };
    makeChange: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    withdrawChange: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ChangeWithdrawal"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProposedChange"];
                };
            };
        };
    };
    listCredentials: {
        parameters: {
            query?: {
                /** @description page size, 1 to 200; default 100 */
                limit?: number;
                /** @description how many to skip; default 0 */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialPage"];
                };
            };
        };
    };
    freeCredential: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Reason"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Credential"];
                };
            };
        };
    };
    listDelegations: {
        parameters: {
            query?: {
                /** @description page size, 1 to 200; default 100 */
                limit?: number;
                /** @description how many to skip; default 0 */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DelegationPage"];
                };
            };
        };
    };
    putDelegation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                email: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DelegationWrite"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delegation"];
                };
            };
        };
    };
    endDelegation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                email: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delegation"];
                };
            };
        };
    };
    events: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    go: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StopWrite"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StopState"];
                };
            };
        };
    };
    listGroups: {
        parameters: {
            query?: {
                /** @description page size, 1 to 200; default 100 */
                limit?: number;
                /** @description how many to skip; default 0 */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroupPage"];
                };
            };
        };
    };
    getGroup: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Group"];
                };
            };
        };
    };
    putGroup: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GroupWrite"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Group"];
                };
            };
        };
    };
    deleteGroup: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Group"];
                };
            };
        };
    };
    health: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    integrationContract: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    metrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                    "application/openmetrics-text": string;
                    "text/plain": string;
                };
            };
        };
    };
    listModels: {
        parameters: {
            query?: {
                /** @description page size, 1 to 200; default 100 */
                limit?: number;
                /** @description how many to skip; default 0 */
                offset?: number;
                /** @description true shows what is retired too */
                retired?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelPage"];
                };
            };
        };
    };
    getModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Model"];
                };
            };
        };
    };
    putModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModelWrite"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Model"];
                };
            };
        };
    };
    compilePlan: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CompileRequest"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
        };
    };
    restoreModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Reason"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Model"];
                };
            };
        };
    };
    resumeModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Reason"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Model"];
                };
            };
        };
    };
    retireModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Reason"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Model"];
                };
            };
        };
    };
    simulateModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SimulationRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Simulation"];
                };
            };
        };
    };
    suspendModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Reason"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Model"];
                };
            };
        };
    };
    validateModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Validation"];
                };
            };
        };
    };
    openapi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    listPlans: {
        parameters: {
            query?: {
                /** @description page size, 1 to 200; default 100 */
                limit?: number;
                /** @description how many to skip; default 0 */
                offset?: number;
                /** @description only plans of this status */
                status?: "READY" | "INVALID";
                /** @description only plans of this model */
                modelId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanPage"];
                };
            };
        };
    };
    createPlan: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PlanWrite"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
        };
    };
    getPlan: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
        };
    };
    planDrift: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Drift"];
                };
            };
        };
    };
    listProjects: {
        parameters: {
            query?: {
                /** @description page size, 1 to 200; default 100 */
                limit?: number;
                /** @description how many to skip; default 0 */
                offset?: number;
                /** @description true shows what is retired too */
                retired?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectPage"];
                };
            };
        };
    };
    getProject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
        };
    };
    putProject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProjectWrite"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
        };
    };
    putAnswerKeys: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AnswerKeysWrite"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
        };
    };
    recordConformance: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConformanceWrite"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
        };
    };
    disableProject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Toggle"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
        };
    };
    enableProject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Toggle"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
        };
    };
    checkProjectHealth: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HealthCheck"];
                };
            };
        };
    };
    restoreProject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Reason"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
        };
    };
    retireProject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Reason"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
        };
    };
    startProjectRun: {
        parameters: {
            query?: never;
            header: {
                /** @description repeating it with the same content finds the same run */
                "Idempotency-Key": string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProjectRunStart"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    /** @description true when an earlier start with this key made the run */
                    "Idempotency-Replayed"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
        };
    };
    validateProject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Validation"];
                };
            };
        };
    };
    whatIf: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WhatIfRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WhatIf"];
                };
            };
        };
    };
    listRuns: {
        parameters: {
            query?: {
                /** @description page size, 1 to 200; default 100 */
                limit?: number;
                /** @description how many to skip; default 0 */
                offset?: number;
                /** @description only runs of this status */
                status?: "READY" | "RUNNING" | "WAITING_APPROVAL" | "RECOVERY_REQUIRED" | "COMPLETED" | "FAILED" | "CANCELLED";
                /** @description only runs of this plan */
                planId?: string;
                /** @description only runs of this agent's own */
                agentId?: string;
                /** @description only runs that have this text or number in a step's inputs or answers: all of it, or from 3 characters on the beginning; a sensitive value by all of it only; the newest 1,000, and those of the last seconds may be missing */
                q?: string;
                /** @description only runs that ended with this error code, such as receiver_refused; the newest 1,000 */
                reason?: "receiver_refused" | "output_missing" | "expectation_not_met" | "not_sent" | "outcome_unknown" | "approval_rejected" | "approval_expired" | "denied_by_rule" | "denied_by_budget" | "drift" | "project_disabled" | "cancelled" | "abandoned" | "set_aside" | "answer_unsigned" | "withdrawn" | "not_executed" | "precondition_failed" | "precondition_unknown" | (string & {});
                /** @description only runs that call this capability: name or projectId/name; the newest 1,000 */
                capability?: string;
                /** @description only runs started then or later */
                since?: string;
                /** @description only runs started before */
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunPage"];
                };
            };
        };
    };
    startRun: {
        parameters: {
            query?: never;
            header: {
                /** @description repeating it with the same content finds the same run */
                "Idempotency-Key": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RunStart"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    /** @description true when an earlier start with this key made the run */
                    "Idempotency-Replayed"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
        };
    };
    getRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
        };
    };
    cancelRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Reason"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
        };
    };
    runEvents: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    holdRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HoldWrite"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
        };
    };
    probeRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProbeStart"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
        };
    };
    runReceipt: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    reconcileRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Reconcile"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
        };
    };
    redactRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Reason"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
        };
    };
    runRehearsal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Rehearsal"];
                };
            };
        };
    };
    settleRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Settle"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
        };
    };
    search: {
        parameters: {
            query?: {
                /** @description what you have in hand */
                q?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchResult"];
                };
            };
        };
    };
    session: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
        };
    };
    getSettings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TenantSettings"];
                };
            };
        };
    };
    putSettings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TenantSettingsWrite"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TenantSettings"];
                };
            };
        };
    };
    stopState: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StopState"];
                };
            };
        };
    };
    stop: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StopWrite"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StopState"];
                };
            };
        };
    };
    syncAgents: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                projectId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Manifest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SyncedAgents"];
                };
            };
        };
    };
    listTeams: {
        parameters: {
            query?: {
                /** @description page size, 1 to 200; default 100 */
                limit?: number;
                /** @description how many to skip; default 0 */
                offset?: number;
                /** @description true shows what is retired too */
                retired?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeamPage"];
                };
            };
        };
    };
    getTeam: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Team"];
                };
            };
        };
    };
    putTeam: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TeamWrite"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Team"];
                };
            };
        };
    };
    restoreTeam: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Reason"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Team"];
                };
            };
        };
    };
    resumeTeam: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Reason"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Team"];
                };
            };
        };
    };
    retireTeam: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Reason"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Team"];
                };
            };
        };
    };
    startTeamRun: {
        parameters: {
            query?: never;
            header: {
                /** @description repeating it with the same content finds the same run */
                "Idempotency-Key": string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TeamRunStart"];
            };
        };
        responses: {
            /** @description Accepted */
            202: {
                headers: {
                    /** @description true when an earlier start with this key made the run */
                    "Idempotency-Replayed"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
        };
    };
    suspendTeam: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Reason"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Team"];
                };
            };
        };
    };
    listTenants: {
        parameters: {
            query?: {
                /** @description page size, 1 to 200; default 100 */
                limit?: number;
                /** @description how many to skip; default 0 */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TenantPage"];
                };
            };
        };
    };
    putTenant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TenantWrite"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tenant"];
                };
            };
        };
    };
    listTokens: {
        parameters: {
            query?: {
                /** @description page size, 1 to 200; default 100 */
                limit?: number;
                /** @description how many to skip; default 0 */
                offset?: number;
                /** @description another tenant; realm administrators only */
                tenantId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenPage"];
                };
            };
        };
    };
    createToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TokenWrite"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewToken"];
                };
            };
        };
    };
    renewToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewToken"];
                };
            };
        };
    };
    revokeToken: {
        parameters: {
            query?: {
                /** @description another tenant; realm administrators only */
                tenantId?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Token"];
                };
            };
        };
    };
    confirmToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Token"];
                };
            };
        };
    };
    listUsers: {
        parameters: {
            query?: {
                /** @description page size, 1 to 200; default 100 */
                limit?: number;
                /** @description how many to skip; default 0 */
                offset?: number;
                /** @description another tenant; realm administrators only */
                tenantId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserPage"];
                };
            };
        };
    };
    putUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                email: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UserWrite"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
        };
    };
    deleteUser: {
        parameters: {
            query?: {
                /** @description another tenant; realm administrators only */
                tenantId?: string;
            };
            header?: never;
            path: {
                email: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
        };
    };
    createSignInLink: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                email: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignInLinkWrite"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignInLink"];
                };
            };
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                /** @description page size, 1 to 200; default 100 */
                limit?: number;
                /** @description how many to skip; default 0 */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookPage"];
                };
            };
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    putWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookWrite"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
}
