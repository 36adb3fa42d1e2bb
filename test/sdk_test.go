package test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/test/harness"
)

// route records the SDK's requests on their way to the server.
type route struct {
	mu    sync.Mutex
	asked []string
}

func (r *route) RoundTrip(q *http.Request) (*http.Response, error) {
	r.mu.Lock()
	r.asked = append(r.asked, q.Method+" "+strings.TrimPrefix(q.URL.Path, harness.Prefix))
	r.mu.Unlock()
	return http.DefaultTransport.RoundTrip(q)
}

// TestEveryOperationHasAnSDKMethod calls each method of the client with meaningless arguments, and records which operation it requested.
func TestEveryOperationHasAnSDKMethod(t *testing.T) {
	t.Parallel()
	s := tenant(t)
	seen := &route{}
	sdk := s.Admin.SDK(func(c *client.Config) { c.HTTP = &http.Client{Transport: seen} })
	own := []string{"Send", "KeepAlive"} // not one operation, or endless
	for i := range reflect.TypeOf(sdk).NumMethod() {
		if m := reflect.TypeOf(sdk).Method(i); !slices.Contains(own, m.Name) {
			callWithNothing(reflect.ValueOf(sdk).Method(i))
		}
	}
	var have []string
	for _, asked := range seen.asked {
		method, path, _ := strings.Cut(asked, " ")
		o := s.Document().Find(method, path)
		if o == nil {
			t.Errorf("the SDK asks for %s, which the document does not have", asked)
			continue
		}
		have = append(have, o.ID)
	}
	for _, o := range s.Document().Operations {
		if !slices.Contains(have, o.ID) {
			t.Errorf("no method of the SDK asks for %s", o.ID)
		}
	}
}

// callWithNothing calls a method with a context, "x" for each string and zero values; it iterates over an iterator.
func callWithNothing(method reflect.Value) {
	args := []reflect.Value{}
	for i := range method.Type().NumIn() {
		in := method.Type().In(i)
		switch {
		case method.Type().IsVariadic() && i == method.Type().NumIn()-1:
		case i == 0:
			args = append(args, reflect.ValueOf(context.Background()))
		case in.Kind() == reflect.String:
			args = append(args, reflect.ValueOf("x"))
		case in == reflect.TypeFor[io.Writer]():
			args = append(args, reflect.ValueOf(io.Discard))
		default:
			args = append(args, reflect.Zero(in))
		}
	}
	out := method.Call(args)
	if out[0].Kind() == reflect.Func { // an iterator
		for range out[0].Seq2() {
			break
		}
	}
}

// TestTheTwelveOperationsHaveTheirNames of specification 4.
func TestTheTwelveOperationsHaveTheirNames(t *testing.T) {
	t.Parallel()
	sdk := tenant(t).Admin.SDK(func(c *client.Config) { c.Prefix = "" })
	contract, err := sdk.IntegrationContract(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(contract.SDKOperations) != 12 || contract.DefaultPrefix != client.PrefixAlias || contract.APIVersion != client.Version {
		t.Errorf("the contract says %+v", contract)
	}
	for _, name := range contract.SDKOperations {
		if _, ok := reflect.TypeOf(sdk).MethodByName(strings.ToUpper(name[:1]) + name[1:]); !ok {
			t.Errorf("the SDK has no %s", name)
		}
	}
}

// TestEveryCodeIsATypedError in the SDK.
func TestEveryCodeIsATypedError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, operator := t.Context(), w.operator.SDK()
	_, unknown := operator.Run(ctx, "run-none")
	_, role := operator.SaveProject(ctx, "default-x", countersign.ProjectWrite{Name: "x"})
	_, stale := w.Admin.SDK().EnableProject(ctx, shop, countersign.Toggle{ExpectedRevision: 7})
	_, stranger := w.As("csn_nobody").SDK().Models(ctx, client.Paging{})
	_, shape := operator.CreatePlan(ctx, countersign.PlanWrite{ID: "a/b"})
	for _, c := range []struct {
		name      string
		err, want error
		status    int
	}{
		{"unknown run", unknown, client.ErrNotFound, 404}, {"role", role, client.ErrRoleRequired, 403}, {"stale revision", stale, client.ErrRevisionConflict, 409},
		{"stranger", stranger, client.ErrUnauthenticated, 401}, {"shape", shape, client.ErrInvalidRequest, 400},
	} {
		var refused *client.Error
		if !errors.Is(c.err, c.want) || !errors.As(c.err, &refused) || refused.Status != c.status || refused.RequestID == "" || refused.Message == "" {
			t.Errorf("%s: %#v; expected %v", c.name, c.err, c.want)
		}
	}
}

