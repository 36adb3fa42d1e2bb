package models

import (
	"html/template"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// Functions are the functions of the templates of models.
var Functions = template.FuncMap{"modelState": modelState, "ctl": ctl, "rows": rows}

// Routes are the pages of models.
func Routes() []web.Route {
	return append(web.RetireRoutes("/models/", (*control.Service).RetireModel, (*control.Service).RestoreModel), []web.Route{
		{Method: "GET", Path: "/models", Page: modelsPage},
		{Method: "GET", Path: "/models/new", Page: newModelPage},
		{Method: "GET", Path: "/models/+form", Page: newModelFormPage},
		{Method: "POST", Path: "/models/+form", Act: makeModel},
		{Method: "POST", Path: "/models", Act: createModel},
		{Method: "GET", Path: "/models/{id}", Page: modelPage},
		{Method: "POST", Path: "/models/{id}", Act: saveModel},
		{Method: "GET", Path: "/models/{id}/edit", Page: editModelPage},
		{Method: "GET", Path: "/models/{id}/form", Page: modelFormPage},
		{Method: "POST", Path: "/models/{id}/form", Act: changeModel},
		{Method: "POST", Path: "/models/{id}/suspend", Act: suspendModel},
		{Method: "POST", Path: "/models/{id}/resume", Act: resumeModel},
		{Method: "GET", Path: "/models/{id}/compile", Page: compilePage},
		{Method: "POST", Path: "/models/{id}/compile", Act: compile},
	}...)
}

func modelsPage(v *web.Request) (*web.Page, error) {
	return web.RecordsPage(v, "models", "Models", v.Control.Models)
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

func modelCrumbs(m countersign.Model, more ...string) []web.Crumb {
	var last []web.Crumb
	for _, word := range more {
		last = append(last, web.Crumb{Word: word})
	}
	return web.CrumbsBelow("Models", "/models", m.ID, last...)
}
