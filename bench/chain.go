package main

import "fmt"

// chainModel is a model of 20 states, each but the last with two guarded transitions. The
// guard of the first one is always false. The second one leads to the next state and sets a
// variable that the guard of the following transition reads.
func chainModel() object {
	const last = 19
	doc := model()
	var states, transitions, actions []object
	var path []string
	for i := range last + 1 {
		id := fmt.Sprintf("s%d", i)
		path = append(path, id)
		states = append(states, object{"id": id, "name": id, "meaning": id, "isStart": i == 0, "isFinal": i == last, "position": object{"x": 0, "y": 0}})
		if i == last {
			break
		}
		actions = append(actions, object{"id": "a" + id, "name": "a" + id, "description": "go on", "inputs": []string{}, "simulatedResult": "done",
			"memoryEffects": []object{{"variableId": "step", "value": i + 1}}})
		transitions = append(transitions,
			arrow("skip-"+id, id, "s19", 0, "", predicate("amount", "gt", 1000), predicate("color", "eq", "green")),
			arrow("go-"+id, id, fmt.Sprintf("s%d", i+1), 1, "a"+id, predicate("amount", "lte", 1000), predicate("step", "eq", i)))
	}
	doc["id"], doc["states"], doc["transitions"], doc["actions"] = "chain", states, transitions, actions
	doc["variables"] = []object{
		{"id": "amount", "name": "amount", "kind": "input", "type": "number", "defaultValue": 120.50, "source": "user"},
		{"id": "color", "name": "color", "kind": "input", "type": "choice", "defaultValue": "red", "source": "user", "choices": []string{"red", "green"}},
		{"id": "step", "name": "step", "kind": "memory", "type": "number", "defaultValue": 0, "source": "agent"},
	}
	doc["scenarios"] = []object{{"id": "s", "name": "s", "description": "s", "inputs": object{}, "initialMemory": object{}, "expectedStateId": "s19", "expectedPath": path, "expectedResult": "done"}}
	return doc
}

func predicate(variable, operator string, value any) object {
	return object{"kind": "predicate", "variableId": variable, "operator": operator, "value": value}
}

func arrow(id, from, to string, priority int, action string, all ...object) object {
	t := object{"id": id, "name": id, "fromStateId": from, "toStateId": to, "priority": priority,
		"condition": object{"kind": "group", "combinator": "AND", "conditions": all}}
	if action != "" {
		t["actionId"] = action
	}
	return t
}
