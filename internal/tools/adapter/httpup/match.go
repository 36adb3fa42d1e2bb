package httpup

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/countersign/countersign/internal/tools/adapter/file"
)

// operation is one that is offered, its path ready to be matched.
type operation struct {
	file.Operation
	segments []*regexp.Regexp
	places   int
}

var place = regexp.MustCompile(`\{[^{}/]+\}`)

func operationOf(o file.Operation) operation {
	op := operation{Operation: o}
	for _, segment := range strings.Split(o.Path, "/") {
		var b strings.Builder
		end := 0
		for _, at := range place.FindAllStringIndex(segment, -1) {
			b.WriteString(regexp.QuoteMeta(segment[end:at[0]]) + "(.+)")
			end = at[1]
			op.places++
		}
		op.segments = append(op.segments, regexp.MustCompile("^"+b.String()+regexp.QuoteMeta(segment[end:])+"$"))
	}
	return op
}

// match finds the operation of a path, segment by segment as it was sent: of several the one with
// the fewest places.
func (u *upstream) match(method, path string) (found *operation) {
	segments := strings.Split(path, "/")
	for i := range u.operations {
		op := &u.operations[i]
		if op.Method == method && op.fits(segments) && (found == nil || op.places < found.places) {
			found = op
		}
	}
	return found
}

func (o *operation) fits(segments []string) bool {
	if len(segments) != len(o.segments) {
		return false
	}
	for i, s := range segments {
		if !o.segments[i].MatchString(s) || !isSegment(s, o.PathText) {
			return false
		}
	}
	return true
}

// isSegment refuses what an upstream could take for another path: a part that is . or .., and
// slashes, unless the operation takes text with them. A part of such a text is never empty.
func isSegment(raw string, text bool) bool {
	decoded, err := url.PathUnescape(raw)
	if err != nil || strings.ContainsRune(decoded, '\\') || !text && strings.Contains(decoded, "/") {
		return false
	}
	for _, part := range strings.Split(decoded, "/") {
		if part == "." || part == ".." || part == "" && decoded != "" {
			return false
		}
	}
	return !strings.ContainsFunc(decoded, func(r rune) bool { return r < ' ' || r == 0x7f })
}
