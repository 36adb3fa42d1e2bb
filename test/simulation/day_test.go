package simulation

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
	"github.com/countersign/countersign/internal/testing/slacktest"
	"github.com/countersign/countersign/test/campaign"
)

var (
	dayMinutes = campaign.SizeFlag("day", 60, 60, "minutes of virtual time that a day of work has")
	daySeed    = campaign.SeedFlag("day-seed")
)

// day is a day of work in virtual time on the embedded store: the whole service but its sockets, with everything that works beside the
// engine, and processes that are stopped, killed and started. Office hours are busy and nights are not. What is checked at each minute is
// in day_check_test.go, what at each hour in day_hour_test.go. The seed determines what is asked and what happens when; the order in which
// requests that come at once have their turn is not its to determine.
type day struct {
	*sim
	root      string // below it the directories of the store, the archive and backups
	dir       string // the store's present directory
	archive   string
	life      int // which directory of the store it is
	openStore func() (store.Store, error)
	closes    bool       // each process closes its own
	replicas  []*replica // the processes; one, if the store isn't shared
	api       http.Handler
	processes int

	slack *slacktest.Workspace
	hooks *hooks
	mails *mails

	begins   time.Time // of the first minute
	minutes  int       // that there are
	minute   int       // that have begun
	work     map[string]*work
	seenLast map[string]*picture // of the last check, by tenant
	outage   span                // of the webhook's receiver
	kept     time.Duration       // how long an ended run stays in the store
	period   int                 // minutes from one taking of figures to the next
	judged   map[string]int      // how many intents to pay were judged, by key
	pays     map[string][]paid   // latest payments, by project
	present  map[string]bool     // runs that were in the store at the last check, by tenant and id; true: it was counted how they ended
	settled  map[string]bool     // approvals of which it was counted how they ended
	pressed  map[string]bool     // approvals that somebody has answered in Slack
	events   map[int][]event
	hours    []figures
	token    map[string]string // of a reader of each tenant, by tenant
	secrets  struct {
		mu sync.Mutex
		n  uint64
	}
	tally dayTally
}

// span is a time from and until.
type span struct{ from, until time.Time }

func (s span) has(t time.Time) bool { return !t.Before(s.from) && t.Before(s.until) }

// dayTally is what happened.
type dayTally struct {
	starts, refusals, runs, bySlack, archived, kills, restarts, backups, replayed, reconciled int

	ends      map[string]int // of runs, by status and code
	approvals map[string]int // by how they ended
	slowest   time.Duration  // from what happened before the end of the outage until the webhook was told
	behind    time.Duration  // the same of what happened later
}

const channel = "C1"

// opening is when the short form begins: half an hour later most people have come.
const opening = 7*time.Hour + 30*time.Minute

func TestADayOfWorkLeavesNothingBehind(t *testing.T) {
	seed := daySeed.First(t)
	synctest.Test(t, func(t *testing.T) {
		d := newDay(t, seed, dayMinutes.N())
		d.openStore, d.closes = d.openDirectory, true
		d.playAll()
	})
}

func (d *day) playAll() {
	defer d.rest()
	d.open()
	for d.minute < d.minutes && !d.failed {
		d.playMinute()
	}
	d.end()
}

func newDay(t *testing.T, seed uint64, minutes int) *day {
	root := t.TempDir()
	d := &day{
		sim: newSim(t, seed), root: root, archive: filepath.Join(root, "archive"), minutes: minutes, slack: slacktest.OpenPiped(t), mails: &mails{},
		work: map[string]*work{}, seenLast: map[string]*picture{}, token: map[string]string{}, events: map[int][]event{},
		kept: 4 * time.Hour, period: 60, judged: map[string]int{}, pays: map[string][]paid{}, present: map[string]bool{}, pressed: map[string]bool{}, settled: map[string]bool{},
		tally: dayTally{ends: map[string]int{}, approvals: map[string]int{}},
	}
	d.rng = rand.New(rand.NewPCG(seed, 0xda7))
	d.turns = 10
	d.limit, d.ttl, d.disk = atOnce, lifetime, &disk{rows: memory.New()}
	d.epoch = firstMinute.Sub(time.Now().Truncate(time.Minute))
	if minutes < 24*60 {
		d.epoch += opening
		d.kept, d.period = 20*time.Minute, 20
	}
	d.receiver.acts, d.receiver.pace = reliable, brisk
	d.hooks = &hooks{day: d, told: map[string]time.Time{}}
	d.people = map[string][]person{}
	for _, tenant := range tenants {
		d.people[tenant], d.work[tenant] = office(tenant), newWork()
	}
	d.begins = d.now()
	d.schedule()
	return d
}

// firstMinute is a Monday.
var firstMinute = time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)

// open upgrades the store of an earlier release, starts the first process and furnishes the tenants.
func (d *day) open() {
	for _, dir := range []string{d.archive, filepath.Join(d.root, "backups")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			d.t.Fatal(err)
		}
	}
	if d.shared {
		d.complete()
	} else {
		d.dir = d.generation()
		d.upgrade()
		d.start()
	}
	d.equip()
	time.Sleep(5 * time.Second) // what waited in the earlier release's store has lapsed
	synctest.Wait()
	d.checkMinute()
}

// rounds is in how many parts a minute's work comes.
const rounds = 4

// playMinute plays a minute: what is planned for it, the work that is drawn, and the checks.
func (d *day) playMinute() {
	began := time.Now()
	acts := d.drawMinute()
	for n := range rounds {
		d.switchProcess()
		d.play(acts[len(acts)*n/rounds : len(acts)*(n+1)/rounds])
		if n == 0 {
			d.playEvents()
		}
		d.answerInSlack()
		synctest.Wait()
		d.startDead()
		if until := began.Add(time.Duration(n+1) * time.Minute / rounds); time.Until(until) > 0 {
			time.Sleep(time.Until(until))
		}
	}
	synctest.Wait()
	d.startDead()
	d.checkMinute()
	d.minute++
	if d.minute%d.period == 0 {
		d.takeFigures()
	}
	d.forget()
}

// playEvents plays what is planned for the minute, while the calls of runs that have just begun are on their way.
func (d *day) playEvents() {
	for _, e := range d.events[d.minute] {
		time.Sleep(time.Duration(1+d.rng.IntN(600)) * time.Millisecond)
		d.say("minute %d: %s", d.minute, e.what)
		e.do(d)
		d.startDead()
	}
}

// startDead starts a process in place of one that died in a commit.
func (d *day) startDead() {
	if d.shared {
		d.checkLeases()
		d.replaceDead()
		return
	}
	if d.process.session.isDead() {
		d.tally.kills++
		d.kill()
	}
}

// end plays out what is left and says what happened.
func (d *day) end() {
	if d.failed {
		return
	}
	d.disk.mend()
	d.playOut()
	d.t.Log(d.report())
}

func (d *day) newSalt() string {
	b := d.newSecret()
	return hex.EncodeToString(b[:])
}

// newSecret draws secrets, which nobody has to guess here.
func (d *day) newSecret() [32]byte {
	d.secrets.mu.Lock()
	defer d.secrets.mu.Unlock()
	d.secrets.n++
	return sha256.Sum256(fmt.Appendf(nil, "%d %d", d.seed, d.secrets.n))
}
