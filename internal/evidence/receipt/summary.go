package receipt

import (
	"strconv"
	"strings"
)

// summary is the first line of the verdict on a valid receipt. It says what was left
// out, for readers who read no further.
func (v Verdict) summary(planHidden bool) string {
	var parts []string
	add := func(n int, one, many string) {
		switch {
		case n == 1:
			parts = append(parts, "1 "+one)
		case n > 1:
			parts = append(parts, strconv.Itoa(n)+" "+many)
		}
	}
	if v.Redacted {
		parts = append(parts, "what it held")
	} else if v.Masked {
		parts = append(parts, "sensitive values")
	}
	if v.Masked && planHidden {
		parts = append(parts, "the plan's digest")
	}
	add(v.Hidden, "request", "requests")
	add(v.Unlogged, "decision's audit record", "decisions' audit records")
	add(v.Unshown, "answer's signature", "answers' signatures")
	add(v.LeftOut, "audit record in all", "audit records in all")
	if len(parts) == 0 {
		return "valid"
	}
	by := "left out: "
	if v.Redacted {
		by = "the run was redacted, which left out: "
	} else if v.Masked {
		by = "masking left out: "
	}
	return "valid for what it shows; " + by + strings.Join(parts, ", ")
}

// epoch begins the summary of a receipt with a cosigned head.
func (v Verdict) epoch() string {
	switch {
	case v.Cosigned == nil:
		return ""
	case v.Cosigned.Epoch == 0:
		return "of the first epoch of its log: "
	}
	return "of epoch " + strconv.FormatInt(v.Cosigned.Epoch, 10) + " of its log: "
}
