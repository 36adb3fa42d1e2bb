package conformance

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
)

// buildOther builds the second request under a used key: the given one, else the first
// request with one scalar of its body changed.
func (c *Check) buildOther() error {
	input, given := c.cfg.Other, c.cfg.Other != nil
	if !given {
		derived, ok := otherInput(c.cfg.Inputs[0], c.requests[0].Body)
		if !ok {
			c.otherless = "the body has no string, number or boolean to change; give another input"
			return nil
		}
		input = derived
	}
	r, err := request.Build(nil, &c.cfg.Project, c.capability, input)
	switch {
	case err != nil:
		return fmt.Errorf("the other input: %w", err)
	case r.URL == c.requests[0].URL && r.Body.Equal(c.requests[0].Body):
		return errors.New("the other input makes the same request as the first")
	}
	c.other = r
	return nil
}

// otherInput changes one input that goes into the body: a number if there is one, since
// receivers validate numbers least; else a string, else a boolean.
func otherInput(input map[string]countersign.Value, body countersign.Value) (map[string]countersign.Value, bool) {
	sent, ok := body.Object()
	if !ok {
		return nil, false
	}
	names := slices.Sorted(maps.Keys(sent))
	for _, kind := range []countersign.Kind{countersign.KindNumber, countersign.KindString, countersign.KindBoolean} {
		for _, name := range names {
			if v := input[name]; v.Kind() == kind {
				out := maps.Clone(input)
				out[name] = otherScalar(v)
				return out, true
			}
		}
	}
	return nil, false
}

func otherScalar(v countersign.Value) countersign.Value {
	switch v.Kind() {
	case countersign.KindNumber:
		return countersign.RawValue(otherNumber(v.Raw()))
	case countersign.KindString:
		return countersign.String(v.Text() + " (other)")
	default:
		return countersign.Bool(v.Raw() != "true")
	}
}

// otherNumber changes the last digit before the exponent, so that the number keeps its form
// and about its size.
func otherNumber(text string) string {
	end := len(text)
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		end = i
	}
	digit := text[end-1] + 1
	if text[end-1] == '9' {
		digit = '8'
	}
	return text[:end-1] + string(digit) + text[end:]
}
