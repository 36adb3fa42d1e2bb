package linearizability

import (
	"fmt"

	"github.com/countersign/countersign"
)

// A project is a register that every edit disables. It can be enabled again after a health check of the same revision.
// Enabling, disabling and checking keep the revision.

// projectState is the state; revision 0 means that there is no project.
type projectState struct {
	revision int64
	content  string
	enabled  bool
	healthy  bool // the present revision passed its check; older checks don't count
}

// projectOp is an operation on a project.
type projectOp struct {
	what     string // put, read, check, enable, disable
	expected int64
	content  string
}

func (o projectOp) String() string {
	return fmt.Sprintf("%s %q over %d", o.what, o.content, o.expected)
}

// projectAnswer is an answer; for a conflict only the revision that it names, for a health check the checked revision.
type projectAnswer struct {
	answer
	projectState
}

func (a projectAnswer) String() string { return fmt.Sprintf("%s %+v", a.code, a.projectState) }

var projectSpec = spec[projectState, projectOp, projectAnswer]{
	next: func(s projectState, in projectOp, given projectAnswer) (projectState, projectAnswer) {
		refused := func(code countersign.Code) (projectState, projectAnswer) {
			return s, projectAnswer{answer: answer{code}}
		}
		switch {
		case in.what == "put" && in.expected == s.revision:
			s = projectState{revision: s.revision + 1, content: in.content}
		case in.what != "put" && s.revision == 0:
			return refused(countersign.CodeNotFound)
		case in.what == "check" && given.code == countersign.CodeRevisionConflict:
			return s, given // the answer says that the project changed during the check
		case in.what == "check":
			s.healthy = true
			return s, projectAnswer{projectState: projectState{revision: s.revision}}
		case in.what == "read":
		case in.expected != s.revision:
			return s, projectAnswer{answer{countersign.CodeRevisionConflict}, projectState{revision: s.revision}}
		case in.what == "enable" && !s.enabled && !s.healthy:
			return refused(countersign.CodeHealthCheckRequired)
		default:
			s.enabled = in.what == "enable"
		}
		return s, projectAnswer{projectState: s}
	},
}
