package evaluator

// sentences are the rules that the evaluator goes by, each with the words of the contract that say it. Evaluator.follows
// asks for each by its name, which lets a test negate it.
var sentences = map[string]string{
	"and-or":            "11: AND and OR as in SQL",
	"is-known":          "2.2: operators isUnknown, isKnown; 11: a predicate other than these on an input that isn't there is unknown",
	"is-unknown":        "2.2, 11: as is-known",
	"eq-neq":            "2.2: operators eq, neq",
	"gt":                "2.2: operators gt, gte, lt, lte",
	"gte":               "2.2: operators gt, gte, lt, lte",
	"lt":                "2.2: operators gt, gte, lt, lte",
	"lte":               "2.2: operators gt, gte, lt, lte",
	"exact-numbers":     "5: numbers compare by exact value",
	"text-case":         "5: whole JSON equality",
	"absent-is-unknown": "11: a predicate on an input that isn't there is unknown",
	"one-meaning":       "12.1: a dotted path that meets members whose names are equal after folding, and differ in value, is unknown",
	"unknown-asks":      "11: a rule whose condition is unknown counts as ASK: what isn't known never loosens",
	"severest":          "11: of the rules that hold the severest wins (DENY over ASK over ALLOW)",
	"most-approvals":    "11: where several ASK rules hold, the most count",
	"all-groups":        "11: and all groups count",
	"default-approval":  "5: approval, when absent, is ALWAYS for a side effect and NONE for a read",
	"delete-asks":       "5: RISK_BASED asks for a side effect unless it is declared idempotent and is not a DELETE",
	"unnamed-asks":      "12.1: where rules hold not, RISK_BASED asks for every side effect",

	"budget-denies":      "11: a denied step is FAILED denied_by_budget",
	"budget-asks":        "11: budgets with then ASK",
	"each-once":          "11, 12.1: each step once",
	"not-sent-frees":     "12.1: only not_sent gives a place back",
	"nothing-else-frees": "12.1: neither a person's word nor a receiver's does",
	"count-at-most":      "11: {count: N}",
	"sum-at-most":        "11: {sum, most: N}",
}

func init() {
	for name, text := range ofRuns {
		sentences[name] = text
	}
}

var ofRuns = map[string]string{
	"resent-may-have":         "12.1: after CONFIRMED_NOT_EXECUTED mayHaveHappened is true unless the step ends COMPLETED",
	"stop-holds":              "11: while stopped no LIVE step begins",
	"expectation-judges":      "6: 2xx, expectation not met: FAILED",
	"reads-fail":              "6: the same for a read: FAILED",
	"second-409":              "6: a 409 from the second attempt on is uncertain",
	"in-doubt-409":            "12.1: a 409 whose error is in_progress or in_doubt is uncertain at any attempt",
	"408":                     "6: 408 is uncertain",
	"5xx-3xx":                 "6: 5xx, 3xx are uncertain",
	"unreadable":              "6: unreadable or non-JSON 2xx body is uncertain",
	"lost":                    "6: connection lost after sending is uncertain",
	"four-eyes":               "3: whoever requested a run can't decide its approvals, nor reconcile it",
	"members-decide":          "11: every decider is a member of a named group; others get 403 role_required",
	"once-each":               "11: a second decision by one decider is 409 state_conflict",
	"one-rejects":             "11: one rejection decides",
	"rejected-is-denied":      "12.2: nobody denied it, by rule, budget or rejection",
	"enough-approve":          "11: approvals is how many different deciders must approve",
	"each-group":              "11: each named group has at least one decider",
	"confirmed-judged":        "6: the expectation must hold on it, else 409 expectation_not_met",
	"resends":                 "6: CONFIRMED_NOT_EXECUTED: sent with the same key and body",
	"cancel-too-late":         "6: cancel in RECOVERY_REQUIRED, COMPLETED or FAILED is 409 state_conflict",
	"asked-again":             "12.2: inputs or a title that were rejected are marked on the approval",
	"cancelled-after-sending": "12.2: a cancelled run of which something was sent is UNKNOWN",
	"resent-is-unknown":       "12.1: over MCP such an end is UNKNOWN",
	"other-content":           "4: the same key with different content returns 409",
	"null-is-absent":          "12.1: null for an optional field means that it is left out",
	"expectation-required":    "11: a capability without expectation is offered for rehearsal only, unless it is a read",
	"agent-expects":           "7: LIVE agent run without expectation: 400 expectation_required",
	"again-is-new":            "11: each again is a new run",
	"again-while-open":        "12.2: while it is open, again is refused (409 state_conflict, outcome UNKNOWN)",
	"second-rejection":        "12.2: and refused after the second rejection",
	"task-is-key":             "11: task is part of the key",
	"reads-anew":              "12.2: a capability without side effect is never answered from an ended run",
	"nothing-sent-is-new":     "12.2: unless nothing of it was ever sent: then the call is a new run",
	"ended-is-found":          "12.2: after its end it is found for 24 h",
	"same-title":              "12.2: the same inputs or title",
	"open-asks":               "12.2: any other LIVE call over MCP asks a person whatever the policy",
	"open-is-named":           "12.2: starts by other doors go by their policy, and their run says openAlike[]",
}
