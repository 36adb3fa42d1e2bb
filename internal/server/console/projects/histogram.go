package projects

import (
	"fmt"

	"github.com/countersign/countersign"
)

// A histogram of calls by an amount, each bar in parts by what would become of them.

// The drawing's units.
const (
	drawnWidth  = 1000
	drawnHeight = 200
	barGap      = 2
	leastHeight = 3 // a bar that is there is seen
)

type histogram struct {
	Input, From, To string
	Width, Height   int
	Most            int // calls in the highest bar
	Bars            []bar
}

// bar are the calls with amounts of one range.
type bar struct {
	X, Width int
	Title    string
	Parts    []barPart
}

type barPart struct {
	Class     string
	Y, Height int
}

// barsOf is nil where nothing goes by a number.
func barsOf(f *countersign.WhatIfField) *histogram {
	if f == nil || len(f.Buckets) == 0 {
		return nil
	}
	n := len(f.Buckets)
	h := &histogram{Input: f.Input, From: f.Buckets[0].From.Raw(), To: f.Buckets[n-1].To.Raw(), Width: drawnWidth, Height: drawnHeight}
	for _, b := range f.Buckets {
		h.Most = max(h.Most, b.Sent+b.Asked+b.Denied)
	}
	for i, b := range f.Buckets {
		left, right := i*drawnWidth/n, (i+1)*drawnWidth/n
		one := bar{X: left, Width: max(1, right-left-barGap), Title: fmt.Sprintf("%s to %s: %d sent, %d asked, %d denied", b.From.Raw(), b.To.Raw(), b.Sent, b.Asked, b.Denied)}
		y := drawnHeight
		for _, part := range []struct {
			class string
			n     int
		}{{"sent", b.Sent}, {"asked", b.Asked}, {"denied", b.Denied}} {
			if part.n == 0 {
				continue
			}
			height := max(leastHeight, part.n*(drawnHeight-3*leastHeight)/h.Most)
			y -= height
			one.Parts = append(one.Parts, barPart{part.class, y, height})
		}
		h.Bars = append(h.Bars, one)
	}
	return h
}
