package playwright

import (
	"maps"
	"strconv"
	"strings"
	"sync"

	pw "github.com/mxschmitt/playwright-go"

	"github.com/limpet-dev/limpet/drivers"
)

// listen attaches to everything that the context tells, before its first page exists. The handlers run on the
// library's one reading goroutine: they note, enqueue, and never ask the library anything.
func (c *Context) listen() {
	c.context.OnPage(c.onPage)
	c.context.OnDialog(c.onDialog)
	c.context.OnRequest(c.onRequest)
	c.context.OnResponse(c.onResponse)
	c.context.OnRequestFailed(c.onFailed)
	c.context.OnRequestFinished(c.onFinished)
	if c.queue.sink == nil {
		return
	}
	c.context.OnConsole(func(m pw.ConsoleMessage) {
		c.queue.put(drivers.Event{Kind: drivers.EventConsole, Type: m.Type(), Text: m.Text()}, nil)
	})
	c.context.OnWebError(func(e pw.WebError) {
		event := drivers.Event{Kind: drivers.EventPageError, Text: clean(e.Error().Error())}
		if page := e.Page(); page != nil {
			event.URL = page.URL()
		}
		c.queue.put(event, nil)
	})
}

// onPage notes a page that nobody has claimed yet.
func (c *Context) onPage(lib pw.Page) {
	c.mu.Lock()
	c.unclaimed = append(c.unclaimed, lib)
	popups := c.popups()
	c.mu.Unlock()
	c.dismiss(popups)
}

// onDialog leaves a page that asks whether to, and dismisses every other dialog. The library runs this handler on
// a goroutine of its own.
func (c *Context) onDialog(d pw.Dialog) {
	event := drivers.Event{Kind: drivers.EventDialog, Type: d.Type(), Text: d.Message()}
	if page := d.Page(); page != nil {
		event.URL = page.URL()
	}
	c.queue.put(event, nil)
	c.calls.spawn(func() {
		_, _ = guarded(void(func() error {
			if d.Type() == "beforeunload" {
				return d.Accept()
			}
			return d.Dismiss()
		}))
	})
}

func (c *Context) onRequest(r pw.Request) {
	page, main, hidden := c.place(r)
	if hidden {
		return
	}
	if page != nil && main {
		page.nav.started(r)
	}
	c.queue.put(drivers.Event{
		Kind: drivers.EventRequest, RequestID: c.tags.of(r), Method: r.Method(), URL: r.URL(), Type: r.ResourceType(),
		Header: maps.Clone(r.Headers()), MainFrame: main,
	}, nil)
}

func (c *Context) onResponse(resp pw.Response) {
	r := resp.Request()
	page, main, hidden := c.place(r)
	if hidden {
		return
	}
	if page != nil && main {
		page.nav.answered(resp)
	}
	header := resp.Headers()
	c.queue.put(drivers.Event{
		Kind: drivers.EventResponse, RequestID: c.tags.of(r), Method: r.Method(), URL: resp.URL(), Type: r.ResourceType(),
		Status: resp.Status(), Header: maps.Clone(header), MIMEType: mimeType(header), MainFrame: main,
	}, nil)
}

func (c *Context) onFinished(r pw.Request) {
	page, main, hidden := c.place(r)
	if hidden {
		return
	}
	if page != nil && main {
		page.nav.finished(r)
	}
	event := drivers.Event{
		Kind: drivers.EventFinished, RequestID: c.tags.drop(r), Method: r.Method(), URL: r.URL(), Type: r.ResourceType(),
		MainFrame: main,
	}
	resp, err := r.ExistingResponse()
	if err != nil || resp == nil {
		c.queue.put(event, nil)
		return
	}
	event.Status = resp.Status()
	if n, err := strconv.ParseInt(resp.Headers()["content-length"], 10, 64); err == nil {
		event.Bytes = n // saves a question for each request
		c.queue.put(event, nil)
		return
	}
	c.queue.put(event, func(e *drivers.Event) { e.Bytes = bodyBytes(r) })
}

func (c *Context) onFailed(r pw.Request) {
	page, main, hidden := c.place(r)
	if hidden {
		return
	}
	text := ""
	if failure := r.Failure(); failure != nil {
		text = failure.Error()
	}
	if page != nil && main {
		page.nav.failed(r, text)
	}
	c.queue.put(drivers.Event{
		Kind: drivers.EventFailed, RequestID: c.tags.drop(r), Method: r.Method(), URL: r.URL(), Type: r.ResourceType(),
		Text: text, MainFrame: main,
	}, nil)
}

// place says where a request comes from: a page of ours, if it is one, and whether it asks for a main document. The
// requests of pages that serve the driver itself are hidden.
func (c *Context) place(r pw.Request) (page *Page, main, hidden bool) {
	frame := r.Frame()
	if frame == nil { // a service worker, or a popup whose page is not known yet
		return nil, r.IsNavigationRequest(), false
	}
	lib := frame.Page()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pages[lib], r.IsNavigationRequest() && frame.ParentFrame() == nil, c.own[lib]
}

// bodyBytes asks how many bytes the body of a finished request took on the wire; 0 if nobody knows any more.
func bodyBytes(r pw.Request) int64 {
	sizes, err := guarded(r.Sizes)
	if err != nil || sizes == nil {
		return 0
	}
	return int64(sizes.ResponseBodySize)
}

// mimeType is the media type of a response without its parameters.
func mimeType(header map[string]string) string {
	media, _, _ := strings.Cut(header["content-type"], ";")
	return strings.ToLower(strings.TrimSpace(media))
}

// tags numbers the requests of a context while they live, to pair their events.
type tags struct {
	mu   sync.Mutex
	next int
	ids  map[pw.Request]string
}

// of gives the number of a request, a new one the first time.
func (t *tags) of(r pw.Request) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ids == nil {
		t.ids = map[pw.Request]string{}
	}
	id, ok := t.ids[r]
	if !ok {
		t.next++
		id = strconv.Itoa(t.next)
		t.ids[r] = id
	}
	return id
}

// drop gives the number of a request and forgets it.
func (t *tags) drop(r pw.Request) string {
	id := t.of(r)
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.ids, r)
	return id
}
