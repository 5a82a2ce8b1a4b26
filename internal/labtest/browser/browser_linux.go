package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"netdelta/internal/labtest"
)

// Page is a browser's only tab.
type Page struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	errors   []string
	requests []string
	saved    chan browser.DownloadProgressState
}

// names are what the program is called on one system or another.
var names = []string{"chromium", "chromium-browser", "google-chrome"}

// New starts a browser that lasts until the test ends. It skips the test where there is
// none.
func New(t testing.TB) *Page {
	t.Helper()
	path := ""
	for _, name := range names {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		labtest.Skip(t, fmt.Errorf("there is no browser on PATH: %s", strings.Join(names, ", ")))
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.Flag("no-sandbox", true), chromedp.Flag("disable-gpu", true),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.UserDataDir(t.TempDir()))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	// The browser's own end, before its folder is removed.
	t.Cleanup(func() { _ = chromedp.Cancel(ctx) })
	p := &Page{t: t, ctx: ctx, saved: make(chan browser.DownloadProgressState, 100)}
	if err := errors.Join(chromedp.Listen(ctx, p.hear), chromedp.ListenBrowser(ctx, p.hear)); err != nil {
		t.Fatal(err)
	}
	p.Do(call(network.Enable, network.EnableParams{}), call(runtime.Enable, cdp.Empty{}), call(log.Enable, cdp.Empty{}))
	return p
}

// call is a command of the browser's as something to do.
func call[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	})
}

// hear keeps what the page says and asks for.
func (p *Page) hear(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.errors = append(p.errors, fmt.Sprintf("line %d: %s", e.ExceptionDetails.LineNumber, e.ExceptionDetails.Text))
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" {
			p.errors = append(p.errors, fmt.Sprintf("console.%s", e.Type))
		}
	case *log.EventEntryAdded:
		// What the browser itself says: of a breach of the page's policy, above all. A
		// status that is no success is an answer, and for the test to judge.
		if e.Entry.Source != "network" && (e.Entry.Level == "error" || e.Entry.Level == "warning") {
			p.errors = append(p.errors, fmt.Sprintf("%s: %s", e.Entry.Source, e.Entry.Text))
		}
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	case *browser.EventDownloadProgress:
		select {
		case p.saved <- e.State:
		default:
		}
	}
}

// patience is how long anything may take on a busy machine.
const patience = time.Minute

// Do does things to the page, and fails the test where one fails.
func (p *Page) Do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := p.limited()
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// limited is the tab's context with an end. The first use of a tab must not have one.
func (p *Page) limited() (context.Context, context.CancelFunc) {
	return context.WithTimeout(p.ctx, patience)
}

// Open goes to an address in a window of that width, and waits until the page is there.
func (p *Page) Open(url string, width int64) {
	p.t.Helper()
	p.Do(chromedp.EmulateViewport(width, 900), chromedp.Navigate(url), chromedp.WaitReady("body"))
}

// Click clicks on what a selector finds, and Press types a key while that has the focus.
func (p *Page) Click(selector string) { p.t.Helper(); p.Do(chromedp.Click(selector)) }

// Press types keys.
func (p *Page) Press(selector, keys string) {
	p.t.Helper()
	p.Do(chromedp.Focus(selector), chromedp.SendKeys(selector, keys))
}

// Eval is what an expression of the page's is, or what it promises.
func Eval[T any](p *Page, expression string) T {
	p.t.Helper()
	ctx, cancel := p.limited()
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// Await waits until something that a selector finds is seen, on this page or the next.
func (p *Page) Await(selector string) { p.t.Helper(); p.Do(chromedp.WaitVisible(selector)) }

// Complaints are what the page and the browser have said against it until now.
func (p *Page) Complaints() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.errors)
}

// Quiet fails the test if the page complained of anything, or asked for what does not
// begin with one of these.
func (p *Page) Quiet(allowed ...string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.errors {
		p.t.Errorf("the page complains: %s", e)
	}
	for _, url := range p.requests {
		ours := false
		for _, a := range append(allowed, "data:", "blob:", "about:") {
			ours = ours || strings.HasPrefix(url, a)
		}
		if !ours {
			p.t.Errorf("the page asks for %s", url)
		}
	}
}

// Dark has the page believe that the system is dark, or light; Print that it is on
// paper; Scripts that it may run scripts, or none.
func (p *Page) Dark(dark bool) {
	p.t.Helper()
	scheme := map[bool]string{true: "dark", false: "light"}[dark]
	p.Do(call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}))
}

// Print shows the page as on paper.
func (p *Page) Print() {
	p.t.Helper()
	p.Do(call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}))
}

// Scripts lets pages run scripts, or keeps them from it.
func (p *Page) Scripts(run bool) {
	p.t.Helper()
	p.Do(call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !run}))
}

// PDF is the page on paper.
func (p *Page) PDF() []byte {
	p.t.Helper()
	ctx, cancel := p.limited()
	defer cancel()
	data, err := chromedp.Run(ctx, chromedp.PrintToPDF())
	if err != nil {
		p.t.Fatal(err)
	}
	return data
}

// Save clicks on what saves a file of that name, and returns what was saved.
func (p *Page) Save(selector, name string) []byte {
	p.t.Helper()
	folder := p.t.TempDir()
	yes := true
	p.Do(call(browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{Behavior: "allow", DownloadPath: folder, EventsEnabled: &yes}))
	p.Click(selector)
	late := time.After(patience)
	for {
		select {
		case state := <-p.saved:
			if state == "inProgress" {
				continue
			}
			data, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil {
				p.t.Fatalf("the download is %s: %v", state, err)
			}
			return data
		case <-late:
			p.t.Fatalf("%s was not saved in %v", name, patience)
		}
	}
}
