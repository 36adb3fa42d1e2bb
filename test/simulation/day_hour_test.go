package simulation

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/evidence/receipt"
	"github.com/countersign/countersign/internal/platform/telemetry"
	"github.com/countersign/countersign/internal/server/httpapi"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/sqlite"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
)

// figures are what the process and its store take at the end of a period.
type figures struct {
	after       time.Duration
	goroutines  int
	descriptors int // -1 where nobody counts them
	heap        uint64
	store       int64 // bytes of a backup: of the whole store without its write-ahead logs
	logs        int64 // bytes of the write-ahead logs
	archive     int64
	records     int64 // of all audit logs
	archived    int   // runs that have left the store by then
	runs        int   // in the store
}

func (f figures) String() string {
	return fmt.Sprintf("%6s: %d goroutines, %d descriptors, heap %.1f MB, store %.2f MB and logs of %.1f MB, archive %.2f MB, %d audit records, %d runs in the store, %d archived",
		f.after, f.goroutines, f.descriptors, float64(f.heap)/1e6, float64(f.store)/1e6, float64(f.logs)/1e6, float64(f.archive)/1e6, f.records, f.runs, f.archived)
}

// takeFigures verifies the logs, receipts and a backup, and compares what is taken with what was.
func (d *day) takeFigures() {
	d.settleDown()
	if d.shared {
		d.complete()
	}
	f := figures{after: d.now().Sub(d.begins).Round(time.Minute), archived: d.tally.archived}
	for _, log := range append([]string{store.Realm}, tenants...) {
		f.records += d.verifyLog(d.disk.rows, log, "the service")
	}
	d.verifyReceipts()
	if !d.shared {
		f.store, f.logs = d.backUp(), d.bytes(d.dir, "-wal")
	}
	for _, tenant := range tenants {
		f.runs += len(d.look(tenant).runs)
	}
	clear(d.seenLast)
	d.forget()
	d.forget()
	d.slack.Transport().CloseIdleConnections()
	synctest.Wait()
	f.goroutines, f.descriptors = d.held()
	f.heap = heapInUse()
	if rows, inMemory := d.disk.rows.(*memory.Store); inMemory {
		f.heap -= min(f.heap, weight(rows))
	}
	f.archive = d.bytes(d.archive, "")
	d.hours = append(d.hours, f)
	if *progress {
		fmt.Println(f)
	}
	d.compareFigures()
}

// held counts goroutines and descriptors: the least of some moments, since background work comes and goes.
func (d *day) held() (goroutines, files int) {
	goroutines, files = runtime.NumGoroutine(), descriptors()
	for range 5 {
		time.Sleep(3700 * time.Millisecond)
		synctest.Wait()
		goroutines, files = min(goroutines, runtime.NumGoroutine()), min(files, descriptors())
	}
	return goroutines, files
}

// settleDown waits until no call is under way. What waits for a person goes on waiting.
func (d *day) settleDown() {
	time.Sleep(70 * time.Second) // longer than any call
	synctest.Wait()
	d.startDead()
}

// What may be taken beyond the first figures.
const (
	moreHeap   = 8 << 20 // of caches that are bounded
	heapPerRun = 12_000  // of the day's own books of a run that is in the store: its rows, requests and what it was like

	// What a run leaves in the store for good is its audit records, packed, and the stub that answers a repeated start. What it takes
	// until it is archived, with its steps, terms, plan and approvals, is used again for later ones. Measured were 150, 1,100 and 4,300.
	perRecord, perArchived, perRun = 170, 1300, 5000
	moreDisk                       = 3 << 19 // of pages that are free

	// A write-ahead log is written from its beginning again when it has 8,000 pages. There are two.
	mostLogs = 2 * 8100 * (4096 + 24)
)

