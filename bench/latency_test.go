package main

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"
)

// echo starts a server that sends back what it gets, and a distance to it.
func echo(t testing.TB, latency time.Duration) net.Conn {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c); _ = c.Close() }()
		}
	}()
	d, err := startDistance(l.Addr().String(), latency)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.clear)
	c, err := net.DialTCP("tcp", nil, d.listener.Addr().(*net.TCPAddr))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestADistanceDelaysEachAnswerByItsLatency, and not those behind it by more: a thousand
// messages on the way at once arrive together.
func TestADistanceDelaysEachAnswerByItsLatency(t *testing.T) {
	const latency, messages = 50 * time.Millisecond, 1000
	c := echo(t, latency)
	began := time.Now()
	for i := range messages {
		if _, err := c.Write([]byte{byte(i)}); err != nil {
			t.Fatal(err)
		}
	}
	got := make([]byte, messages)
	if _, err := io.ReadFull(c, got[:1]); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < latency {
		t.Errorf("the first answer took %s", took)
	}
	if _, err := io.ReadFull(c, got[1:]); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > messages*latency/10 {
		t.Errorf("all answers took %s", took)
	}
	for i := range got {
		if got[i] != byte(i) {
			t.Fatalf("answer %d is %d", i, got[i])
		}
	}
}

// TestADistanceEndsAsItsEndsDo: what was sent before the end still arrives.
func TestADistanceEndsAsItsEndsDo(t *testing.T) {
	c := echo(t, 10*time.Millisecond)
	sent := bytes.Repeat([]byte("countersign"), 1<<20)
	go func() {
		_, _ = c.Write(sent)
		_ = c.(*net.TCPConn).CloseWrite()
	}()
	got, err := io.ReadAll(c)
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d of %d bytes arrived: %v", len(got), len(sent), err)
	}
}

// BenchmarkDistance has the latency of a ping, and how long a mebibyte takes there and back.
func BenchmarkDistance(b *testing.B) {
	for _, latency := range []time.Duration{0, 2 * time.Millisecond, 10 * time.Millisecond} {
		b.Run("ping/"+latency.String(), func(b *testing.B) {
			c := echo(b, latency)
			one := make([]byte, 1)
			for b.Loop() {
				if _, err := c.Write(one); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(c, one); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("mebibyte/"+latency.String(), func(b *testing.B) {
			c := echo(b, latency)
			sent, got := make([]byte, 1<<20), make([]byte, 1<<20)
			b.SetBytes(1 << 20)
			for b.Loop() {
				go func() { _, _ = c.Write(sent) }()
				if _, err := io.ReadFull(c, got); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
