package linearizability

import (
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/countersign/countersign"
)

func TestWrongRegisterHistoriesAreRefused(t *testing.T) {
	put := func(content string, over int64) registerOp {
		return registerOp{what: "put", content: content, expected: over}
	}
	read := registerOp{what: "read"}
	is := func(revision int64, content string) registerAnswer {
		return registerAnswer{register: register{revision: revision, content: content}}
	}
	suspended := func(revision int64) registerAnswer {
		return registerAnswer{register: register{revision, "a", true}}
	}
	judgeSamples(t, registerSpec.model(), []sample{
		{"two writes over one revision", false, []porcupine.Operation{
			at(1, 4, put("a", 0), is(1, "a")), at(2, 5, put("b", 0), is(1, "b")),
		}},
		{"a write over an old revision", false, []porcupine.Operation{
			at(1, 2, put("a", 0), is(1, "a")), at(3, 4, put("b", 1), is(2, "b")), at(5, 6, put("c", 1), is(3, "c")),
		}},
		{"a revision is skipped", false, []porcupine.Operation{
			at(1, 2, put("a", 0), is(1, "a")), at(3, 4, put("b", 1), is(3, "b")),
		}},
		{"a read of what was overwritten before", false, []porcupine.Operation{
			at(1, 2, put("a", 0), is(1, "a")), at(3, 4, put("b", 1), is(2, "b")), at(5, 6, read, is(1, "a")),
		}},
		{"a read of content and revision that never met", false, []porcupine.Operation{
			at(1, 2, put("a", 0), is(1, "a")), at(3, 6, put("b", 1), is(2, "b")), at(4, 5, read, is(2, "a")),
		}},
		{"a conflict that names another revision", false, []porcupine.Operation{
			at(1, 2, put("a", 0), is(1, "a")), at(3, 4, put("b", 0), conflictAt(2)),
		}},
		{"a conflict without a reason", false, []porcupine.Operation{
			at(1, 2, put("a", 0), is(1, "a")), at(3, 4, put("b", 1), conflictAt(1)),
		}},
		{"an acknowledged write is lost", false, []porcupine.Operation{
			at(1, 2, put("a", 0), is(1, "a")), at(3, 4, read, registerAnswer{answer: answer{countersign.CodeNotFound}}),
		}},
		{"two reads see a write come and go", false, []porcupine.Operation{
			at(1, 2, put("a", 0), is(1, "a")), at(3, 9, put("b", 1), is(2, "b")), at(4, 5, read, is(2, "b")), at(6, 7, read, is(1, "a")),
		}},
		{"a suspension keeps the revision", false, []porcupine.Operation{
			at(1, 2, put("a", 0), is(1, "a")), at(3, 4, registerOp{what: "suspend"}, suspended(1)),
		}},
		{"a second suspension raises it again", false, []porcupine.Operation{
			at(1, 2, put("a", 0), is(1, "a")), at(3, 6, registerOp{what: "suspend"}, suspended(2)), at(4, 7, registerOp{what: "suspend"}, suspended(3)),
		}},
		{"a write ends a suspension", false, []porcupine.Operation{
			at(1, 2, put("a", 0), is(1, "a")), at(3, 4, registerOp{what: "suspend"}, suspended(2)), at(5, 6, put("b", 2), is(3, "b")),
		}},
		{"a write without an answer is seen and unseen", false, []porcupine.Operation{
			at(1, 2, put("a", 0), registerAnswer{answer: unavailable}), at(3, 4, read, is(1, "a")), at(5, 6, read, registerAnswer{answer: answer{countersign.CodeNotFound}}),
		}},
		{"a write without an answer shows late", true, []porcupine.Operation{
			at(1, 2, put("a", 0), registerAnswer{answer: unavailable}), at(3, 4, read, registerAnswer{answer: answer{countersign.CodeNotFound}}), at(5, 6, read, is(1, "a")),
		}},
		{"a read beside a write sees either", true, []porcupine.Operation{
			at(1, 2, put("a", 0), is(1, "a")), at(3, 9, put("b", 1), is(2, "b")), at(4, 5, read, is(1, "a")), at(6, 7, read, is(2, "b")),
		}},
	})
}
