package httpapi

import (
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

const schemaPrefix = "#/components/schemas/"

// listItems replaces a page schema's items by their list form.
func listItems(registry huma.Registry, page *huma.Schema) {
	schema := registry.Map()[strings.TrimPrefix(page.Ref, schemaPrefix)]
	if schema == nil || schema.Properties["items"] == nil {
		return // not a page
	}
	items := schema.Properties["items"]
	record := strings.TrimPrefix(items.Items.Ref, schemaPrefix)
	if !strings.HasPrefix(record, listedPrefix) {
		items.Items = listForm(registry, record)
	}
}

const listedPrefix = "Listed"

// listForm is the schema of a record as bounded and control.ListedRun write it: without
// snapshots, and with Omitted as an alternative for values that may be long.
func listForm(registry huma.Registry, record string) *huma.Schema {
	schemas := registry.Map()
	name := listedPrefix + record
	if schemas[name] == nil {
		form := *schemas[record]
		form.Properties = map[string]*huma.Schema{}
		schemas[name] = &form
		for field, s := range schemas[record].Properties {
			if !leftOut[record+"."+field] {
				form.Properties[field] = listField(registry, field, s)
			}
		}
	}
	return &huma.Schema{Ref: schemaPrefix + name}
}

var leftOut = map[string]bool{
	"Plan.modelSnapshot": true, "Plan.projectSnapshots": true, "Plan.models": true, "Run.planSnapshot": true,
	"StepRun.request": true, "StepRun.response": true, "StepRun.output": true,
}

func listField(registry huma.Registry, field string, s *huma.Schema) *huma.Schema {
	switch {
	case structural[field] && s.Items != nil && s.Items.Ref != "":
		list := *s
		list.Items = listForm(registry, strings.TrimPrefix(s.Items.Ref, schemaPrefix))
		return &list
	case mayBeLong(field, s):
		return &huma.Schema{Description: s.Description, AnyOf: []*huma.Schema{s, omittedSchema(registry)}}
	default:
		return s
	}
}

// mayBeLong reports a value whose size nothing else bounds. A schema for any value
// already allows Omitted.
func mayBeLong(field string, s *huma.Schema) bool {
	switch {
	case s.Ref != "", len(s.OneOf) > 0, s.Type == huma.TypeArray:
		return true
	case s.Type == huma.TypeString:
		return s.Enum == nil && s.Format == "" && !isIdentifier(field)
	default:
		return false
	}
}

// isIdentifier reports a text field of bounded length, by its name: IDs, principals,
// keys, digests.
func isIdentifier(field string) bool {
	endings := []string{"id", "Id", "By", "Key", "igest", "ash", "Email", "Env", "Version", "actor", "action"}
	return slices.ContainsFunc(endings, func(end string) bool { return strings.HasSuffix(field, end) })
}

func omittedSchema(registry huma.Registry) *huma.Schema {
	const name = "Omitted"
	if registry.Map()[name] == nil {
		registry.Map()[name] = &huma.Schema{
			Type: huma.TypeObject, Description: "stands in a list for a value of more than 16 KiB; a read by id has it",
			AdditionalProperties: false, Required: []string{"$omitted"},
			Properties: map[string]*huma.Schema{"$omitted": {
				Type: huma.TypeObject, AdditionalProperties: false, Required: []string{"bytes", "sha256"},
				Properties: map[string]*huma.Schema{"bytes": {Type: huma.TypeInteger}, "sha256": {Type: huma.TypeString}},
			}},
		}
	}
	return &huma.Schema{Ref: schemaPrefix + name}
}
