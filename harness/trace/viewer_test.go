package trace_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/drivers"
	"github.com/limpet-dev/limpet/drivers/chromedp"
	"github.com/limpet-dev/limpet/harness/trace"
)

// viewerFolder is where the Playwright driver package, which make sets up, keeps the trace viewer.
const viewerFolder = "../../drivers/playwright/node/node_modules/playwright-core/lib/vite/traceViewer"

// seen reads everything that the viewer shows, the page inside and its shadow roots included, once the page is there.
const seen = `new Promise((resolve) => {
  const read = (d) => d.body.innerText +
    [...d.querySelectorAll("*")].map((e) => e.shadowRoot ? e.shadowRoot.textContent : "").join("") +
    [...d.querySelectorAll("iframe")].map((f) => f.contentDocument ? read(f.contentDocument) : "").join("")
  const started = Date.now()
  const look = () => {
    const text = read(document)
    if (text.includes("in the shadow") || Date.now() - started > 15000) resolve(text)
    else setTimeout(look, 100)
  }
  look()
})`

func TestTheViewerShowsTheArchive(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a browser")
	}
	if _, err := os.Stat(viewerFolder); err != nil {
		t.Skip("the Playwright driver package is not set up")
	}
	archive := filepath.Join(t.TempDir(), "t.zip")
	require.NoError(t, trace.Write(archive, trace.Meta{
		Title: "price-a-1 attempt 1", Outcome: "captcha (cloudflare): review", Failed: true, Verdict: map[string]string{"class": "captcha"},
	}, walled(t), trace.NewRedactor(nil)))
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(viewerFolder)))
	mux.HandleFunc("/t.zip", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, archive) })
	viewer := httptest.NewServer(mux)
	defer viewer.Close()

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	page := browse(ctx, t, viewer.URL)
	_, err := page.Goto(ctx, viewer.URL+"/index.html?trace="+url.QueryEscape(viewer.URL+"/t.zip"))
	require.NoError(t, err)
	require.NoError(t, page.WaitVisible(ctx, ".action-title"))
	require.NoError(t, page.Evaluate(ctx, `[...document.querySelectorAll(".action-title")].at(-1).click()`, nil))
	var text string
	require.NoError(t, page.Evaluate(ctx, seen, &text))
	for _, want := range []string{
		"price-a-1 attempt 1", "goto https://shop.test/product/a-1", "wait #price", "captcha (cloudflare): review",
		"Checking your browser", "in the shadow",
	} {
		require.Contains(t, text, want)
	}
}

// walled is a recording of an attempt that ended at a wall.
func walled(t *testing.T) *trace.Recorder {
	t.Helper()
	rec := trace.NewRecorder(trace.Limits{})
	step := rec.Begin("goto", map[string]string{"url": "https://shop.test/product/a-1"})
	rec.Record(drivers.Event{Kind: drivers.EventRequest, RequestID: "1", Method: "GET", Type: "document", URL: "https://shop.test/product/a-1"})
	rec.Record(drivers.Event{Kind: drivers.EventResponse, RequestID: "1", Status: 403, MIMEType: "text/html", Header: drivers.Header{"server": "edge"}})
	rec.Record(drivers.Event{Kind: drivers.EventNavigated, MainFrame: true, URL: "https://shop.test/product/a-1"})
	rec.Record(drivers.Event{Kind: drivers.EventConsole, Type: "error", Text: "Failed to load resource: 403"})
	rec.End(step, nil)
	step = rec.Begin("wait", map[string]string{"selector": "#price"})
	rec.End(step, errors.New("no element matched within 1 s"))
	rec.AttachHTML("dom", "text/html", []byte(`<!doctype html><title>Just a moment</title><body><h1>Checking your browser</h1>
		<div><template shadowrootmode="open"><p>in the shadow</p></template></div><script>document.body.remove()</script>`))
	rec.AttachScreenshot("end", "image/png", picture(t, 320, 180))
	return rec
}

// browse opens a page whose only way out leads to the server at base.
func browse(ctx context.Context, t *testing.T, base string) drivers.Page {
	t.Helper()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.String(), base) {
			http.Error(w, "not ours", http.StatusForbidden)
			return
		}
		r.RequestURI = ""
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer answer.Body.Close()
		maps.Copy(w.Header(), answer.Header)
		w.WriteHeader(answer.StatusCode)
		_, _ = io.Copy(w, answer.Body) // a browser that leaves early is no failure
	}))
	t.Cleanup(proxy.Close)
	executable, err := drivers.FindExecutable("")
	require.NoError(t, err)
	b, err := chromedp.New().Launch(ctx, drivers.LaunchOptions{Executable: executable})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close(context.WithoutCancel(ctx))) })
	c, err := b.NewContext(ctx, drivers.ContextOptions{Proxy: strings.TrimPrefix(proxy.URL, "http://")})
	require.NoError(t, err)
	page, err := c.NewPage(ctx)
	require.NoError(t, err)
	return page
}
