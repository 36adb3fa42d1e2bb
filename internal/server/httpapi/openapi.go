package httpapi

import (
	"cmp"
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
)

// documentVersion is the version that the API description declares
// (specification 9).
const documentVersion = "0.1.0"

// document is the OpenAPI 3.1 document of the routes. The schemas come from the Go
// types and tags that internal/rules/exactjson decodes by, so that the document matches
// what the service accepts.
func document(baseURL string, routes []route) ([]byte, error) {
	registry := schemas()
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "Countersign", Version: documentVersion,
			Description: "Executes what software agents propose, under control: explicit plans, approval before side effects, verification of each answer, reconciliation of what is uncertain, and an audit log of all of it. In a request, null for an optional field means that it is left out, except for projectIds, agentIds, modes and groups.",
			License:     &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
		},
		Servers:    []*huma.Server{{URL: baseURL + Prefix}, {URL: baseURL + AliasPrefix, Description: "compatibility alias of the same API"}},
		Components: &huma.Components{Schemas: registry, SecuritySchemes: securitySchemes(baseURL)},
		Paths:      map[string]*huma.PathItem{},
	}
	for _, r := range routes {
		doc.AddOperation(operation(registry, r))
	}
	tellOpenLists(registry)
	return json.Marshal(doc)
}

// securitySchemes are the two ways to authenticate: a bearer token, or the session
// cookie with a CSRF token for unsafe requests (contract 3).
func securitySchemes(baseURL string) map[string]*huma.SecurityScheme {
	return map[string]*huma.SecurityScheme{
		"bearer":  {Type: "http", Scheme: "bearer", Description: "a token of POST /tokens"},
		"session": {Type: "apiKey", In: "cookie", Name: access.CookieName(strings.HasPrefix(baseURL, "https://")), Description: "the session of somebody who has signed in to the console; an Authorization header wins"},
		"csrf":    {Type: "apiKey", In: "header", Name: "X-CSRF-Token", Description: "the csrfToken of GET /session"},
	}
}

// security lists an operation's alternative schemes.
func security(r route) []map[string][]string {
	session := map[string][]string{"session": {}}
	if !safe(r.method) {
		session["csrf"] = []string{}
	}
	return []map[string][]string{{"bearer": {}}, session}
}

func operation(registry huma.Registry, r route) *huma.Operation {
	op := &huma.Operation{
		OperationID: r.id, Method: r.method, Path: strings.Replace(r.path, "{id}", "{"+idName(r)+"}", 1), Summary: r.summary, Description: who(r), Tags: []string{r.tag},
		Parameters: parameters(r), Responses: responses(registry, r), Security: []map[string][]string{},
	}
	if r.op != "" {
		op.Security = security(r)
	}
	if r.body != nil {
		op.RequestBody = &huma.RequestBody{Required: !r.bodyOptional, Content: jsonContent(registry.Schema(r.body, true, ""))}
	}
	return op
}

// who words which role the operation needs.
func who(r route) string {
	if r.op == "" {
		return "Public."
	}
	roles, realm := access.RolesFor(r.op)
	switch {
	case realm:
		return "Needs a realm administrator."
	case len(roles) == 0:
		return "Any role, within its scope."
	default:
		return "Needs the role " + string(roles[0]) + "."
	}
}

func idName(r route) string { return cmp.Or(r.idName, "id") }

func parameters(r route) []*huma.Param {
	var out []*huma.Param
	if strings.Contains(r.path, "{id}") {
		out = append(out, &huma.Param{Name: idName(r), In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString, Pattern: idPattern}})
	}
	if strings.Contains(r.path, "{email}") {
		out = append(out, &huma.Param{Name: "email", In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString, Format: "email"}})
	}
	if strings.Contains(r.path, "{name}") {
		out = append(out, &huma.Param{Name: "name", In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString, Pattern: `^[A-Za-z_][A-Za-z0-9_]*$`}})
	}
	for _, p := range r.query {
		out = append(out, &huma.Param{Name: p.name, In: "query", Description: p.doc, Schema: p.schema()})
	}
	if r.needsKey {
		out = append(out, &huma.Param{Name: "Idempotency-Key", In: "header", Required: true, Description: "repeating it with the same content finds the same run", Schema: &huma.Schema{Type: huma.TypeString, Pattern: `^[!-~]{1,255}$`}})
	}
	return out
}

func (p param) schema() *huma.Schema {
	switch p.kind {
	case limitParam:
		return &huma.Schema{Type: huma.TypeInteger, Minimum: new(float64(1)), Maximum: new(float64(countersign.MaxPageLimit)), Default: countersign.DefaultPageLimit}
	case offsetParam:
		return &huma.Schema{Type: huma.TypeInteger, Minimum: new(float64(0)), Default: 0}
	case afterParam:
		return &huma.Schema{Type: huma.TypeInteger, Minimum: new(float64(0))}
	case timeParam:
		return &huma.Schema{Type: huma.TypeString, Format: "date-time"}
	case idParam:
		return &huma.Schema{Type: huma.TypeString, Pattern: idPattern}
	case boolParam:
		return &huma.Schema{Type: huma.TypeBoolean}
	case openListParam:
		return &huma.Schema{Type: huma.TypeString, Extensions: map[string]any{knownValues: p.enum}}
	default:
		return &huma.Schema{Type: huma.TypeString, Enum: anys(p.enum)}
	}
}

