package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// approvals is the benchmark of lists of approvals: a store where very many wait, compared
// with one where few do, and with a request that reads next to nothing. Groups decide, and
// users are in them.
type approvals struct {
	workload
	waiting, few, groups, users, reps int
	phase                             time.Duration
	r                                 *receiver
	stores                            []*waitingStore
}

// waitingStore is a product with approvals that wait.
type waitingStore struct {
	p       *product
	waiting int
	project string   // "" for the benchmark's own
	ids     []string // of some of them
	cookie  string   // an approver's session
	kinds   []*kind
}

func measureApprovals(args []string) (err error) {
	var m approvals
	f := flag.NewFlagSet("bench approvals", flag.ExitOnError)
	m.flags(f)
	f.IntVar(&m.waiting, "waiting", 10_000, "approvals that wait")
	f.IntVar(&m.few, "few", 100, "approvals that wait in the other store")
	f.IntVar(&m.groups, "groups", 50, "groups, each of which decides its share of the approvals")
	f.IntVar(&m.users, "users", 200, "users, each in three groups")
	f.IntVar(&m.reps, "reps", 5, "repetitions")
	f.DurationVar(&m.phase, "phase", 3*time.Second, "length of each kind's turn")
	_ = f.Parse(args) // exits on an error
	if m.dir, err = makeTemporary(m.dir); err != nil {
		return err
	}
	defer removeTemporary(m.dir)
	if m.r, err = newReceiver(m.steps); err != nil {
		return err
	}
	defer func() { _ = m.r.server.Close() }()
	for _, n := range []int{m.few, m.waiting} {
		s := &waitingStore{p: newProduct(m.binary, m.dir+"/"+strconv.Itoa(n), m.r, 64), waiting: n}
		defer s.p.clear()
		err := s.p.start()
		if err == nil {
			err = m.fill(s)
		}
		if err != nil {
			return err
		}
		s.kinds = s.reads()
		m.stores = append(m.stores, s)
	}
	return m.measure()
}

// fill makes users, groups, and runs that wait for them.
func (m *approvals) fill(s *waitingStore) error {
	members := make([][]string, m.groups)
	for u := range m.users {
		email := fmt.Sprintf("user%03d@example.com", u)
		if _, err := s.p.must("PUT", "/users/"+email, object{"roles": []string{"APPROVER"}}); err != nil {
			return err
		}
		for i := range 3 {
			g := (u + i*17) % m.groups
			members[g] = append(members[g], email)
		}
	}
	var rules []object
	for g, of := range members {
		id := fmt.Sprintf("group%02d", g)
		if _, err := s.p.must("PUT", "/groups/"+id, object{"name": id, "members": of}); err != nil {
			return err
		}
		when := object{"kind": "predicate", "variableId": "amount", "operator": "eq", "value": g}
		rules = append(rules, object{"when": when, "then": "ASK", "approvals": 2, "groups": []string{id}, "reason": "amounts of " + id})
	}
	inputs := object{"amount": object{"type": "number", "required": true}, "orderId": object{"type": "string", "required": true}}
	capability := object{"name": "pay", "title": "Pay {amount} for {orderId}", "method": "POST", "path": "/step", "sideEffect": true, "approval": "ALWAYS", "inputSchema": inputs, "approvalRules": rules}
	_, err := s.p.must("PUT", "/projects/default-bench", object{
		"name": "bench", "adapter": "HTTP_JSON", "baseUrl": m.r.origin, "healthPath": "/health",
		"auth": object{"type": "HMAC", "credentialEnv": "BENCH_SECRET"}, "capabilities": []object{capability},
	})
	if err == nil {
		_, err = s.p.must("POST", "/projects/default-bench/health-check", nil)
	}
	if err == nil {
		_, err = s.p.must("POST", "/projects/default-bench/enable", object{"expectedRevision": 1})
	}
	if err != nil {
		return err
	}
	link, err := s.p.must("POST", "/users/user000@example.com/sign-in-link", object{})
	if err != nil {
		return err
	}
	if s.cookie, err = s.p.session(link["url"].(string)); err != nil {
		return err
	}
	made, err := s.p.must("POST", "/tokens", object{"name": "bench", "roles": []string{"OPERATOR", "APPROVER"}})
	if err != nil {
		return err
	}
	s.p.token = made["token"].(string)
	if err := m.ask(s); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%d approvals wait\n", s.waiting)
	return nil
}

