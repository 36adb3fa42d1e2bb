package mcpup

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/runtime/outbound"
	"github.com/countersign/countersign/internal/tools/adapter/file"
	up "github.com/countersign/countersign/internal/tools/adapter/upstream"
)

// child is the process of a server.
type child struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *os.File
	exited chan struct{}
}

// start starts the command with nothing but a PATH, an empty HOME of its own, and what FILE names.
func start(cfg *file.MCP, secrets up.Secrets, log *slog.Logger, masker outbound.Masker) (c *child, err error) {
	home, err := newHome()
	if err != nil {
		return nil, err
	}
	c = &child{exited: make(chan struct{})}
	defer func() {
		if err != nil {
			home.remove()
		}
	}()
	c.cmd = exec.CommandContext(context.Background(), cfg.Command[0], cfg.Command[1:]...) //nolint:gosec // the operator's own command
	c.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home.path}
	for _, name := range cfg.Env {
		value, err := secrets.Of(name)
		if err != nil {
			return nil, err
		}
		c.cmd.Env = append(c.cmd.Env, name+"="+value)
	}
	c.cmd.Stderr = &speech{log: log, masker: masker, left: maxSpeech}
	c.cmd.WaitDelay = time.Second
	if err := isolate(c.cmd, cfg.User, home.path); err != nil {
		return nil, err
	}
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	var theirs *os.File
	if c.out, theirs, err = os.Pipe(); err != nil {
		return nil, err
	}
	c.cmd.Stdout = theirs
	err = c.cmd.Start()
	_ = theirs.Close() // the child has its own
	if err != nil {
		return nil, errors.Join(err, c.in.Close(), c.out.Close())
	}
	go func() {
		defer close(c.exited)
		_ = c.cmd.Wait() // how it ended is nothing to us
		home.remove()
	}()
	return c, nil
}

// patience is how long a server may take to end by itself.
const patience = 2 * time.Second

// stop ends the process and those that it started.
func (c *child) stop() {
	_ = c.in.Close()
	select {
	case <-c.exited:
	case <-time.After(patience):
	}
	end(c.cmd)
	<-c.exited
	_ = c.out.Close()
}

// transport are the child's pipes, watched by the tap.
func (c *child) reader(t *tap) io.ReadCloser {
	return &lines{tap: t, from: bufio.NewReader(c.out), Closer: c.out}
}

// Says is the message under which a log has what a server says, and SaysText the attribute.
const (
	Says     = "the server says"
	SaysText = "text"
)

func saying(log *slog.Logger, masker outbound.Masker, text string) {
	log.Info(Says, SaysText, safetext.Text(masker.Text(text[:min(len(text), 4<<10)])))
}

// maxSpeech bounds what a server may write into the log before it is started again.
const maxSpeech = 256 << 10

// speech writes what a server says on its standard error into the log, as text of others.
type speech struct {
	log    *slog.Logger
	masker outbound.Masker
	mu     sync.Mutex
	left   int
}

func (s *speech) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left > 0 {
		text := p[:min(len(p), s.left, 4<<10)]
		s.left -= len(p)
		saying(s.log, s.masker, string(text))
	}
	return len(p), nil
}
