package importing

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/rules/importer"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// print shows the report: what is proposed, what is left out, and what a person must review
// before registering it.
func (a *OpenAPI) print(t *terminal.Terminal, p *importer.Proposal) error {
	return a.Print(t, p.Report, func(w io.Writer) {
		a.proposed(w, p)
		a.skipped(w, p)
		a.review(w, p)
	})
}

func (a *OpenAPI) proposed(w io.Writer, p *importer.Proposal) {
	rows := make([][]string, 0, len(p.Proposed))
	for _, line := range p.Proposed {
		effect := "read"
		if line.SideEffect {
			effect = "side effect"
		}
		rows = append(rows, []string{line.Method, line.Path, line.Name, effect, line.Approval, words.Yes(line.Idempotent), fmt.Sprintf("%d, %d required", line.Inputs, line.Required)})
	}
	if len(rows) > 0 {
		terminal.Table(w, []string{"method", "path", "name", "effect", "approval", "idempotent", "inputs"}, rows)
		fmt.Fprintln(w)
	}
	a.groups(w, p)
	if !a.Verbose {
		return
	}
	for _, line := range p.Proposed {
		if len(line.LeftOut) > 0 {
			fmt.Fprintf(w, "left out of %s: %s\n", words.Plain(line.Name), words.Plain(strings.Join(line.LeftOut, ", ")))
		}
		if line.Idempotent {
			fmt.Fprintf(w, "%s is idempotent by %s\n", words.Plain(line.Name), words.Plain(line.Because))
		}
	}
}

func (a *OpenAPI) skipped(w io.Writer, p *importer.Proposal) {
	fmt.Fprintf(w, "%d operations: %d proposed, %d skipped, %d not chosen\n", p.Operations, len(p.Proposed), len(p.Skipped), p.Filtered)
	var rows [][]string
	for _, reason := range sortedReasons(p) {
		rows = append(rows, []string{strconv.Itoa(p.Reasons[reason]), string(reason)})
	}
	if len(rows) > 0 {
		fmt.Fprintln(w)
		terminal.Table(w, []string{"skipped", "reason"}, rows)
	}
	if a.Verbose && len(p.Skipped) > 0 {
		rows = nil
		for _, s := range p.Skipped {
			rows = append(rows, []string{s.Method, s.Path, string(s.Reason), s.Message})
		}
		fmt.Fprintln(w)
		terminal.Table(w, []string{"method", "path", "reason", "why"}, rows)
	}
}

// sortedReasons returns the reasons, the most frequent first.
func sortedReasons(p *importer.Proposal) []importer.Reason {
	return slices.SortedFunc(maps.Keys(p.Reasons), func(a, b importer.Reason) int {
		return cmp.Or(p.Reasons[b]-p.Reasons[a], cmp.Compare(a, b))
	})
}

// review lists what somebody who knows the API must decide.
func (a *OpenAPI) review(w io.Writer, p *importer.Proposal) {
	otherKeys, leftOut, idempotent, probed, expecting, example := 0, 0, 0, 0, 0, ""
	for _, line := range p.Proposed {
		if line.OtherKey != "" {
			otherKeys, example = otherKeys+1, cmp.Or(example, line.OtherKey)
		}
		probed, expecting = probed+count(line.Probe != ""), expecting+count(line.Expects != "")
		leftOut += len(line.LeftOut)
		if line.Idempotent {
			idempotent++
		}
	}
	fmt.Fprintln(w, "\nLook at before registering it:")
	if p.Unasked > 0 {
		fmt.Fprintf(w, "- %d side effects would run WITHOUT approval, by --policy or since the document says that their receiver deduplicates by Idempotency-Key. Set approval to ALWAYS where it doesn't do so durably, or where a person should decide.\n", p.Unasked)
	}
	if idempotent > 0 {
		fmt.Fprintf(w, "- %d side effects are declared idempotent, on the document's word that the receiver deduplicates by Idempotency-Key: 'countersign check-receiver' shows whether it does.\n", idempotent)
	}
	if otherKeys > 0 {
		fmt.Fprintf(w, "- %d operations deduplicate by a key of their own, such as %s, which the runtime doesn't send as its own; they are not declared idempotent. 'countersign adapter' sends the runtime's key so.\n", otherKeys, words.Plain(example))
	}
	if leftOut > 0 {
		fmt.Fprintf(w, "- %d optional parameters and fields are left out, for no input can carry them (-v names them).\n", leftOut)
	}
	if probed > 0 {
		fmt.Fprintf(w, "- %d side effects have a probe: the read that shows, in recovery, what happened. See whether it does.\n", probed)
	}
	if expecting > 0 {
		fmt.Fprintf(w, "- %d operations have an expectation, where the document gives each success one value. See whether it proves that the thing was done.\n", expecting)
	}
	for _, h := range p.Headers {
		fmt.Fprintf(w, "- headers: %s is sent with each call; %d of %d operations require it.\n", words.Plain(h.Name+": "+h.Value), h.RequiredBy, len(p.Proposed))
	}
	for _, auth := range p.Project.Auth.List() {
		fmt.Fprintf(w, "- auth: %s with the server environment variable %s, which must be on SVC_PLATFORM_CREDENTIAL_ENV_ALLOWLIST.\n", auth.Type, auth.CredentialEnv)
	}
	fmt.Fprintf(w, "- baseUrl: %s, which must be on SVC_PLATFORM_CONNECTION_ORIGINS.\n", words.Plain(p.Project.BaseURL))
	for _, line := range p.FillIn {
		fmt.Fprintf(w, "- fill in %s.\n", words.Plain(strings.TrimSuffix(line, ".")))
	}
}

// groups shows what each tag's operations ask for, where there are several.
func (a *OpenAPI) groups(w io.Writer, p *importer.Proposal) {
	if len(p.Groups) < 2 {
		return
	}
	var rows [][]string
	for _, g := range p.Groups {
		rows = append(rows, []string{cmp.Or(g.Tag, "-"), strconv.Itoa(g.Reads), strconv.Itoa(g.SideEffects), cmp.Or(strings.Join(g.Approval, ", "), "-")})
	}
	terminal.Table(w, []string{"tag", "reads", "side effects", "approval of these (--policy)"}, rows)
	fmt.Fprintln(w)
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
