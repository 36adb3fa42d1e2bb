// Package words has how commands write values: times, numbers, untrusted text, why a run ended.
package words

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/safetext"
)

// Formats of values in tables and lines.

// Moment formats a time in UTC, to the second; "" for the zero time.
func Moment(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.DateTime)
}

// Number formats an integer, "" for 0.
func Number[N int | int64](n N) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(int64(n), 10)
}

// Milliseconds formats a duration in milliseconds.
func Milliseconds(n int64) string {
	if n == 0 {
		return "under 1 ms"
	}
	return fmt.Sprintf("%d ms", n)
}

// Sequence formats an integer, also 0.
func Sequence(n int64) string { return strconv.FormatInt(n, 10) }

// Joined joins words of any string type.
func Joined[S ~string](words []S) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return strings.Join(out, ", ")
}

// JoinedBy joins the texts that are not empty.
func JoinedBy(between string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), between)
}

// Value formats a JSON value, "absent" if there is none.
func Value(v countersign.Value) string {
	if v.IsZero() {
		return "absent"
	}
	return Spelled(v.Raw())
}

// Doubted is JSON text for people, with a mark after each string that may not be what it
// looks like.
func Doubted(text string) string {
	var b strings.Builder
	for text != "" {
		from := strings.IndexByte(text, '"')
		if from < 0 {
			break
		}
		to := from + 1
		for to < len(text) && text[to] != '"' {
			if text[to] == '\\' {
				to++
			}
			to++
		}
		to = min(to+1, len(text))
		b.WriteString(text[:to])
		if doubt := safetext.Doubt(countersign.RawValue(text[from:to]).Text()); doubt != "" {
			b.WriteString(" [" + doubt + "]")
		}
		text = text[to:]
	}
	return b.String() + text
}

// Called formats a principal with its name. The name is untrusted, so it is quoted and
// follows the principal.
func Called(principal, name string) string {
	if name == "" || principal == "user:"+name {
		return principal
	}
	return principal + " “" + name + "”"
}

// asGiven is a principal's id, as commands take it.
func asGiven(principal string) string { return principal }

// EndedBecause is why a run ended.
func EndedBecause(r *countersign.Run) string { return countersign.CancelledWords(r.Error, asGiven) }

// DecidedBecause is the reason of a decision.
func DecidedBecause(by, reason string) string { return countersign.DecisionWords(by, reason, asGiven) }

// Verdict describes a verification: what was expected and what was found.
func Verdict(v *countersign.Verification) string {
	if v == nil {
		return ""
	}
	if v.Field == "" {
		return v.Status
	}
	if v.Status == countersign.VerificationSimulated {
		return fmt.Sprintf("%s, nothing was judged; LIVE expects %s %s", v.Status, v.Field, Value(v.Expected))
	}
	text := fmt.Sprintf("%s, %s: expected %s, actual %s", v.Status, v.Field, Value(v.Expected), Value(v.Actual))
	if v.StatusCode != 0 {
		text += fmt.Sprintf(", status %d", v.StatusCode)
	}
	return text
}

// Decided describes who decided, when and why.
func Decided(what, by string, at time.Time, reason string) string {
	if by == "" {
		return what
	}
	return fmt.Sprintf("%s by %s at %s: %s", what, by, Moment(at), reason)
}

// Plain is untrusted text on one line: hidden characters are escaped, and text that may not
// be what it looks like is marked.
func Plain(text string) string { return safetext.Value(text) }

// Spelled escapes the hidden characters of JSON text; it is still the same JSON value.
func Spelled(text string) string { return safetext.JSON(text) }

// Yes prints true as "yes" and false as "".
func Yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

// First is the first text that is not empty.
func First(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// OrAll joins names; none stand for all.
func OrAll(names []string) string { return First(strings.Join(names, ", "), "all") }
