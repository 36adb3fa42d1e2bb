package models

import (
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/text"
)

// finding is one validation problem; its number also stands on the diagram.
type finding struct {
	Number              int
	Word, Class         string
	Message, Path, Code string
	stateID             string
}

// mostFindings is how many problems a page lists; the API lists all.
const mostFindings = 100

// findingsOf numbers errors before warnings; more is how many aren't listed.
func findingsOf(doc countersign.AgentModel, found countersign.Validation) (list []finding, more int) {
	for _, p := range found.Errors {
		list = append(list, finding{Word: "Error", Class: "is-fail", Message: p.Message, Path: p.Path, Code: p.Code})
	}
	for _, p := range found.Warnings {
		list = append(list, finding{Word: "Warning", Class: "is-wait", Message: p.Message, Path: p.Path, Code: p.Code})
	}
	for i := range list {
		list[i].Number = i + 1
		list[i].Message = text.Upper(list[i].Message) + "."
		list[i].stateID = stateAt(doc, list[i].Path)
	}
	more = max(0, len(list)-mostFindings)
	return list[:len(list)-more], more
}

// stateAt is the ID of the state that a problem's path is about, which is a
// transition's source state; "" if none.
func stateAt(doc countersign.AgentModel, path string) string {
	list, rest, _ := strings.Cut(path, "[")
	index, _, _ := strings.Cut(rest, "]")
	i, err := strconv.Atoi(index)
	switch {
	case err != nil || i < 0:
	case list == "states" && i < len(doc.States):
		return doc.States[i].ID
	case list == "transitions" && i < len(doc.Transitions):
		return doc.Transitions[i].FromStateID
	}
	return ""
}

// badge lists the numbers of a state's findings, "" for none.
func badge(list []finding, stateID string) string {
	var numbers []string
	for _, f := range list {
		if n := strconv.Itoa(f.Number); f.stateID == stateID && !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
	}
	return strings.Join(numbers, ",")
}
