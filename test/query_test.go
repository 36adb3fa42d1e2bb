package test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/test/harness"
)

var lists = []string{"/models", "/projects", "/agents", "/teams", "/plans", "/runs", "/approvals", "/tenants", "/tokens", "/audit"}

func TestListsRefuseLimitsAndOffsetsOutOfRange(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	for _, list := range lists {
		for _, query := range []string{
			"limit=0", "limit=201", "limit=-1", "limit=", "limit", "limit=abc", "limit=1.0", "limit=01", "limit=%2B1", "limit=1e1", "limit=1&limit=1", "limit=99999999999999999999",
			"offset=-1", "offset=", "offset=x", "offset=1.5", "offset=0&offset=0", "offset=99999999999999999999",
		} {
			name, _, _ := strings.Cut(query, "=")
			s.Admin.Get(list+"?"+query).Refused(t, "invalid_request", name)
		}
		for _, query := range []string{"limit=1", "limit=200", "offset=0", "limit=200&offset=1000000"} {
			s.Admin.Get(list + "?" + query).OK(t)
		}
	}
}

func TestUnknownQueryParametersAndFilterValuesAreRefused(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	for _, path := range []string{
		"/models?status=READY", "/models?Limit=1", "/projects?enabled=true", "/plans?status=ready", "/plans?status=", "/plans?status=DONE", "/plans?runId=x",
		"/plans?modelId=", "/runs?status=DONE", "/runs?status=READY&status=READY", "/runs?planId=", "/runs?modelId=x", "/approvals?status=READY", "/approvals?runId=",
		"/approvals?planId=x", "/tenants?name=x", "/tokens?role=ADMIN", "/audit?since=yesterday", "/audit?since=", "/audit?subject=", "/audit?outcome=done",
		"/audit/verify?seq=1", "/models/x?verbose=1", "/metrics?x=1", "/integrations/contract?x=1", "/plans/x/drift?x=1",
		"/plans?modelId=..", "/runs?planId=a/b", "/runs?agentId=-a", "/approvals?runId=a%20b", "/agents?projectId=" + strings.Repeat("a", 129),
		"/runs?%zz=1", "/runs?status=%zz", "/runs?a;b=1",
	} {
		s.Admin.Get(path).Refused(t, "invalid_request")
	}
	all := s.Admin.Post("/tokens", doc{"name": "all", "roles": []string{"ADMIN", "OPERATOR", "APPROVER"}}).OK(t)
	for path, body := range map[string]doc{"/plans?x=1": {}, "/runs?x=1": {}, "/tokens?x=1": {}, "/projects/default-a/enable?x=1": {}, "/approvals/a/decision?x=1": {}} {
		s.As(all.At("token").Text()).Post(path, body, key()).Refused(t, "invalid_request", `"x"`)
	}
}

func TestPagesGoThroughAListInAStableOrder(t *testing.T) {
	t.Parallel()
	s := tenant(t)
	operator := s.As(s.Admin.Post("/tokens", doc{"name": "op", "roles": []string{"OPERATOR"}}).OK(t).At("token").Text())
	for _, id := range []string{"d", "a", "c", "B", "e"} {
		operator.Put("/models/"+id, doc{"document": harness.Model(id)}).OK(t)
	}
	whole := operator.Get("/models").OK(t).Is(t, "total", 5).Is(t, "nextOffset", nil)
	if diff := cmp.Diff([]string{"B", "a", "c", "d", "e"}, ids(whole)); diff != "" {
		t.Errorf("the order (-want +got):\n%s", diff)
	}
	var paged []string
	for offset, next := range map[int]any{0: 2, 2: 4, 4: nil} {
		page := operator.Get(fmt.Sprintf("/models?limit=2&offset=%d", offset)).OK(t).Is(t, "total", 5).Is(t, "nextOffset", next)
		paged = append(paged, ids(page)...)
	}
	if len(paged) != 5 {
		t.Errorf("the pages hold %v", paged)
	}
	operator.Get("/models?offset=5").OK(t).Is(t, "items", []any{}).Is(t, "total", 5).Is(t, "nextOffset", nil)
	operator.Get("/models?limit=5").OK(t).Is(t, "nextOffset", nil)
	operator.Get("/models?limit=4").OK(t).Is(t, "nextOffset", 4)
	operator.Get("/runs").OK(t).Is(t, "items", []any{}).Is(t, "total", 0).Is(t, "nextOffset", nil)
}

