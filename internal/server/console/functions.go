package console

import (
	"html/template"
	"maps"
)

// functions are the template functions besides the frame's methods.
var functions = joinedFunctions(
	textFunctions, webFunctions, formFunctions, drawnFunctions, ruleFunctions,
	runFunctions, modelFunctions, projectFunctions, agentFunctions, accessFunctions, overviewFunctions,
)

func joinedFunctions(all ...template.FuncMap) template.FuncMap {
	out := template.FuncMap{}
	for _, one := range all {
		maps.Copy(out, one)
	}
	return out
}
