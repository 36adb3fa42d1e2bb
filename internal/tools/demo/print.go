package demo

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
)

// printer prints the story: numbered chapters, rows with a label, sentences. Each line is
// written at once, when its fact is known.
type printer struct {
	w       io.Writer
	colour  bool
	chapter int
}

const (
	margin     = "   "
	labelWidth = 14
	wordWidth  = 11 // width of a step's status
	blockWidth = 80
)

func (p *printer) line(format string, args ...any) { fmt.Fprintf(p.w, format+"\n", args...) }

// begin prints the heading of a chapter.
func (p *printer) begin(title string) {
	p.chapter++
	p.line("")
	p.line("%s", p.paint(bold, fmt.Sprintf("%d  %s", p.chapter, title)))
}

func (p *printer) row(label, format string, args ...any) {
	p.line("%s%-*s%s", margin, labelWidth, label, fmt.Sprintf(format, args...))
}

func (p *printer) say(format string, args ...any) { p.line(margin+format, args...) }

// step prints a row about a step: its id, its status and a text.
func (p *printer) step(id string, status countersign.StepStatus, format string, args ...any) {
	gap := strings.Repeat(" ", max(2, wordWidth-len(status)))
	word := p.paint(statusColour[status], string(status))
	p.row(id, "%s", strings.TrimRight(word+gap+fmt.Sprintf(format, args...), " "))
}

// block prints JSON below a row, broken after commas if it is too wide.
func (p *printer) block(json countersign.Value) {
	rest := json.Raw()
	for len(rest) > blockWidth {
		cut := strings.LastIndexByte(rest[:blockWidth], ',') + 1
		if cut == 0 {
			break
		}
		p.row("", "%s", rest[:cut])
		rest = rest[cut:]
	}
	p.row("", "%s", rest)
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// SGR codes of the colors, used on a terminal only.
const (
	bold   = "1"
	green  = "32"
	red    = "31"
	yellow = "33"
	plum   = "35" // uncertain, and nothing else
)

var statusColour = map[countersign.StepStatus]string{
	countersign.StepCompleted: green, countersign.StepFailed: red,
	countersign.StepWaitingApproval: yellow, countersign.StepRecoveryRequired: plum,
}

func (p *printer) paint(colour, text string) string {
	if !p.colour || colour == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}
