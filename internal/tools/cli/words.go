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

// How values are written in tables and lines.

// moment is a time in UTC, to the second; "" for none.
func moment(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.DateTime)
}

// number is a whole number, "" for 0.
func number[N int | int64](n N) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(int64(n), 10)
}

// milliseconds is how long something took.
func milliseconds(n int64) string {
	if n == 0 {
		return "under 1 ms"
	}
	return fmt.Sprintf("%d ms", n)
}

// sequence is a whole number, 0 too.
func sequence(n int64) string { return strconv.FormatInt(n, 10) }

// joined lists words of any kind.
func joined[S ~string](words []S) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return strings.Join(out, ", ")
}

// joinedBy joins those of the texts that aren't empty.
func joinedBy(between string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), between)
}

// value is a JSON value as it is, "absent" where there is none.
func value(v countersign.Value) string {
	if v.IsZero() {
		return "absent"
	}
	return spelled(v.Raw())
}

// doubted is JSON text for people: a mark follows each text in it that may not be what it
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

// called is a principal with its name, which may be anything: so it stands in quotes
// behind what the principal is.
func called(principal, name string) string {
	if name == "" || principal == "user:"+name {
		return principal
	}
	return principal + " “" + name + "”"
}

// verdict is a verification in words: what was expected and what there was.
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

// decided says who decided something, when and why.
func decided(what, by string, at time.Time, reason string) string {
	if by == "" {
		return what
	}
	return fmt.Sprintf("%s by %s at %s: %s", what, by, moment(at), reason)
}
