package docs_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/docs"
	"github.com/countersign/countersign/internal/evidence/signature"
)

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := fs.ReadFile(docs.Files, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// declared are the constants of a file of the root package, by name.
func declared(t *testing.T, file string) map[string]ast.Expr {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), "../"+file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]ast.Expr{}
	for _, d := range parsed.Decls {
		group, isGroup := d.(*ast.GenDecl)
		if !isGroup || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			v := spec.(*ast.ValueSpec)
			for i, name := range v.Names {
				if name.IsExported() {
					all[name.Name] = v.Values[i]
				}
			}
		}
	}
	return all
}

// Every code stands below the status that it travels with, and below no other.
func TestThePageOfErrorsHasEveryCode(t *testing.T) {
	sections := map[string]string{}
	for _, part := range strings.Split(page(t, "reference/errors.md"), "\n## ")[1:] {
		title, text, _ := strings.Cut(part, "\n")
		sections[title] = text
	}
	statuses := countersign.Statuses()
	for name, value := range declared(t, "errors.go") {
		text, err := strconv.Unquote(value.(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		section := "Codes of steps and runs"
		if status := statuses[countersign.Code(text)]; status != 0 {
			section = strconv.Itoa(status)
		}
		if !strings.Contains(sections[section], "| `"+text+"` | ") {
			t.Errorf("%s (%s) is not in the section %s", text, name, section)
		}
	}
	for title, text := range sections {
		for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` ").FindAllStringSubmatch(text, -1) {
			if status := statuses[countersign.Code(m[1])]; status == 0 && title != "Codes of steps and runs" || status != 0 && title != "Codes of steps and runs" && title != strconv.Itoa(status) {
				t.Errorf("%s is in the section %s", m[1], title)
			}
		}
	}
}

// limits are the constants as they are compiled.
var limits = map[string]any{
	"MaxPageLimit": countersign.MaxPageLimit, "DefaultPageLimit": countersign.DefaultPageLimit, "MaxPlanSteps": countersign.MaxPlanSteps,
	"MinCapabilityTimeoutMs": countersign.MinCapabilityTimeoutMs, "MaxCapabilityTimeoutMs": countersign.MaxCapabilityTimeoutMs,
	"DefaultCapabilityTimeoutMs": countersign.DefaultCapabilityTimeoutMs, "MaxBodyBytes": countersign.MaxBodyBytes, "MaxOpenBytes": countersign.MaxOpenBytes, "MaxJSONDepth": countersign.MaxJSONDepth,
	"MaxListedValue": countersign.MaxListedValue, "MaxProblems": countersign.MaxProblems, "MaxEventStreams": countersign.MaxEventStreams, "MaxTokenDays": countersign.MaxTokenDays, "LinkMinutes": countersign.LinkMinutes, "MaxLinkMinutes": countersign.MaxLinkMinutes, "MaxPasskeys": countersign.MaxPasskeys, "MaxActiveRuns": countersign.MaxActiveRuns,
	"MaxInstances": countersign.MaxInstances, "MaxProbes": countersign.MaxProbes, "MaxLeftCalls": countersign.MaxLeftCalls, "MaxWebhooks": countersign.MaxWebhooks, "MaxModelBytes": countersign.MaxModelBytes, "MaxPendingApprovals": countersign.MaxPendingApprovals, "InstanceLife": countersign.InstanceLife,
	"MaxOutputs": countersign.MaxOutputs, "MaxApprovalRules": countersign.MaxApprovalRules, "MaxRuleGroups": countersign.MaxRuleGroups, "MaxApprovals": countersign.MaxApprovals, "MaxGroups": countersign.MaxGroups, "MaxGroupMembers": countersign.MaxGroupMembers, "MaxManifest": countersign.MaxManifest, "MaxPlanDocuments": countersign.MaxPlanDocuments, "MaxScope": countersign.MaxScope, "MaxBudgets": countersign.MaxBudgets,
	"SignatureWindow": countersign.SignatureWindow, "HeartbeatWindow": countersign.HeartbeatWindow, "HeartbeatCadence": countersign.HeartbeatCadence,
	"RepeatedCall": countersign.RepeatedCall, "MaxAskingRuns": countersign.MaxAskingRuns, "MaxCallWait": countersign.MaxCallWait, "MaxCallWaits": countersign.MaxCallWaits, "MaxCallWaitsOfAll": countersign.MaxCallWaitsOfAll, "MaxPattern": countersign.MaxPattern, "MaxPatternText": countersign.MaxPatternText, "MaxNumberLength": countersign.MaxNumberLength,
	"ApprovalTTL": countersign.ApprovalTTL, "HealthTimeout": countersign.HealthTimeout,
}

func TestThePageOfLimitsHasEveryLimit(t *testing.T) {
	text := page(t, "reference/limits.md")
	for name := range declared(t, "limits.go") {
		value, known := limits[name]
		if !known {
			t.Errorf("%s is a new limit: say it here and on the page", name)
			continue
		}
		word := fmt.Sprint(value)
		if d, isTime := value.(time.Duration); isTime {
			word = d.String()
		}
		if row := regexp.MustCompile(`(?m)^\| [^|]+ \| ` + regexp.QuoteMeta(word) + `\b[^|]* \| ` + "`" + name + "` \\|$"); !row.MatchString(text) {
			t.Errorf("the page has no row for %s with %s", name, word)
		}
	}
}

func TestThePageOfHeadersHasTheVector(t *testing.T) {
	text, v := page(t, "reference/headers.md"), signature.Vector
	for what, value := range map[string]string{
		"secret": v.Secret, "method": v.Parts.Method, "path and query": v.Parts.PathAndQuery, "timestamp": v.Parts.Timestamp, "idempotency key": v.Parts.IdempotencyKey,
		"run id": v.Parts.RunID, "step id": v.Parts.StepID, "body": v.Body, "SHA-256 of the body": v.Parts.BodySHA256, "signature": v.Signature,
	} {
		if !strings.Contains(text, "| "+what+" | `"+value+"` |") {
			t.Errorf("the page has no %s %s", what, value)
		}
	}
	for _, header := range []string{signature.HeaderIdempotencyKey, signature.HeaderRunID, signature.HeaderStepID, signature.HeaderTimestamp, signature.HeaderSignature} {
		if !strings.Contains(text, "| `"+header+"` | ") {
			t.Errorf("the page has no header %s", header)
		}
	}
}

// The diagram of the concepts shows the same moves as the one that is made from
// the program.
func TestTheConceptsShowTheMovesOfTheStateMachine(t *testing.T) {
	moves := func(name string) map[string]bool {
		all := map[string]bool{}
		for _, m := range regexp.MustCompile(`(?m)^ +(\S+ --> [^\s:]+)`).FindAllStringSubmatch(page(t, name), -1) {
			all[m[1]] = true
		}
		return all
	}
	want, have := moves("state-machine.md"), moves("concepts.md")
	for move := range want {
		if !have[move] {
			t.Errorf("the concepts lack %s", move)
		}
	}
	for move := range have {
		if !want[move] {
			t.Errorf("the concepts have %s, which the program doesn't do", move)
		}
	}
}
