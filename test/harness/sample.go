package harness

// Samples: small documents that the service accepts. Tests change copies of them with With and Without.

// Model is a model of a refund: it checks that the amount is positive and pays it.
func Model(id string) Doc {
	return Doc{
		"schemaVersion": "1.0.0", "id": id, "name": "Refund", "description": "Pays money back", "revision": 1, "updatedAt": "2026-01-01T00:00:00Z",
		"agent": Doc{"id": "agent", "name": "Refunder", "role": "clerk", "user": "customer", "goal": "pay back", "completionCriteria": "paid"},
		"scope": Doc{"allowedActions": "refund", "limits": "100", "askUserWhen": "unsure"},
		"variables": []any{
			variable("amount", "input", "number", 0), variable("orderId", "input", "text", "ord-1"),
			variable("checked", "memory", "boolean", nil),
		},
		"states": []any{
			state("start", true, false), state("review", false, false), state("paid", false, true), state("rejected", false, true),
		},
		"transitions": []any{
			Transition("accept", "start", "review", 0, Predicate("amount", "gt", 0), "check"),
			Transition("reject", "start", "rejected", 1, Group("AND"), ""),
			Transition("pay", "review", "paid", 0, Predicate("checked", "eq", true), "pay"),
		},
		"actions": []any{
			action("check", "checked", Doc{"variableId": "checked", "value": true}),
			action("pay", "money is on its way"),
		},
		"scenarios": []any{Scenario("small", Doc{"amount": 10, "orderId": "ord-7"}, "paid", []any{"start", "review", "paid"}, "money is on its way")},
	}
}

func variable(id, kind, typ string, byDefault any) Doc {
	return Doc{"id": id, "name": id, "kind": kind, "type": typ, "defaultValue": byDefault, "source": "customer"}
}

func state(id string, start, final bool) Doc {
	return Doc{"id": id, "name": id, "meaning": id, "isStart": start, "isFinal": final, "position": Doc{"x": 1.5, "y": -2}}
}

// Transition is a transition of a model; an actionID of "" means no action.
func Transition(id, from, to string, priority int, condition Doc, actionID string) Doc {
	t := Doc{"id": id, "name": id, "fromStateId": from, "toStateId": to, "priority": priority, "condition": condition}
	if actionID != "" {
		t["actionId"] = actionID
	}
	return t
}

// Predicate is a condition on one variable.
func Predicate(variable, operator string, value any) Doc {
	return Doc{"kind": "predicate", "variableId": variable, "operator": operator, "value": value}
}

// Group joins conditions.
func Group(combinator string, conditions ...any) Doc {
	return Doc{"kind": "group", "combinator": combinator, "conditions": append([]any{}, conditions...)}
}

func action(id, result string, effects ...any) Doc {
	return Doc{"id": id, "name": id, "description": id, "inputs": []any{}, "simulatedResult": result, "memoryEffects": append([]any{}, effects...)}
}

// Scenario is a scenario of a model.
func Scenario(id string, inputs Doc, state string, path []any, result string) Doc {
	return Doc{
		"id": id, "name": id, "description": id, "inputs": inputs, "initialMemory": Doc{},
		"expectedStateId": state, "expectedPath": path, "expectedResult": result,
	}
}

// SecretEnv is the name of the variable with Secret, the credential of Project.
const (
	SecretEnv = "SHOP_SECRET"
	Secret    = "canary/secret+of?the&shop=47"
)

// Project is a shop's API at an origin, with HMAC authentication.
func Project(origin string) Doc {
	return Doc{
		"name": "Shop", "adapter": "HTTP_JSON", "baseUrl": origin, "healthPath": "/health",
		"auth":         Doc{"type": "HMAC", "credentialEnv": SecretEnv},
		"capabilities": Capabilities(),
	}
}

// Capabilities are the shop's capabilities, one of each kind.
func Capabilities() []any {
	text, amount := Input("string", true), Input("number", false)
	return []any{
		Capability("lookup", "GET", "/orders/{resourceId}", Doc{}),
		Capability("search", "GET", "/search", Doc{}),
		Capability("patient", "GET", "/patient", Doc{"timeoutMs": 60000}),
		Capability("hasty", "GET", "/hasty", Doc{"timeoutMs": 1500}),
		Capability("guarded", "GET", "/guarded", Doc{"approval": "ALWAYS"}),
		Capability("refund", "POST", "/refunds", Doc{"inputSchema": Doc{"orderId": text, "amount": amount}, "probe": "refund-status"}),
		Capability("refund-status", "GET", "/refunds/{orderId}", Doc{"inputSchema": Doc{"orderId": text}}),
		Capability("note", "POST", "/notes", Doc{"approval": "NONE"}),
		Capability("effect", "POST", "/effect", Doc{"approval": "NONE"}),
		Capability("rush", "POST", "/rush", Doc{"approval": "NONE", "timeoutMs": 1500}),
		Capability("count", "POST", "/count", Doc{"approval": "NONE", "outputField": "result"}),
	}
}

// Capability is a capability with more fields.
func Capability(name, method, path string, more Doc) Doc {
	c := Doc{"name": name, "method": method, "path": path}
	for k, v := range more {
		c[k] = v
	}
	return c
}

// Input declares an input of a capability.
func Input(typ string, required bool) Doc { return Doc{"type": typ, "required": required} }