func anys(list []string) []any {
	var out []any
	for _, v := range list {
		out = append(out, v)
	}
	return out
}

// declaredErrors are declared on every operation (specification 4).
var declaredErrors = []int{400, 401, 403, 404, 409, 413, 500, 503}

func responses(registry huma.Registry, r route) map[string]*huma.Response {
	failure := registry.Schema(reflect.TypeFor[errorBody](), true, "Error")
	out := map[string]*huma.Response{}
	for _, status := range declaredErrors {
		out[strconv.Itoa(status)] = &huma.Response{Description: http.StatusText(status), Content: jsonContent(failure)}
	}
	success := &huma.Response{Description: http.StatusText(r.status), Content: jsonContent(&huma.Schema{Type: huma.TypeObject, AdditionalProperties: true})}
	switch {
	case r.answer != nil:
		answer := registry.Schema(r.answer, true, "")
		listItems(registry, answer)
		success.Content = jsonContent(answer)
	case r.id == "events":
		registry.Schema(reflect.TypeFor[countersign.DeskEvent](), true, "")
		success.Content = map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}}
	case r.id == "runEvents":
		success.Content = map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}}
	case r.id == "exportAudit":
		registry.Schema(reflect.TypeFor[countersign.AuditExportEnd](), true, "")
		success.Content = map[string]*huma.MediaType{"application/x-ndjson": {Schema: &huma.Schema{Type: huma.TypeString}}}
	case r.id == "metrics":
		for _, exposition := range []string{"text/plain", "application/openmetrics-text"} {
			success.Content[exposition] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
		}
	}
	if r.needsKey {
		success.Headers = map[string]*huma.Header{"Idempotency-Replayed": {Description: "true when an earlier start with this key made the run", Schema: &huma.Schema{Type: huma.TypeString}}}
	}
	out[strconv.Itoa(r.status)] = success
	return out
}

func jsonContent(s *huma.Schema) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{"application/json": {Schema: s}}
}

// schemas is a registry that maps types whose JSON form differs from their Go kind:
// exact values, scalars, conditions and verbatim numbers.
func schemas() huma.Registry {
	r := huma.NewMapRegistry(schemaPrefix, schemaName)
	r.RegisterTypeAlias(reflect.TypeFor[countersign.Value](), reflect.TypeFor[anyValue]())
	r.RegisterTypeAlias(reflect.TypeFor[countersign.Scalar](), reflect.TypeFor[modelValue]())
	r.RegisterTypeAlias(reflect.TypeFor[countersign.Condition](), reflect.TypeFor[condition]())
	r.RegisterTypeAlias(reflect.TypeFor[countersign.Auths](), reflect.TypeFor[auths]())
	r.RegisterTypeAlias(reflect.TypeFor[json.Number](), reflect.TypeFor[float64]())
	r.Map()[modelValueName] = &huma.Schema{AnyOf: []*huma.Schema{{Type: huma.TypeString}, {Type: huma.TypeNumber}, {Type: huma.TypeBoolean}, {Type: "null"}}}
	r.Map()[conditionName] = conditionSchema(r)
	return r
}

// The names by which the specification calls what huma would describe anew at each place.
const (
	modelValueName = "ModelValue"
	conditionName  = "Condition"
)

// schemaName names a page by its items, and the error body as the specification does.
func schemaName(t reflect.Type, hint string) string {
	if t == reflect.TypeFor[errorBody]() {
		return "Error"
	}
	name := huma.DefaultSchemaNamer(t, hint)
	if item, ok := strings.CutPrefix(name, "Page"); ok && item != "" {
		return item + "Page"
	}
	return name
}

type anyValue struct{}

// Schema is that of any JSON value.
func (anyValue) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Description: "any JSON value"}
}

type modelValue struct{}

// Schema is that of a ModelValue (specification 2).
func (modelValue) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Ref: schemaPrefix + modelValueName}
}

type auths struct{}

// Schema is that of a project's auth: an object, or an array of several.
func (auths) Schema(r huma.Registry) *huma.Schema {
	one, most := r.Schema(reflect.TypeFor[countersign.Auth](), true, ""), countersign.MaxAuths
	least := 1
	return &huma.Schema{OneOf: []*huma.Schema{one, {Type: huma.TypeArray, Items: one, MinItems: &least, MaxItems: &most}}}
}

type condition struct{}

// Schema is that of a Condition: one of its two kinds (specification 2.2).
func (condition) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Ref: schemaPrefix + conditionName}
}

// conditionSchema also describes the two kinds, of which a group holds conditions.
func conditionSchema(r huma.Registry) *huma.Schema {
	predicate, group := r.Schema(reflect.TypeFor[countersign.Predicate](), true, ""), r.Schema(reflect.TypeFor[countersign.ConditionGroup](), true, "")
	return &huma.Schema{
		OneOf:         []*huma.Schema{predicate, group},
		Discriminator: &huma.Discriminator{PropertyName: "kind", Mapping: map[string]string{"predicate": predicate.Ref, "group": group.Ref}},
	}
}
