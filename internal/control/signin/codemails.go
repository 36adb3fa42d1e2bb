package signin

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/platform/semaphore"
)

// Bounds on the mails with sign-in codes: strangers make the service send them.
const (
	codeMailsAtOnce  = 4   // connections to the mail server
	codeMailsWaiting = 500 // mails that are queued or being sent
)

// codeMailPauses are the waits before a mail that failed is sent again.
var codeMailPauses = []time.Duration{5 * time.Second, 20 * time.Second}

// codeMails is the queue of sign-in codes to be mailed. Networks take turns. When the queue
// is full, a new mail replaces the newest one of the network with the most that is not being
// sent; it is refused if its own network would then have as many as any other. A code for an address that is no
// user's waits like one for a user, and its turn takes as long as the last mail took, so
// neither refusals nor times tell who is a user.
type codeMails struct {
	turns *semaphore.Semaphore

	mu      sync.Mutex
	count   int
	waiting map[string][]*codeMail // by network, the newest last
	took    time.Duration          // by the last attempt to send a mail
	failed  bool                   // whether that attempt failed
}

// codeMail is a queued mail. Its context ends when the mail is dropped.
type codeMail struct {
	network string
	ctx     context.Context
	cancel  context.CancelFunc
	sending bool // now, so that it is too late to drop it
}

func newCodeMails() *codeMails {
	return &codeMails{turns: semaphore.New(codeMailsAtOnce), waiting: map[string][]*codeMail{}}
}

// add puts a mail into the queue; nil if the queue is full. The caller removes the mail.
func (c *codeMails) add(life context.Context, network string) *codeMail {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count >= codeMailsWaiting {
		most := c.most()
		last := c.newest(most)
		if last == nil || len(c.waiting[most]) <= len(c.waiting[network])+1 {
			return nil
		}
		c.drop(last)
	}
	m := &codeMail{network: network}
	m.ctx, m.cancel = context.WithCancel(life)
	c.waiting[network] = append(c.waiting[network], m)
	c.count++
	return m
}

// most is the network with the most mails.
func (c *codeMails) most() (most string) {
	for network, mails := range c.waiting {
		if len(mails) > len(c.waiting[most]) {
			most = network
		}
	}
	return most
}

// newest is the newest mail of a network that is not being sent, nil if there is none.
func (c *codeMails) newest(network string) *codeMail {
	for _, m := range slices.Backward(c.waiting[network]) {
		if !m.sending {
			return m
		}
	}
	return nil
}

// remove takes a mail out of the queue, sent or not.
func (c *codeMails) remove(m *codeMail) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(m)
}

func (c *codeMails) drop(m *codeMail) {
	m.cancel()
	mails := c.waiting[m.network]
	at := slices.Index(mails, m)
	if at < 0 { // it was dropped before
		return
	}
	c.count--
	if c.waiting[m.network] = slices.Delete(mails, at, at+1); len(mails) == 1 {
		delete(c.waiting, m.network)
	}
}

// deliver sends a mail when it is its network's turn, and again after a failure while
// its code is valid. send is nil for an address that is no user's.
func (c *codeMails) deliver(m *codeMail, valid func() bool, send func() error) error {
	for try := 0; ; try++ {
		var err error
		if ended := c.turns.Do(m.ctx, m.network, func() {
			switch {
			case !valid():
				err = errExpired
			case !c.mark(m, true):
				err = m.ctx.Err()
			default:
				err = c.attempt(m, send)
				c.mark(m, false)
			}
		}); ended != nil {
			return ended
		}
		if err == nil || errors.Is(err, errExpired) || try == len(codeMailPauses) {
			return err
		}
		pause(m.ctx, codeMailPauses[try])
	}
}

// Why a mail was not sent.
var (
	errExpired = errors.New("control: the code expired before its mail could be sent")
	errNobodys = errors.New("control: no user has this address, and the last mail failed")
)

// mark sets whether a mail is being sent, and reports it. A mail that was dropped is not sent.
func (c *codeMails) mark(m *codeMail, sending bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	m.sending = sending && m.ctx.Err() == nil
	return m.sending
}

// attempt sends once. For an address that is no user's, it takes as long as the last mail
// and has the same result.
func (c *codeMails) attempt(m *codeMail, send func() error) error {
	if send == nil {
		c.mu.Lock()
		took, failed := c.took, c.failed
		c.mu.Unlock()
		pause(m.ctx, took)
		if failed {
			return errNobodys
		}
		return nil
	}
	began := time.Now()
	err := send()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.took, c.failed = time.Since(began), err != nil
	return err
}

// pause waits until the time has passed or the context ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// CodeText is the mail with a code. It says who asked, for a user who didn't.
func CodeText(code, from string, at time.Time) string {
	where := "an unknown network address"
	if addr, err := netip.ParseAddr(from); err == nil {
		where = addr.Unmap().WithZone("").String()
	}
	return "Your sign-in code is " + code + ".\n\nIt was asked for from " + where + " on " + at.UTC().Format("2006-01-02 at 15:04 MST") +
		". It is good for 10 minutes, in the browser that asked for it. If you did not ask, ignore this mail: without the code nobody gets in.\n"
}