// compareFigures: goroutines and descriptors are as many as after the first period; the heap is bounded; and the store grows by what
// is kept of each run, and nothing else.
func (d *day) compareFigures() {
	first, now := d.hours[0], d.hours[len(d.hours)-1]
	if now.goroutines > first.goroutines || now.descriptors > first.descriptors {
		d.fail("nothing is left behind: after %s there are %d goroutines and %d descriptors, after %s there were %d and %d\n%s",
			now.after, now.goroutines, now.descriptors, first.after, first.goroutines, first.descriptors, stacks(now.goroutines > first.goroutines))
	}
	more, peak := max(0, now.runs-first.runs), 0
	for _, f := range d.hours {
		peak = max(peak, f.runs)
	}
	if now.heap > first.heap+moreHeap+heapPerRun*uint64(more) {
		d.fail("nothing is left behind: after %s the heap has %d bytes, after %s it had %d", now.after, now.heap, first.after, first.heap)
	}
	if now.logs > mostLogs {
		d.fail("nothing is left behind: after %s the write-ahead logs have %d bytes", now.after, now.logs)
	}
	if most := first.store + perRecord*(now.records-first.records) + perArchived*int64(now.archived-first.archived) + perRun*int64(peak-first.runs) + moreDisk; now.store > most {
		d.fail("nothing is left behind: after %s the store has %d bytes; %d were expected of %d after %s", now.after, now.store, most, first.store, first.after)
	}
}

