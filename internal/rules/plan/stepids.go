package plan

import (
	"fmt"
	"regexp"
)

// probeKey is how the keys of probes end: the key of a step with such an id would be that of
// another step's probe.
var probeKey = regexp.MustCompile(`\.probe-[0-9]+$`)

// CheckIDs names the steps, by the ids in their order, whose keys could be those of probes.
func CheckIDs(ids []string) (problems []string) {
	for i, id := range ids {
		if probeKey.MatchString(id) {
			problems = append(problems, fmt.Sprintf("steps[%d].id: it must not end as the keys of probes do, in %s", i, probeKey.FindString(id)))
		}
	}
	return problems
}