// ask starts runs until as many wait as should.
func (m *approvals) ask(s *waitingStore) error {
	const at = 8 // once
	errs := make([]error, at)
	var wg sync.WaitGroup
	for c := range at {
		wg.Go(func() {
			for n := c; n < s.waiting && errs[c] == nil; {
				doc := fmt.Sprintf(`{"capability":"pay","mode":"LIVE","inputs":{"amount":%d,"orderId":"o-%d"},"expectation":{"field":"ok","equals":true}}`, n%m.groups, n)
				switch status, head, err := s.p.exchangeHead("POST", "/projects/"+cmp.Or(s.project, "default-bench")+"/runs", []byte(doc), s.p.key()); {
				case err != nil:
					errs[c] = err
				case status == http.StatusServiceUnavailable: // no slot at this moment
					time.Sleep(time.Millisecond)
				case status != http.StatusAccepted:
					errs[c] = fmt.Errorf("start: %d %s", status, head)
				default:
					n += at
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for {
		page, err := s.p.must("GET", "/approvals?status=PENDING&limit=100", nil)
		if err != nil {
			return err
		}
		if int(page["total"].(float64)) < s.waiting {
			time.Sleep(50 * time.Millisecond)
			continue
		}
		for _, item := range page["items"].([]any) {
			s.ids = append(s.ids, item.(object)["id"].(string))
		}
		return nil
	}
}

// session signs in by a link and returns the session's cookie.
func (p *product) session(link string) (string, error) {
	u, err := url.Parse(link)
	if err != nil {
		return "", err
	}
	origin := strings.TrimSuffix(p.base, "/v1")
	q, err := http.NewRequest(http.MethodPost, origin+"/console/sign-in/link", strings.NewReader(url.Values{"link": {u.Query().Get("link")}}.Encode()))
	if err != nil {
		return "", err
	}
	q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	q.Header.Set("Origin", origin)
	resp, err := client.Transport.RoundTrip(q) // a redirect has the cookie
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	for _, c := range resp.Cookies() {
		if c.Value != "" {
			return c.Name + "=" + c.Value, nil
		}
	}
	return "", fmt.Errorf("the link signs nobody in: %s", resp.Status)
}

// deskList is the name of the desk's list among what is measured.
const deskList = "The console's desk"

// reads are what is measured, one client each: how long somebody waits for an answer.
func (s *waitingStore) reads() []*kind {
	page := func(path string) func(int) (int, error) {
		return func(n int) (int, error) {
			q, err := http.NewRequest(http.MethodGet, strings.TrimSuffix(s.p.base, "/v1")+"/console"+strings.ReplaceAll(path, "ID", s.ids[n%len(s.ids)]), http.NoBody)
			if err != nil {
				return 0, err
			}
			q.Header.Set("Cookie", s.cookie)
			resp, err := client.Transport.RoundTrip(q)
			if err != nil {
				return 0, err
			}
			_, err = io.Copy(io.Discard, resp.Body)
			return resp.StatusCode, errors.Join(err, resp.Body.Close())
		}
	}
	get := func(path func(n int) string) func(int) (int, error) {
		return func(n int) (int, error) { return s.p.fetch(context.Background(), "GET", path(n), nil) }
	}
	fixed := func(path string) func(int) (int, error) { return get(func(int) string { return path }) }
	anywhere := func(n int) string {
		return "/approvals?status=PENDING&limit=20&offset=" + strconv.Itoa(n*7919%max(1, s.waiting-20))
	}
	of := func(name string, ask func(n int) (int, error)) *kind {
		return &kind{name: name, clients: 1, once: func(_, n int, note func(time.Duration)) error {
			begin := time.Now()
			status, err := ask(n)
			note(time.Since(begin))
			if err == nil && status != http.StatusOK {
				err = fmt.Errorf("the status is %d", status)
			}
			return err
		}}
	}
	return []*kind{
		of("GET /health, which reads next to nothing", fixed("/health")),
		of("GET /approvals, 20 that wait", fixed("/approvals?status=PENDING&limit=20")),
		of("GET /approvals, 100 that wait", fixed("/approvals?status=PENDING&limit=100")),
		of("GET /approvals, 20 that wait, anywhere", get(anywhere)),
		of("GET /approvals/{id}", get(func(n int) string { return "/approvals/" + s.ids[n%len(s.ids)] })),
		of("The console's list of approvals", page("/approvals")),
		of("The console's page of an approval", page("/approvals/ID")),
		of("The console's first page", page("/")),
		of(deskList, page("/desk")),
	}
}

// measure has the stores take turns with each kind of request.
func (m *approvals) measure() error {
	here := watchMachine()
	for rep := range m.reps {
		for k := range m.stores[0].kinds {
			for _, s := range m.stores {
				if err := s.kinds[k].alone.play(s.kinds[k], m.phase); err != nil {
					return err
				}
			}
		}
		fmt.Fprintf(os.Stderr, "repetition %d of %d\n", rep+1, m.reps)
	}
	m.print()
	here.print()
	var failed error
	for _, s := range m.stores {
		failed = errors.Join(failed, s.p.stop())
	}
	return failed
}

func (m *approvals) print() {
	few, many := m.stores[0], m.stores[1]
	printMachine()
	fmt.Printf("\n### Lists of approvals\n\n%d repetitions in turns, one client; %d groups of %d users. Ratio: of the p99, with %d waiting to with %d.\n\n", m.reps, m.groups, m.users, many.waiting, few.waiting)
	fmt.Printf("| | %d wait: p50 | p99 | %d wait: p50 | p99 | Ratio |\n|---|--:|--:|--:|--:|--:|\n", few.waiting, many.waiting)
	for i, k := range many.kinds {
		a, b := few.kinds[i].alone, k.alone
		fmt.Printf("| %s | %s | %s | %s | %s | %.2f |\n", k.name, shortDuration(median(a.p50)), shortDuration(median(a.p99)), shortDuration(median(b.p50)), shortDuration(median(b.p99)),
			float64(median(b.p99))/float64(median(a.p99)))
	}
}
