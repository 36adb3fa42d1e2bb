package text

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
)

// ExactTime is the format of a full time.
const ExactTime = "2006-01-02 15:04:05.000 UTC"

// TimeTag is a time with the exact one on hover.
func TimeTag(t time.Time, text string) template.HTML { return TimeTagAs("", t, text) }

// TimeTagAs is a time that a script keeps: "ago", "since" and "until" tick, "at" is put into the
// reader's zone.
func TimeTagAs(kind string, t time.Time, text string) template.HTML {
	t = t.UTC()
	if kind != "" {
		kind = ` data-t="` + kind + `"`
	}
	return template.HTML(`<time datetime="` + t.Format(time.RFC3339Nano) + `" title="` + t.Format(ExactTime) + `"` + kind + `>` + template.HTMLEscapeString(text) + `</time>`) //nolint:gosec // the text is escaped, the rest are figures
}

// exactly is a full time, for evidence.
func exactly(t time.Time) template.HTML { return TimeTag(t, t.UTC().Format(ExactTime)) }

// Span is a duration in at most two units.
func Span(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + " min"
	case d < 48*time.Hour:
		h, m := int(d/time.Hour), int(d%time.Hour/time.Minute)
		if m == 0 {
			return strconv.Itoa(h) + " h"
		}
		return fmt.Sprintf("%d h %d min", h, m)
	}
	return strconv.Itoa(int(d/(24*time.Hour))) + " days"
}

// clock is a time of day with milliseconds.
func clock(t time.Time) template.HTML { return TimeTag(t, t.UTC().Format("15:04:05.000")) }

// Took is a measured duration.
func Took(ms int64) string {
	switch {
	case ms < 1000:
		return strconv.FormatInt(ms, 10) + " ms"
	case ms < 60_000:
		return strconv.FormatFloat(float64(ms)/1000, 'f', 2, 64) + " s"
	}
	return Span(time.Duration(ms) * time.Millisecond)
}

func size(n int64) string {
	switch {
	case n < 1024:
		return strconv.FormatInt(n, 10) + " B"
	case n < 1<<20:
		return strconv.FormatFloat(float64(n)/1024, 'f', 1, 64) + " KiB"
	}
	return strconv.FormatFloat(float64(n)/(1<<20), 'f', 1, 64) + " MiB"
}

// Plural is a number with its noun.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// unbroken replaces the spaces of a figure by non-breaking ones, as markup: [shown]
// would escape them in text.
func unbroken(figure string) template.HTML {
	return unbrokenSpaces(figure, -1)
}

// unbrokenSpaces replaces the first n spaces by non-breaking ones; all if n < 0.
func unbrokenSpaces(text string, n int) template.HTML {
	return template.HTML(strings.Replace(template.HTMLEscapeString(text), " ", "\u00a0", n)) //nolint:gosec // escaped
}

// TimeoutWord writes the call's timeout; whole seconds have no fraction.
func TimeoutWord(d time.Duration) string {
	if d%time.Second == 0 {
		return Span(d)
	}
	return Took(d.Milliseconds())
}

// atMost is a capability's timeout.
func atMost(c countersign.Capability) string { return TimeoutWord(c.Timeout()) }

// Grouped is a number as it is spelt, in groups of three digits that a style sets apart: what is
// copied has the digits alone.
func Grouped(number string) template.HTML {
	whole, rest, sign := number, "", ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	if i := strings.IndexAny(whole, ".eE"); i >= 0 {
		whole, rest = whole[:i], whole[i:]
	}
	first := len(whole) % 3
	groups := []string{}
	if first > 0 {
		groups = append(groups, whole[:first])
	}
	for i := first; i < len(whole); i += 3 {
		groups = append(groups, whole[i:i+3])
	}
	for i := range groups {
		groups[i] = template.HTMLEscapeString(groups[i])
		if i > 0 {
			groups[i] = `<span class="dig">` + groups[i] + `</span>`
		}
	}
	return template.HTML(sign + strings.Join(groups, "") + template.HTMLEscapeString(rest)) //nolint:gosec // every part is escaped
}
