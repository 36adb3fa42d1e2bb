package linearizability

import (
	"testing"

	"github.com/anishathalye/porcupine"
)

func TestWrongAgentHistoriesAreRefused(t *testing.T) {
	sync := func(source int64, content string) agentOp {
		return agentOp{what: "sync", source: source, content: content}
	}
	of := func(what string) agentOp { return agentOp{what: what, expected: -1} }
	is := func(revision, source int64, content string, admitted, suspended bool) agentAnswer {
		return agentAnswer{agentState: agentState{revision, source, content, admitted, suspended}}
	}
	made := at(1, 2, sync(1, "a"), agentAnswer{})
	judgeSamples(t, agentSpec.model(), []sample{
		{"two manifests of one revision", false, []porcupine.Operation{at(1, 4, sync(1, "a"), agentAnswer{}), at(2, 5, sync(1, "b"), agentAnswer{})}},
		{"an older manifest", false, []porcupine.Operation{at(1, 2, sync(2, "a"), agentAnswer{}), at(3, 4, sync(1, "a"), agentAnswer{})}},
		{"a changed agent stays admitted", false, []porcupine.Operation{
			made, at(3, 4, of("admit"), is(1, 1, "a", true, false)), at(5, 6, sync(2, "a"), agentAnswer{}), at(7, 8, of("read"), is(2, 2, "a", true, false)),
		}},
		{"a manifest ends a suspension", false, []porcupine.Operation{
			made, at(3, 4, of("suspend"), is(2, 1, "a", false, true)), at(5, 6, sync(2, "a"), agentAnswer{}), at(7, 8, of("read"), is(3, 2, "a", false, false)),
		}},
		{"admitted and suspended", false, []porcupine.Operation{
			made, at(3, 6, of("suspend"), is(2, 1, "a", false, true)), at(4, 7, of("admit"), is(2, 1, "a", true, true)),
		}},
		{"the same manifest changes it", false, []porcupine.Operation{made, at(3, 4, sync(1, "a"), agentAnswer{}), at(5, 6, of("read"), is(2, 1, "a", false, false))}},
		{"suspended, admitted, and said so in the other order", true, []porcupine.Operation{
			made, at(3, 8, of("suspend"), is(2, 1, "a", false, true)), at(4, 7, of("admit"), is(2, 1, "a", true, false)),
		}},
	})
}
