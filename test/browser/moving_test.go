package browser

import (
	"bytes"
	"cmp"
	"flag"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/png"
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/countersign/countersign/test/harness"
)

// moving is the file of the README's moving picture, "" for none.
var moving = flag.String("moving", "", "write the moving picture of an approval into this file")

// The picture's size is the width at which a README is shown, and its length that of a glance.
const (
	movingWidth, movingHeight = 800, 600
	heaviest                  = 1 << 20 // bytes
	shortest, longest         = 800, 1500
)

// TestAnApprovalAsAMovingPicture films the approval of a refund in the real console: what waits, the exact
// request, the reason, the decision, and the run's end. It is off unless a file is given.
func TestAnApprovalAsAMovingPicture(t *testing.T) {
	if *moving == "" || !started(t) {
		return
	}
	h := newFixture(t)
	s := h.furnish(t, "default", h.Admin)
	s.titled("refund.create", "Refund EUR {amount} for order {orderId}")
	s.all = s.As(s.admin.Post("/tokens", doc{"name": "refund agent", "roles": []string{"OPERATOR"}}).OK(t).At("token").Text())
	s.all.Put("/models/refund-agent", doc{"document": harness.Model("refund-agent")}).OK(t)
	s.receiver.On("POST", "/refunds", harness.Answering(201, `{"id":"re_9F27C1","state":"succeeded","amount":249.00}`))
	mara := newTab(t, s.Server)
	mara.signIn(s.mail("mara"))
	mara.do(chromedp.EmulateViewport(movingWidth, movingHeight))
	mara.prefers("light")
	run, _ := s.waiting(s.refund("refund-live", "A-48213", "LIVE"))
	f := film{tab: mara}
	mara.open("/")
	mara.sees("Refund order A-48213")
	f.shot(120)
	f.point("Review")
	f.shot(60)
	mara.press("main", "Review")
	mara.at("/approvals/")
	f.shot(240)
	f.scrollTo(`[name="reason"]`)
	f.types(`[name="reason"]`, "the item came back, undamaged")
	f.point("Approve and send")
	f.shot(80)
	mara.press("main", "Approve and send")
	mara.sees("Approved by you")
	s.reaches(run, "COMPLETED")
	f.shot(350)
	f.write(*moving)
}

// titled registers the shop anew, with a title for what a capability does.
func (s *stage) titled(capability, title string) {
	s.t.Helper()
	p := s.project()
	for _, c := range p["capabilities"].([]any) {
		if c := c.(doc); c["name"] == capability {
			c["title"] = title
		}
	}
	p["expectedRevision"] = 1
	s.admin.Put("/projects/"+s.shop(), p).OK(s.t)
	s.admin.Post("/projects/"+s.shop()+"/health-check", nil).OK(s.t)
	s.admin.Post("/projects/"+s.shop()+"/enable", doc{"expectedRevision": 2}).OK(s.t)
}

// film is a sequence of pictures of a tab.
type film struct {
	*tab
	shots []image.Image
	times []int // in hundredths of a second
}

// shot takes a picture, which is shown for so many hundredths of a second.
func (f *film) shot(time int) {
	f.t.Helper()
	shot, err := chromedp.Run(f.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		f.t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		f.t.Fatal(err)
	}
	f.shots, f.times = append(f.shots, picture), append(f.times, time)
}

// point shows the focus on a button or link with this text.
func (f *film) point(word string) {
	f.t.Helper()
	f.until("a button "+word, `(function () { var b = Array.from(document.querySelectorAll("main button, main a")).find(function (b) { return b.innerText.trim() === `+quoted(word)+` }); if (!b) return false; b.focus({focusVisible: true, preventScroll: true}); return true })()`)
}

// scrollTo scrolls down to an element in some steps.
func (f *film) scrollTo(selector string) {
	f.t.Helper()
	const steps = 6
	way := js[float64](f.tab, `Math.min(document.querySelector(`+quoted(selector)+`).getBoundingClientRect().bottom - 0.7 * innerHeight, document.documentElement.scrollHeight - innerHeight - scrollY)`)
	for range steps {
		f.do(chromedp.Evaluate[chromedp.Void](`window.scrollBy(0, ` + strconv.FormatFloat(way/steps, 'f', -1, 64) + `)`))
		f.shot(12)
	}
	f.shot(80)
}

// types fills a field some letters at a time.
func (f *film) types(selector, text string) {
	f.t.Helper()
	const letters = 4
	for end := letters; end < len(text)+letters; end += letters {
		f.fill(selector, text[:min(end, len(text))])
		f.shot(14)
	}
	f.shot(60)
}

// write stores the film as a GIF: each picture after the first has only the part that changes.
func (f *film) write(file string) {
	f.t.Helper()
	colors := paletteOf(f.shots)
	g := gif.GIF{Config: image.Config{ColorModel: colors, Width: movingWidth, Height: movingHeight}}
	var last *image.Paletted
	length := 0
	for i, shot := range f.shots {
		whole := image.NewPaletted(image.Rect(0, 0, movingWidth, movingHeight), colors)
		draw.Draw(whole, whole.Bounds(), shot, shot.Bounds().Min, draw.Src)
		g.Image, g.Delay, g.Disposal = append(g.Image, changed(last, whole)), append(g.Delay, f.times[i]), append(g.Disposal, gif.DisposalNone)
		last = whole
		length += f.times[i]
	}
	var out bytes.Buffer
	if err := gif.EncodeAll(&out, &g); err != nil {
		f.t.Fatal(err)
	}
	if out.Len() > heaviest || length < shortest || length > longest {
		f.t.Errorf("the moving picture has %d bytes and takes %d hundredths of a second", out.Len(), length)
	}
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		f.t.Fatal(err)
	}
	f.t.Logf("%d pictures, %d bytes, %d.%02d s", len(f.shots), out.Len(), length/100, length%100)
}

// changed is the smallest part of a picture outside of which it is as the last one.
func changed(last, now *image.Paletted) *image.Paletted {
	if last == nil {
		return now
	}
	var part image.Rectangle
	for y := range movingHeight {
		for x := range movingWidth {
			if last.ColorIndexAt(x, y) != now.ColorIndexAt(x, y) {
				part = part.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	if part.Empty() {
		part = image.Rect(0, 0, 1, 1)
	}
	return now.SubImage(part).(*image.Paletted)
}

// paletteOf has the 256 colors that the pictures have most often. Pages have few colors, and letters many shades
// between two of them.
func paletteOf(shots []image.Image) color.Palette {
	counts := map[color.RGBA]int{}
	for _, shot := range shots {
		b := shot.Bounds()
		for y := b.Min.Y; y < b.Max.Y; y++ {
			for x := b.Min.X; x < b.Max.X; x++ {
				counts[color.RGBAModel.Convert(shot.At(x, y)).(color.RGBA)]++
			}
		}
	}
	often := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	var colors color.Palette
	for _, c := range often[:min(256, len(often))] {
		colors = append(colors, c)
	}
	return colors
}
