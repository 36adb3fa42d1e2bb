package linearizability

import (
	"fmt"

	"github.com/countersign/countersign"
)

// A model, a team and an agent are registers with a revision. A write names the revision that it continues from. Each write and
// each suspension increases the revision by one; resuming doesn't.

// register is the state; revision 0 means that there is none.
type register struct {
	revision  int64
	content   string
	suspended bool
}

// registerOp is an operation on a register.
type registerOp struct {
	what     string // put, read, suspend, resume
	expected int64
	content  string
}

func (o registerOp) String() string {
	if o.what == "put" {
		return fmt.Sprintf("put %q over %d", o.content, o.expected)
	}
	return o.what
}

// registerAnswer is an answer; for a conflict only the revision that it names.
type registerAnswer struct {
	answer
	register
}

func (a registerAnswer) String() string {
	return fmt.Sprintf("%s %+v", a.code, a.register)
}

var registerSpec = spec[register, registerOp, registerAnswer]{
	next: func(s register, in registerOp, _ registerAnswer) (register, registerAnswer) {
		switch {
		case in.what == "put" && in.expected != s.revision:
			return s, conflictAt(s.revision)
		case in.what == "put":
			s.revision, s.content = s.revision+1, in.content
		case s.revision == 0:
			return s, registerAnswer{answer: answer{countersign.CodeNotFound}}
		case in.what == "suspend" && !s.suspended:
			s.revision, s.suspended = s.revision+1, true
		case in.what == "resume":
			s.suspended = false
		}
		return s, registerAnswer{register: s}
	},
}

func conflictAt(revision int64) registerAnswer {
	return registerAnswer{answer{countersign.CodeRevisionConflict}, register{revision: revision}}
}
