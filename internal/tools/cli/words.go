package cli

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

// moment formats a time in UTC, to the second; "" for the zero time.
func moment(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.DateTime)
}

// number formats an integer, "" for 0.
func number[N int | int64](n N) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(int64(n), 10)
}

// milliseconds formats a duration in milliseconds.
func milliseconds(n int64) string {
	if n == 0 {
		return "under 1 ms"
	}
	return fmt.Sprintf("%d ms", n)
}

// sequence formats an integer, also 0.
func sequence(n int64) string { return strconv.FormatInt(n, 10) }

// joined joins words of any string type.
func joined[S ~string](words []S) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return strings.Join(out, ", ")
}

// joinedBy joins the texts that are not empty.
func joinedBy(between string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), between)
}

// value formats a JSON value, "absent" if there is none.
func value(v countersign.Value) string {
	if v.IsZero() {
		return "absent"
	}
	return spelled(v.Raw())
}

// doubted is JSON text for people, with a mark after each string that may not be what it
// looks like.
func doubted(text string) string {
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

// called formats a principal with its name. The name is untrusted, so it is quoted and
// follows the principal.
func called(principal, name string) string {
	if name == "" || principal == "user:"+name {
		return principal
	}
	return principal + " “" + name + "”"
}

// asGiven is a principal's id, as commands take it.
func asGiven(principal string) string { return principal }

// endedBecause is why a run ended.
func endedBecause(r *countersign.Run) string { return countersign.CancelledWords(r.Error, asGiven) }

// decidedBecause is the reason of a decision.
func decidedBecause(by, reason string) string { return countersign.DecisionWords(by, reason, asGiven) }

// verdict describes a verification: what was expected and what was found.
func verdict(v *countersign.Verification) string {
	if v == nil {
		return ""
	}
	if v.Field == "" {
		return v.Status
	}
	if v.Status == countersign.VerificationSimulated {
		return fmt.Sprintf("%s, nothing was judged; LIVE expects %s %s", v.Status, v.Field, value(v.Expected))
	}
	text := fmt.Sprintf("%s, %s: expected %s, actual %s", v.Status, v.Field, value(v.Expected), value(v.Actual))
	if v.StatusCode != 0 {
		text += fmt.Sprintf(", status %d", v.StatusCode)
	}
	return text
}

// decided describes who decided, when and why.
func decided(what, by string, at time.Time, reason string) string {
	if by == "" {
		return what
	}
	return fmt.Sprintf("%s by %s at %s: %s", what, by, moment(at), reason)
}

// Plain is untrusted text on one line: hidden characters are escaped, and text that may not
// be what it looks like is marked.
func Plain(text string) string { return safetext.Value(text) }

// spelled escapes the hidden characters of JSON text; it is still the same JSON value.
func spelled(text string) string { return safetext.JSON(text) }

// yes prints true as "yes" and false as "".
func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

// first is the first text that is not empty.
func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

func orAll(names []string) string { return first(strings.Join(names, ", "), "all") }