func TestOtherListsAreSortedByID(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	for i := range 12 {
		s.Admin.Post("/tokens", doc{"name": "n", "roles": []string{"VIEWER"}}).OK(t)
		s.Admin.Put(fmt.Sprintf("/tenants/t%c", 'z'-rune(i)), doc{"name": "n"}).OK(t)
		s.Admin.Put(fmt.Sprintf("/projects/default-%c", 'z'-rune(i)), doc{"name": "e", "adapter": "LOCAL_ECHO", "capabilities": []any{}}).OK(t)
	}
	for _, list := range []string{"/tokens", "/tenants", "/projects"} {
		if got := ids(s.Admin.Get(list).OK(t)); !slices.IsSorted(got) || len(got) < 12 {
			t.Errorf("%s: %v", list, got)
		}
	}
}

func ids(page json) (out []string) {
	for _, item := range page.At("items").Items() {
		out = append(out, item.At("id").Text())
	}
	return out
}

func TestPlansRunsApprovalsAndAuditComeNewestFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var plans, runs, approvals []string
	for range 3 {
		plan := w.ready(t, planOf(step("r", "refund", doc{"orderId": "o"})))
		run := w.start(t, plan)
		approval := w.approval(t, run).At("id").Text()
		plans, runs, approvals = append([]string{plan}, plans...), append([]string{run}, runs...), append([]string{approval}, approvals...)
	}
	for path, want := range map[string][]string{"/plans": plans, "/runs": runs, "/approvals": approvals} {
		if diff := cmp.Diff(want, ids(w.viewer.Get(path).OK(t))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	records := w.Admin.Get("/audit").OK(t).At("items").Items()
	for i := 1; i < len(records); i++ {
		if records[i-1].At("seq").Int() != records[i].At("seq").Int()+1 {
			t.Errorf("record %d stands before %d", records[i-1].At("seq").Int(), records[i].At("seq").Int())
		}
	}
}

func TestFiltersNarrowAListAndItsTotal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.operator.Put("/models/other", doc{"document": harness.Model("other")}).OK(t)
	ready := w.ready(t, planOf(step("n", "note", nil)))
	invalid := w.operator.Post("/plans", planOf()).OK(t).Is(t, "status", "INVALID").At("id").Text()
	other := w.ready(t, harness.With(planOf(step("r", "refund", doc{"orderId": "o"})), "modelId", "other"))
	done, waiting := w.start(t, ready), w.start(t, other)
	w.reaches(t, done, "COMPLETED")
	approval := w.approval(t, waiting).At("id").Text()
	for path, want := range map[string][]string{
		"/plans?status=INVALID": {invalid}, "/plans?modelId=other": {other}, "/plans?status=READY&modelId=refund": {ready}, "/plans?modelId=none": nil,
		"/runs?status=COMPLETED": {done}, "/runs?planId=" + other: {waiting}, "/runs?status=COMPLETED&planId=" + other: nil,
		"/approvals?status=PENDING": {approval}, "/approvals?status=REJECTED": nil, "/approvals?runId=" + waiting: {approval}, "/approvals?runId=" + done: nil,
	} {
		page := w.viewer.Get(path).OK(t).Is(t, "total", len(want))
		if diff := cmp.Diff(want, ids(page)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

func TestListsLeaveOutSnapshotsAndWhatWasSentAndReturned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.run(t, step("n", "note", doc{"text": "hello"}))
	w.reaches(t, id, "COMPLETED")
	listed := w.viewer.Get("/runs").OK(t)
	listed.Is(t, "items.0.planSnapshot", harness.Absent).Is(t, "items.0.steps.0.input", doc{"text": "hello"})
	for _, field := range []string{"request", "response", "output"} {
		listed.Is(t, "items.0.steps.0."+field, harness.Absent)
	}
	w.viewer.Get("/plans").OK(t).Is(t, "items.0.modelSnapshot", harness.Absent).Is(t, "items.0.projectSnapshots", harness.Absent).Is(t, "items.0.steps.0.id", "n")
	whole := w.viewer.Get("/runs/" + id).OK(t)
	whole.Is(t, "planSnapshot.modelSnapshot.id", "refund").Is(t, "planSnapshot.projectSnapshots.0.id", shop).Is(t, "steps.0.output", doc{"ok": true})
	plan := w.viewer.Get("/plans/" + whole.At("planId").Text()).OK(t)
	plan.Is(t, "modelSnapshot.revision", 1).Is(t, "projectSnapshots.0.revision", 1)
}

func TestListsOmitValuesOver16KiBAndSayHowLongTheyAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	long := harness.With(harness.Model("long"), "description", strings.Repeat("x", 17<<10))
	w.operator.Put("/models/long", doc{"document": long}).OK(t)
	whole := w.operator.Get("/models/long")
	_, text, _ := strings.Cut(whole.Raw, `"document":`)
	text = strings.TrimSuffix(text, "}")
	sum := sha256.Sum256([]byte(text))
	omitted := doc{"$omitted": doc{"bytes": len(text), "sha256": hex.EncodeToString(sum[:])}}
	page := w.operator.Get("/models").OK(t)
	page.Is(t, "items.0.id", "long").Is(t, "items.0.document", omitted).Is(t, "items.0.name", "Refund").Is(t, "items.1.document.id", "refund")

	big := step("big", "note", doc{"text": strings.Repeat("y", 17<<10)})
	plan := w.ready(t, planOf(big, step("small", "note", doc{"text": "z"})))
	listed := w.operator.Get("/plans").OK(t)
	if bytes := listed.At("items.0.steps.0.input.$omitted.bytes").Int(); bytes < 17<<10 {
		t.Errorf("%d bytes are said to be omitted", bytes)
	}
	listed.Is(t, "items.0.steps.0.id", "big").Is(t, "items.0.steps.1.input", doc{"text": "z"})
	w.operator.Get("/plans/"+plan).OK(t).Is(t, "steps.0.input.text", strings.Repeat("y", 17<<10))
}

func TestListsOmitLongValuesWhereverTheyStand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	long := strings.Repeat("x", 17<<10)
	w.tenantAdmin.Put("/projects/default-long", harness.With(harness.Project(w.shop.Origin()), "capabilities.0.description", long)).OK(t)
	w.viewer.Get("/projects").OK(t).Is(t, "items.0.capabilities.0.description.$omitted.bytes", len(long)+2).Is(t, "items.0.capabilities.1.name", "search")
	plan := w.ready(t, harness.With(planOf(step("r", "refund", doc{"orderId": long})), "name", long))
	w.viewer.Get("/plans").OK(t).Is(t, "items.0.name.$omitted.bytes", len(long)+2)
	run := w.start(t, plan)
	approval := w.approval(t, run).At("id").Text()
	w.viewer.Get("/approvals").OK(t).Is(t, "items.0.inputSnapshot.$omitted.bytes", len(long)+len(`{"orderId":""}`))
	w.viewer.Get("/approvals/"+approval).OK(t).Is(t, "inputSnapshot.orderId", long)
	w.operator.Post("/runs/"+run+"/cancel", doc{"reason": long}).OK(t)
	w.viewer.Get("/runs").OK(t)
	w.Admin.Get("/audit").OK(t)
}

func TestStrangersAreCountedAndNotRecorded(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	before := s.Admin.Figures(t).At("countersign_unauthenticated_total").Int()
	records := s.Admin.Get("/audit").OK(t).At("total").Int()
	s.As("").Get("/models").Refused(t, "unauthenticated")
	s.As("garbage").Get("/models").Refused(t, "unauthenticated")
	if after := s.Admin.Figures(t).At("countersign_unauthenticated_total").Int(); after != before+2 {
		t.Errorf("%d were counted before and %d after two more", before, after)
	}
	s.Admin.Get("/audit").OK(t).Is(t, "total", records)
}

func TestWhatIsPublicIgnoresItsQuery(t *testing.T) {
	t.Parallel()
	s := tenant(t)
	for _, path := range []string{"/health", "/openapi.json"} {
		plain := s.As("").Get(path)
		for _, query := range []string{"?x=1", "?x", "?x=1&x=2", "?%zz", "?a;b", "?limit=0", "?" + strings.Repeat("y", 2000)} {
			if asked := s.As("").Get(path + query); asked.Status != 200 || path != "/health" && asked.Raw != plain.Raw {
				t.Errorf("%s%s is answered otherwise than %s", path, query, path)
			}
		}
	}
}
