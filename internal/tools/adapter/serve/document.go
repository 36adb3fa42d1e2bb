package serve

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"github.com/countersign/countersign/internal/tools/adapter/file"
	up "github.com/countersign/countersign/internal/tools/adapter/upstream"
)

var place = regexp.MustCompile(`\{([^{}/]+)\}`)

// document answers what the adapter offers.
func (a *asked) document() {
	if _, err := a.verified(a.everybody()...); err != nil && a.cfg.File.OpenAPI != "public" {
		a.unauthenticated(err)
		return
	}
	a.answer(&up.Answer{Status: http.StatusOK, ContentType: "application/json", Body: Document(a.cfg.File, a.cfg.Upstreams)})
}

// Document is the API document of what FILE offers.
func Document(f *file.File, upstreams map[string]up.Upstream) []byte {
	type object = map[string]any
	paths := object{}
	for i := range f.Upstreams {
		u := &f.Upstreams[i]
		prefix := "/http/" + u.Name
		if u.MCP != nil {
			prefix = "/mcp/" + u.Name
		}
		for _, o := range upstreams[u.Name].Operations() {
			operation := object{"tags": []string{u.Name}, "responses": object{
				"200":     object{"description": "the upstream's answer", "content": object{"application/json": object{}}},
				"default": object{"description": "a refusal, or why nothing is known", "content": object{"application/json": object{"schema": object{"$ref": "#/components/schemas/Error"}}}},
			}}
			var parameters []object
			for _, m := range place.FindAllStringSubmatch(o.Path, -1) {
				parameters = append(parameters, object{"name": m[1], "in": "path", "required": true, "schema": object{"type": "string"}})
			}
			if parameters != nil {
				operation["parameters"] = parameters
			}
			if o.Method != http.MethodGet {
				operation["requestBody"] = object{"content": object{"application/json": object{"schema": object{"type": "object"}}}}
			}
			at, _ := paths[prefix+o.Path].(object)
			if at == nil {
				at = object{}
			}
			at[strings.ToLower(o.Method)] = operation
			paths[prefix+o.Path] = at
		}
	}
	text := object{"type": "string"}
	body, err := json.MarshalIndent(object{
		"openapi": "3.1.0", "info": object{"title": "Countersign adapter", "version": "1"}, "paths": paths,
		"components": object{"schemas": object{"Error": object{"type": "object", "required": []string{"error", "message"}, "properties": object{"error": text, "message": text}}}},
	}, "", "  ")
	if err != nil {
		panic(err) // maps and texts can always be written
	}
	return append(body, '\n')
}
