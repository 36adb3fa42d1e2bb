package harness

import (
	"maps"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Replicas is how many processes a server on a database has, behind a balancer if they are several.
var Replicas = 1

// replicas are the processes of a server.
type replicas []*process

// spawn starts the server's processes, all at once. They write to one log.
func (s *Server) spawn() {
	s.t.Helper()
	path := program(s.t)
	if s.binary != "" {
		path = s.binary
	}
	settings, count := s.settings, 1
	if s.Shared() && Replicas > 1 {
		settings, count = s.behindBalancer(), Replicas
	}
	s.output, s.processes = &logBuffer{}, nil
	for range count {
		s.processes = append(s.processes, launch(s.t, path, s.output, settings, s.args...))
	}
}

// behindBalancer are the settings of the server's processes: their public address is the balancer's.
func (s *Server) behindBalancer() map[string]string {
	s.t.Helper()
	if s.balancer == nil {
		s.balancer = newBalancer(s.t)
	}
	settings := maps.Clone(s.settings)
	if settings[publicURL] == "" {
		settings[publicURL] = s.balancer.url
	}
	return settings
}

const publicURL = "SVC_PLATFORM_PUBLIC_URL"

// comesUp waits until each process listens, and sets the server's address; up is false if one of them ended before.
func (s *Server) comesUp() (up bool) {
	s.t.Helper()
	var urls []string
	for _, p := range s.processes {
		url, up := p.comesUp(s.t)
		if !up {
			return false
		}
		urls = append(urls, url)
	}
	s.URL = urls[0]
	if s.balancer != nil && len(urls) > 1 {
		s.URL = s.balancer.url
		s.balancer.serve(hosts(urls))
	}
	s.addresses = hosts(urls)
	return true
}

func hosts(urls []string) (out []string) {
	for _, url := range urls {
		out = append(out, strings.TrimPrefix(url, "http://"))
	}
	return out
}

// ended reports whether all processes have ended.
func (r replicas) ended() bool {
	return !slices.ContainsFunc(r, func(p *process) bool { return !p.ended() })
}

// endSoon reports whether all processes end within a time.
func (r replicas) endSoon(within time.Duration) bool {
	late := time.After(within)
	for _, p := range r {
		select {
		case <-p.done:
		case <-late:
			return false
		}
	}
	return true
}

// signal sends a signal to each process.
func (r replicas) signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	for _, p := range r {
		p.signal(t, signal)
	}
}

// wait returns the exit status of the processes when all have ended by themselves: the first that is not 0.
func (r replicas) wait(t testing.TB) (status int) {
	t.Helper()
	for _, p := range r {
		if one := p.wait(t); status == 0 {
			status = one
		}
	}
	return status
}

// Refuses reports whether no process of the server listens any more.
func (s *Server) Refuses() bool {
	for _, address := range s.addresses {
		if conn, err := net.Dial("tcp", address); err == nil {
			_ = conn.Close()
			return false
		}
	}
	return true
}
