package access

import (
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/web"
)

// readingNotes say what each reading is for.
var readingNotes = map[countersign.Reading]string{
	countersign.ReadsMetrics: "For monitoring: GET /metrics.",
	countersign.ReadsAudit:   "For an auditor or a collector: list, export and verify.",
	countersign.ReadsRealm:   "The realm’s audit log, and the figures of the process and the installation.",
}

// readingChoices are what the visitor may let a token read.
func readingChoices(v *web.Request, on []string) (out []form.Choice) {
	for _, r := range countersign.Readings {
		if r == countersign.ReadsRealm && access.RealmToo(v.Actor.Principal) != nil {
			continue
		}
		out = append(out, form.Choice{Value: string(r), Word: r.Words(), Note: readingNotes[r], Chosen: slices.Contains(on, string(r))})
	}
	return out
}

func makeReadingToken(v *web.Request) (string, error) {
	on := v.R.PostForm["reads"]
	d := tokenData{Reading: true, Readings: readingChoices(v, on), Name: v.Form("name"), Days: v.Form("days")}
	days := d.named()
	var reads []countersign.Reading
	for _, word := range on {
		reads = append(reads, countersign.Reading(word))
	}
	if !slices.Contains(reads, countersign.ReadsMetrics) && !slices.Contains(reads, countersign.ReadsAudit) {
		d.ReadsErr = "Choose the figures, the audit log or both."
	}
	if d.ReadsErr != "" || d.DaysErr != "" || d.NameErr != "" {
		return "", web.Incomplete(tokenForm(v, d))
	}
	return createToken(v, d, countersign.TokenWrite{Name: d.Name, Reads: reads, ExpiresInDays: days, TenantID: tenantAsked(v)})
}