// TestAStartWithoutAKeyKeepsTheOneItMade, so that its caller can repeat the start.
func TestAStartWithoutAKeyKeepsTheOneItMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, operator := t.Context(), w.operator.SDK()
	plan := w.ready(t, harness.With(planOf(step("look", "search", doc{"status": "open"})), "mode", "DRY_RUN"))
	first, err := operator.StartRun(ctx, countersign.RunStart{PlanID: plan})
	if err != nil || first.IdempotencyKey == "" || first.Replayed {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := operator.StartRun(ctx, countersign.RunStart{PlanID: plan}, client.Key(first.IdempotencyKey))
	if err != nil || again.ID != first.ID || !again.Replayed {
		t.Errorf("%+v, %v", again, err)
	}
	other, err := operator.StartRun(ctx, countersign.RunStart{PlanID: plan})
	if err != nil || other.ID == first.ID {
		t.Errorf("two starts without a key are one run: %v, %v", other.ID, err)
	}
	elsewhere := w.ready(t, harness.With(planOf(step("other", "search", doc{"status": "open"})), "mode", "DRY_RUN"))
	_, err = operator.StartRun(ctx, countersign.RunStart{PlanID: elsewhere}, client.Key(first.IdempotencyKey))
	var refused *client.Error
	if !errors.Is(err, client.ErrIdempotencyConflict) || !errors.As(err, &refused) || refused.IdempotencyKey != first.IdempotencyKey {
		t.Errorf("%#v", err)
	}
}

// TestTheSDKWaitsUntilAPersonIsNeededAndUntilTheEnd of a LIVE run.
func TestTheSDKWaitsUntilAPersonIsNeededAndUntilTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, operator := t.Context(), w.operator.SDK()
	w.shop.On("POST", "/refunds", harness.Answering(201, `{"ok":true}`))
	started, err := operator.StartRun(ctx, countersign.RunStart{PlanID: w.ready(t, planOf(step("refund", "refund", doc{"orderId": "A-1"})))})
	if err != nil {
		t.Fatal(err)
	}
	still, err := operator.WaitRun(ctx, started.ID, client.Still)
	if err != nil || still.WaitingFor == nil || still.WaitingFor.ApprovalID == "" {
		t.Fatalf("%+v, %v", still, err)
	}
	_, err = w.approver.SDK().Decide(ctx, still.WaitingFor.ApprovalID, countersign.Decision{Decision: countersign.ApprovalApproved, Reason: "seen"})
	if err != nil {
		t.Fatal(err)
	}
	done, err := operator.WaitRun(ctx, started.ID)
	if err != nil || done.Status != countersign.RunCompleted || done.PlanSnapshot == nil || done.Steps[0].Response == nil {
		t.Errorf("%+v, %v", done, err)
	}
}

// TestAWatchedRunShowsEachStatusOnceAndInOrder, by events and by polling.
func TestAWatchedRunShowsEachStatusOnceAndInOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.shop.On("GET", "/orders", harness.Answering(200, `[]`), harness.Answering(200, `[]`))
	plan := w.ready(t, planOf(step("look", "search", doc{"status": "open"})))
	deaf := func(c *client.Config) { c.HTTP = &http.Client{Transport: deafTransport{}} }
	for name, sdk := range map[string]*client.Client{"events": w.operator.SDK(), "polling": w.operator.SDK(deaf)} {
		started, err := sdk.StartRun(t.Context(), countersign.RunStart{PlanID: plan})
		if err != nil {
			t.Fatal(err)
		}
		last := int64(-1)
		var status countersign.RunStatus
		for r, err := range sdk.WatchRun(t.Context(), started.ID) {
			if err != nil || r.Revision <= last {
				t.Fatalf("%s: revision %d after %d, %v", name, r.Revision, last, err)
			}
			last, status = r.Revision, r.Status
		}
		if status != countersign.RunCompleted {
			t.Errorf("%s: the last status is %s", name, status)
		}
	}
}

// deafTransport refuses event streams.
type deafTransport struct{}

func (deafTransport) RoundTrip(q *http.Request) (*http.Response, error) {
	if strings.HasSuffix(q.URL.Path, "/events") {
		return nil, errors.New("no streams through this proxy")
	}
	return http.DefaultTransport.RoundTrip(q)
}

// TestAllWalksEveryPage and returns each item once.
func TestAllWalksEveryPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sdk := w.operator.SDK()
	plan := w.ready(t, harness.With(planOf(step("look", "search", doc{"status": "open"})), "mode", "DRY_RUN"))
	want := map[string]bool{}
	for range 7 {
		r, err := sdk.StartRun(t.Context(), countersign.RunStart{PlanID: plan})
		if err != nil {
			t.Fatal(err)
		}
		want[r.ID] = true
		if _, err := sdk.WaitRun(t.Context(), r.ID); err != nil {
			t.Fatal(err)
		}
	}
	for r, err := range sdk.AllRuns(t.Context(), client.RunFilter{PlanID: plan, Paging: client.Paging{Limit: 3}}) {
		if err != nil || !want[r.ID] {
			t.Errorf("%s twice or unasked for, %v", r.ID, err)
		}
		delete(want, r.ID)
	}
	if len(want) > 0 {
		t.Errorf("left out: %v", want)
	}
}
