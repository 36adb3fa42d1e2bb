package overview

import (
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/server/console/runs"
	"github.com/countersign/countersign/internal/server/console/web"
)

// figures count the runs started within a day by outcome, and those of the day before.
type figures struct {
	Started, Before                  int
	Completed, Failed, Open, Stopped int
	Bars                             []bar
	Any                              bool
}

// bar is one segment of an hour's column.
type bar struct{ X, Y, Height, Class string }

const hours = 24

// overviewFigures counts runs per hour from an index.
func overviewFigures(v *web.Request, d *overviewData) error {
	end := v.Now.Truncate(time.Hour).Add(time.Hour)
	hourly, err := v.Control.RunCountsOver(v.R.Context(), v.Actor, end.Add(-hours*time.Hour), time.Hour, hours)
	if err != nil {
		return err
	}
	before, err := v.Control.RunCountsOver(v.R.Context(), v.Actor, end.Add(-2*hours*time.Hour), hours*time.Hour, 1)
	if err != nil {
		return err
	}
	d.Figures = figuresOf(hourly, before[0])
	return nil
}

func figuresOf(hourly []control.RunCounts, before control.RunCounts) (f figures) {
	for _, t := range hourly {
		f.Completed += t.Runs[countersign.RunCompleted]
		f.Failed += t.Runs[countersign.RunFailed]
		f.Stopped += t.Runs[countersign.RunCancelled]
		f.Open += open(t)
	}
	f.Started = f.Completed + f.Failed + f.Stopped + f.Open
	f.Before = all(before)
	f.Any = f.Started+f.Before > 0
	f.Bars = barsOf(hourly)
	return f
}

func all(t control.RunCounts) (n int) {
	for _, of := range t.Runs {
		n += of
	}
	return n
}

// open counts the runs that haven't ended.
func open(t control.RunCounts) int {
	return all(t) - t.Runs[countersign.RunCompleted] - t.Runs[countersign.RunFailed] - t.Runs[countersign.RunCancelled]
}

// Size of the chart in its own units.
const (
	barsHeight = 48.0
	barStep    = 20.0
)

// barsOf stacks each hour's runs: completed at the bottom, then cancelled, unfinished
// and failed.
func barsOf(hourly []control.RunCounts) (bars []bar) {
	most := 1
	for _, t := range hourly {
		most = max(most, all(t))
	}
	for i, t := range hourly {
		y := barsHeight
		for _, part := range []struct {
			n     int
			class string
		}{
			{t.Runs[countersign.RunCompleted], "b-ok"}, {t.Runs[countersign.RunCancelled], "b-idle"}, {open(t), "b-now"}, {t.Runs[countersign.RunFailed], "b-fail"},
		} {
			if part.n == 0 {
				continue
			}
			height := max(1, barsHeight*float64(part.n)/float64(most))
			y -= height
			bars = append(bars, bar{X: runs.Tenth(float64(i) * barStep), Y: runs.Tenth(max(0, y)), Height: runs.Tenth(height), Class: part.class})
		}
	}
	return bars
}
