package console

import (
	"html/template"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/server/console/text"
)

// modelFunctions are the functions of the templates of models.
var modelFunctions = template.FuncMap{"modelState": modelState, "ctl": ctl, "rows": rows}

func modelRoutes() []route {
	return append(retireRoutes("/models/", (*control.Service).RetireModel, (*control.Service).RestoreModel), []route{
		{method: "GET", path: "/models", page: modelsPage},
		{method: "GET", path: "/models/new", page: newModelPage},
		{method: "GET", path: "/models/+form", page: newModelFormPage},
		{method: "POST", path: "/models/+form", act: makeModel},
		{method: "POST", path: "/models", act: createModel},
		{method: "GET", path: "/models/{id}", page: modelPage},
		{method: "POST", path: "/models/{id}", act: saveModel},
		{method: "GET", path: "/models/{id}/edit", page: editModelPage},
		{method: "GET", path: "/models/{id}/form", page: modelFormPage},
		{method: "POST", path: "/models/{id}/form", act: changeModel},
		{method: "POST", path: "/models/{id}/suspend", act: suspendModel},
		{method: "POST", path: "/models/{id}/resume", act: resumeModel},
		{method: "GET", path: "/models/{id}/compile", page: compilePage},
		{method: "POST", path: "/models/{id}/compile", act: compile},
	}...)
}

func modelsPage(v *pageRequest) (*page, error) {
	return recordsPage(v, "models", "Models", v.control.Models)
}

// modelState says whether plans can be made of a model.
func modelState(m countersign.Model) text.State {
	if m.Retired {
		return text.RetiredState
	}
	if m.Suspended {
		return text.State{Class: "is-wait", Icon: "s-waiting", Word: "Suspended"}
	}
	return text.State{Class: "is-ok", Icon: "s-completed", Word: "In use"}
}

func modelHref(id string) string { return "/models/" + id }

func modelCrumbs(m countersign.Model, more ...string) []crumb {
	var last []crumb
	for _, word := range more {
		last = append(last, crumb{Word: word})
	}
	return crumbsBelow("Models", "/models", m.ID, last...)
}
