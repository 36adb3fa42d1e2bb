package form

import (
	"html/template"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/server/console/web"
)

// Functions are the functions of the templates of forms.
var Functions = template.FuncMap{"using": using}

// usedBy lists what keeps a project from being edited.
type usedBy struct {
	control.ProjectUse
	Runs []usingRun
}

type usingRun struct {
	RunID, Moves string
	At           template.HTML
}

// using words what uses a project, as its page shows it.
func using(f web.Frame, u control.ProjectUse) usedBy {
	out := usedBy{ProjectUse: u}
	for _, r := range u.Runs {
		out.Runs = append(out.Runs, usingRun{r.RunID, movesWord(r), f.Ago(r.Since)})
	}
	return out
}

func movesWord(r control.RunUse) string {
	switch {
	case r.WaitingFor == nil:
		return "Nothing: it is running"
	case r.WaitingFor.Kind == countersign.WaitApproval:
		return "An approver’s decision on " + r.WaitingFor.StepID
	case r.WaitingFor.Kind == countersign.WaitReconcile:
		return "An approver’s record of what happened at " + r.WaitingFor.StepID
	}
	if r.WaitingFor.Kind == countersign.WaitStop {
		return "An administrator to lift the stop"
	}
	return "A free slot"
}

// InUse reports a refusal that the project's page explains with links.
func InUse(err error) bool { return countersign.ErrorCode(err) == countersign.CodeProjectInUse }