func stacks(want bool) string {
	if !want {
		return ""
	}
	b := make([]byte, 1<<20)
	return string(b[:runtime.Stack(b, true)])
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// weight is what the rows of a store in memory take of the heap: what a copy of them does. They are no more the process's than a
// database is.
func weight(rows *memory.Store) uint64 {
	before, copied := heapInUse(), memory.New()
	err := rows.View(background(), func(from store.Tx) error {
		return copied.Update(background(), func(to store.Tx) error { return copyRows(from, to) })
	})
	if err != nil {
		panic(err) // can't happen: nothing of it fails
	}
	after := heapInUse()
	runtime.KeepAlive(copied)
	return after - min(after, before)
}

func copyRows(from, to store.Tx) error {
	for _, table := range store.Tables() {
		of, err := from.(store.Whole).Tenants(table)
		if err != nil {
			return err
		}
		for _, tenant := range of {
			list, err := from.List(table, tenant, store.Query{})
			for _, row := range list {
				row.ID = strings.Clone(row.ID) // else both have the same texts
				for i, key := range row.Keys {
					if text, isText := key.(string); isText {
						row.Keys[i] = strings.Clone(text)
					}
				}
				err = errors.Join(err, to.(store.Whole).Load(table, tenant, row))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// descriptors counts those of this process, -1 where the system doesn't show them.
func descriptors() int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return -1
	}
	return len(list)
}

// bytes is the size of a directory's files whose names end so.
func (d *day) bytes(dir, suffix string) (n int64) {
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(e.Name(), suffix) {
			return err
		}
		info, err := e.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return n
}

// viewer is a store that can be read.
type viewer interface {
	View(ctx context.Context, fn func(store.Tx) error) error
}

func (d *day) verifyLog(s viewer, log, where string) (records int64) {
	var v countersign.AuditVerification
	err := s.View(background(), func(tx store.Tx) (err error) { v, err = audit.Verify(tx, log); return err })
	if err != nil || !v.Intact {
		d.fail("A2: the audit log of %q in %s doesn't verify: %+v %v", log, where, v, err)
	}
	return v.Records
}

// verifyReceipts verifies the receipts of some runs that have ended.
func (d *day) verifyReceipts() {
	for _, tenant := range tenants {
		n := 0
		for _, r := range d.look(tenant).runs {
			if !r.Status.IsTerminal() || fate(r.ID)%10 != 0 || n == 20 {
				continue
			}
			n++
			code, text := d.get(d.api, tenant, "/runs/"+r.ID+"/receipt")
			if v := receipt.Verify(text, nil); code != http.StatusOK || !v.OK {
				d.fail("A3: the receipt of run %s: %d, %+v", r.ID, code, v)
			}
		}
	}
}

// get asks an API of the day for something, as the tenant's reader.
func (d *day) get(api http.Handler, tenant, path string) (int, []byte) {
	req := httptest.NewRequestWithContext(background(), http.MethodGet, publicURL+httpapi.Prefix+path, nil)
	req.Header.Set("Authorization", "Bearer "+d.token[tenant])
	w := httptest.NewRecorder()
	api.ServeHTTP(w, req)
	return w.Code, w.Body.Bytes()
}

// readings are what the API is asked of both the service and its backup.
var readings = []string{"/runs?limit=200", "/runs?limit=200&offset=200", "/approvals?limit=200", "/plans?limit=200", "/models", "/projects", "/agents", "/teams", "/groups", "/users", "/webhooks", "/tokens", "/audit?limit=200", "/stop"}

// backUp makes a backup beside the running service, verifies its logs, and compares what the API answers from it with what the service
// answers. It returns the backup's size.
func (d *day) backUp() (size int64) {
	file := filepath.Join(d.root, "backups", fmt.Sprintf("%d", d.tally.backups))
	d.tally.backups++
	for _, tenant := range tenants {
		d.get(d.api, tenant, "/stop") // a token's use is written
	}
	synctest.Wait()
	if err := sqlite.Backup(background(), d.dir, file, nil); err != nil {
		d.fail("A1: no backup: %v", err)
		return 0
	}
	held, err := sqlite.OpenCopy(background(), file)
	if err != nil {
		d.fail("A1: the backup can't be opened: %v", err)
		return 0
	}
	copied := d.assemble(readOnly{held}, nil, telemetry.NewMetrics("simulated"))
	for _, tenant := range tenants {
		d.verifyLog(held, tenant, "a backup")
		for _, path := range readings {
			code, text := d.get(d.api, tenant, path)
			was, backed := d.get(copied.api, tenant, path)
			if code != http.StatusOK || was != code || string(text) != string(backed) {
				d.fail("A1: GET %s of %s is answered %d by the service and %d by its backup:\n%s", path, tenant, code, was, firstDifference(string(text), string(backed)))
			}
		}
	}
	copied.control.Close()
	if err := held.Close(); err != nil {
		d.fail("A1: the backup can't be closed: %v", err)
	}
	info, err := os.Stat(file)
	if err == nil {
		err = os.Remove(file)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return info.Size()
}

func firstDifference(a, b string) string {
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	cut := func(s string) string { return s[max(0, at-200):min(len(s), at+200)] }
	return cut(a) + "\n" + cut(b)
}

// readOnly is a backup as a store.
type readOnly struct{ *sqlite.Copy }

func (readOnly) Update(context.Context, func(store.Tx) error) error { return store.ErrUnavailable }
func (readOnly) Failed() <-chan struct{}                            { return nil }
func (readOnly) Full() bool                                         { return true }

// playOut ends the day: what waits is decided, and every run ends.
func (d *day) playOut() {
	for range 60 {
		if d.failed || !d.endWaiting() {
			break
		}
		time.Sleep(61 * time.Second)
		synctest.Wait()
		d.startDead()
		d.checkMinute()
	}
	d.checkNothingIsStuck()
}

// endWaiting lets every stop go, rejects what waits, and abandons what is uncertain.
func (d *day) endWaiting() (needed bool) {
	for _, tenant := range tenants {
		_, _ = d.process.control.Go(background(), control.Actor{Principal: d.who(tenant, "ada").Principal}, countersign.StopWrite{Reason: "the end"})
		p := d.look(tenant)
		for i := range p.approvals {
			if a := &p.approvals[i]; a.Status == countersign.ApprovalPending {
				d.play([]act{d.deciding(d.who(tenant, decider(a)), a, countersign.ApprovalRejected)})
			}
		}
		for _, r := range p.runs {
			needed = needed || !r.Status.IsTerminal()
			if r.Status == countersign.RunRecoveryRequired {
				_, _ = d.process.control.ReconcileRun(background(), control.Actor{Principal: d.who(tenant, "bob").Principal}, r.ID, countersign.Reconcile{Resolution: countersign.Abandon, Evidence: "the end"})
			}
		}
	}
	return needed
}

// decider is a name of somebody who may decide an approval.
func decider(a *records.Approval) string {
	if len(a.Groups) > 0 {
		return "fay"
	}
	return "bob"
}

// report is what a day came to.
func (d *day) report() string {
	var b strings.Builder
	t := d.tally
	fmt.Fprintf(&b, "%d minutes, %s, seed %d: %d starts acknowledged, %d refused, %d repeated later; %d runs %v; %d deliveries; approvals %v, %d of them in Slack; %d reconciled; %d commits; %d mails\n",
		d.minutes, d.describe(), d.seed, t.starts, t.refusals, t.replayed, t.runs, t.ends, d.receiver.arrivals, t.approvals, t.bySlack, t.reconciled, d.disk.commits, d.mails.n)
	fmt.Fprintf(&b, "%d processes, %d kills, %d restarts, %d backups, %d runs archived; %d notifications refused in the outage, the slowest told after %s, of what happened later after %s\n",
		d.processes, t.kills, t.restarts, t.backups, t.archived, d.hooks.refused, t.slowest.Round(time.Second), t.behind.Round(time.Second))
	for _, f := range d.hours {
		fmt.Fprintln(&b, f)
	}
	return b.String()
}
