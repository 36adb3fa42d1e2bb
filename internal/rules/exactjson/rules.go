package exactjson

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// rules is what the tags of a field ask of its value, beyond its type. The
// limits that no tag sets are nil.
type rules struct {
	options              []string
	minimum, maximum     *int64
	minLength, maxLength *int64
	minItems, maxItems   *int64
	tooMany              string // what to do about more than maxItems
	pattern              *regexp.Regexp
}

// noRules is for values that are no fields.
var noRules = &rules{}

// unkept are tags that the OpenAPI document would publish and nothing here
// keeps: a promise that must not be made silently.
var unkept = []string{"exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minProperties", "maxProperties", "uniqueItems", "dependentRequired", "required"}

func rulesOf(t reflect.Type, f reflect.StructField) *rules {
	for _, tag := range unkept {
		if _, ok := f.Tag.Lookup(tag); ok {
			panic(fmt.Sprintf("exact: nothing keeps the tag %s of %s.%s", tag, t, f.Name))
		}
	}
	r := &rules{tooMany: f.Tag.Get("tooMany")}
	if enum := f.Tag.Get("enum"); enum != "" {
		r.options = strings.Split(enum, ",")
	}
	if pattern := f.Tag.Get("pattern"); pattern != "" {
		r.pattern = regexp.MustCompile(pattern)
	}
	limits := map[string]**int64{
		"minimum": &r.minimum, "maximum": &r.maximum,
		"minLength": &r.minLength, "maxLength": &r.maxLength,
		"minItems": &r.minItems, "maxItems": &r.maxItems,
	}
	for tag, limit := range limits {
		*limit = limitOf(t, f, tag)
	}
	return r
}

func limitOf(t reflect.Type, f reflect.StructField, tag string) *int64 {
	text := f.Tag.Get(tag)
	if text == "" {
		return nil
	}
	limit, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("exact: the tag %s of %s.%s is no whole number", tag, t, f.Name))
	}
	return &limit
}

// wanted says in words what a value must be, given the words for its type.
func (r *rules) wanted(byType string) string {
	switch {
	case len(r.options) == 1:
		return strconv.Quote(r.options[0])
	case len(r.options) > 1:
		return "one of " + strings.Join(r.options, ", ")
	case r.minimum != nil && r.maximum != nil:
		return fmt.Sprintf("%s from %d to %d", byType, *r.minimum, *r.maximum)
	case r.minimum != nil:
		return fmt.Sprintf("%s of at least %d", byType, *r.minimum)
	case r.maximum != nil:
		return fmt.Sprintf("%s of at most %d", byType, *r.maximum)
	default:
		return byType
	}
}

func (r *rules) checkText(d *decoder, s string) {
	if r.options != nil && !slices.Contains(r.options, s) {
		d.problem("enum", func() string { return "must be " + r.wanted("") })
	}
	if r.minLength != nil || r.maxLength != nil {
		r.checkLength(d, int64(utf8.RuneCountInString(s)))
	}
	if r.pattern != nil && !r.pattern.MatchString(s) {
		d.problem("pattern", func() string { return "must match " + r.pattern.String() })
	}
}

func (r *rules) checkLength(d *decoder, n int64) {
	switch {
	case r.minLength != nil && n < *r.minLength && *r.minLength == 1:
		d.problem("length", func() string { return "must not be empty" })
	case r.minLength != nil && n < *r.minLength:
		d.problem("length", func() string { return fmt.Sprintf("must have at least %d characters, not %d", *r.minLength, n) })
	case r.maxLength != nil && n > *r.maxLength:
		d.problem("length", func() string { return fmt.Sprintf("must have at most %d characters, not %d", *r.maxLength, n) })
	}
}

func (r *rules) checkInt(d *decoder, i int64) {
	if r.minimum != nil && i < *r.minimum || r.maximum != nil && i > *r.maximum {
		d.problem("range", func() string { return fmt.Sprintf("must be %s, not %d", r.wanted("a whole number"), i) })
	}
}

// checkItems reports whether the elements are worth reading: those of an array
// that is too long are not.
func (r *rules) checkItems(d *decoder, n int) bool {
	switch {
	case r.minItems != nil && n == 0 && *r.minItems == 1:
		d.problem("items", func() string { return "must not be empty" })
	case r.minItems != nil && int64(n) < *r.minItems:
		d.problem("items", func() string { return fmt.Sprintf("must have at least %d elements, not %d", *r.minItems, n) })
	case r.maxItems != nil && int64(n) > *r.maxItems:
		d.problem("items", func() string { return r.tooManyItems(n) })
		return false
	}
	return true
}

func (r *rules) tooManyItems(n int) string {
	text := fmt.Sprintf("must have at most %d elements, not %d", *r.maxItems, n)
	if r.tooMany != "" {
		text += "; " + r.tooMany
	}
	return text
}
