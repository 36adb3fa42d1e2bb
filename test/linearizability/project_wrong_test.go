package linearizability

import (
	"testing"

	"github.com/anishathalye/porcupine"
)

func TestWrongProjectHistoriesAreRefused(t *testing.T) {
	put := func(content string, over int64) projectOp {
		return projectOp{what: "put", content: content, expected: over}
	}
	of := func(what string, over int64) projectOp { return projectOp{what: what, expected: over} }
	is := func(revision int64, content string, enabled, healthy bool) projectAnswer {
		return projectAnswer{projectState: projectState{revision, content, enabled, healthy}}
	}
	made := at(1, 2, put("a", 0), is(1, "a", false, false))
	checked := at(3, 4, of("check", 0), projectAnswer{projectState: projectState{revision: 1}})
	enabled := at(5, 6, of("enable", 1), is(1, "a", true, true))
	judgeSamples(t, projectSpec.model(), []sample{
		{"enabled without a check", false, []porcupine.Operation{made, at(3, 4, of("enable", 1), is(1, "a", true, false))}},
		{"enabled by the check of an older revision", false, []porcupine.Operation{
			made, checked, at(5, 6, put("b", 1), is(2, "b", false, false)), at(7, 8, of("enable", 2), is(2, "b", true, false)),
		}},
		{"an edit keeps it enabled", false, []porcupine.Operation{made, checked, enabled, at(7, 8, put("b", 1), is(2, "b", true, false))}},
		{"enabling raises the revision", false, []porcupine.Operation{made, checked, at(5, 6, of("enable", 1), is(2, "a", true, true))}},
		{"disabled over an old revision", false, []porcupine.Operation{
			made, checked, at(5, 6, put("b", 1), is(2, "b", false, false)), at(7, 8, of("disable", 1), is(2, "b", false, false)),
		}},
		{"a check of a revision that was gone", false, []porcupine.Operation{
			made, at(3, 4, put("b", 1), is(2, "b", false, false)), at(5, 6, of("check", 0), projectAnswer{projectState: projectState{revision: 1}}),
		}},
		{"enabled and edited", true, []porcupine.Operation{made, checked, enabled, at(7, 8, put("b", 1), is(2, "b", false, false))}},
	})
}
