package httpapi

import (
	"maps"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/countersign/countersign"
)

// knownValues has the values of a list that stays open. They don't stand in `enum`, so that
// what checks answers by the document takes those that a later release adds.
const knownValues = "x-extensible-enum"

// openLists are such lists that answers have, by schema and property.
var openLists = map[string]map[string][]string{
	"Error":      {"error": slices.Sorted(maps.Keys(errorCodes()))},
	"StepError":  {"code": words(countersign.RunReasons)},
	"WaitingFor": {"kind": countersign.WaitKinds},
	"Simulation": {"outcome": countersign.SimulationOutcomes},
}

// tellOpenLists writes the known values of open lists beside their types.
func tellOpenLists(registry huma.Registry) {
	for name, properties := range openLists {
		for property, known := range properties {
			registry.Map()[name].Properties[property].Extensions = map[string]any{knownValues: known}
		}
	}
}
