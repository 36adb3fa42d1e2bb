package mcp

import (
	"regexp"

	"github.com/countersign/countersign"
)

// maxProperty is how long a property's name may be for every model provider.
const maxProperty = 64

// property is a name that every model provider takes; they refuse a whole request for one other.
var property = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// properties are a capability's inputs by the names that models know them by, both ways.
type properties struct{ toInput, toProperty map[string]string }

// propertiesOf names the inputs. A name that providers take is used as it is; in others each
// other character becomes an underscore, and digits of the name's SHA-256 are appended: so an
// input keeps its name when others change.
func propertiesOf(c *countersign.Capability) properties {
	p := properties{map[string]string{}, map[string]string{}}
	if c == nil {
		return p
	}
	var others []string
	for _, name := range inputsOf(c) {
		if property.MatchString(name) {
			p.toInput[name], p.toProperty[name] = name, name
		} else {
			others = append(others, name)
		}
	}
	for _, w := range words {
		if p.toInput[w.name] == "" {
			p.toInput[w.name] = w.name // taken: no input may be called so
			defer delete(p.toInput, w.name)
		}
	}
	for _, name := range others {
		fit := cut(name, maxProperty, p.toInput)
		p.toInput[fit], p.toProperty[name] = name, fit
	}
	return p
}

// inputsOf are the names of the inputs that the capability knows, sorted.
func inputsOf(c *countersign.Capability) []string {
	names := map[string]bool{}
	for _, m := range placeholder.FindAllStringSubmatch(c.Path, -1) {
		names[m[1]] = true
	}
	for name := range c.InputSchema {
		names[name] = true
	}
	return sortedKeys(names)
}

// property is the name of an input for models.
func (p properties) property(input string) string {
	if fit, is := p.toProperty[input]; is {
		return fit
	}
	return input
}

// inputs are arguments by the names of inputs. A name of before is taken too, but not both.
func (p properties) inputs(arguments map[string]countersign.Value) (map[string]countersign.Value, error) {
	out := make(map[string]countersign.Value, len(arguments))
	for name, value := range arguments {
		input, is := p.toInput[name]
		if !is {
			input = name
		}
		if _, twice := arguments[input]; twice && input != name {
			return nil, countersign.Errorf(countersign.CodeInvalidRequest, "%s: it is the input %q, which is given besides; give it once", name, input)
		}
		out[input] = value
	}
	return out, nil
}
