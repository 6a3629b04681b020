package playwright

import (
	"context"

	pw "github.com/mxschmitt/playwright-go"

	"github.com/limpet-dev/limpet/drivers"
	"github.com/limpet-dev/limpet/drivers/script"
)

// storage reads the localStorage of one origin in a tab of our own, whose requests are answered here: nothing leaves
// the machine. The library's own export would open every origin that the context has ever seen.
func (c *Context) storage(ctx context.Context, origin string) (map[string]string, error) {
	const op = "state"
	lib, err := c.open(ctx, func(lib pw.Page) { c.own[lib] = true })
	if err != nil {
		return nil, c.explain(ctx, op, origin, err)
	}
	p := newPage(c, lib)
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
		defer cancel()
		_ = p.Close(ctx) // or else with the context
	}()
	if _, err := call(ctx, &p.calls, p.crashed, func() (pw.Response, error) {
		if err := lib.Route("**/*", answerEmpty); err != nil {
			return nil, err
		}
		return lib.Goto(origin, pw.PageGotoOptions{WaitUntil: pw.WaitUntilStateDomcontentloaded, Timeout: timeout(ctx)})
	}); err != nil {
		return nil, p.explain(ctx, op, origin, err)
	}
	items := map[string]string{}
	return items, p.run(ctx, op, script.ReadStorage(), &items)
}

// answerEmpty answers a request with an empty page. The library runs it on a goroutine of its own.
func answerEmpty(route pw.Route) {
	_ = route.Fulfill(pw.RouteFulfillOptions{ContentType: new("text/html"), Body: "<!doctype html>"})
}

// toOrigins translates localStorage for a new context.
func toOrigins(origins []drivers.OriginStorage) *pw.OptionalStorageState {
	if len(origins) == 0 {
		return nil
	}
	state := &pw.OptionalStorageState{Cookies: []pw.OptionalCookie{}}
	for _, o := range origins {
		origin := pw.Origin{Origin: o.Origin, LocalStorage: make([]pw.NameValue, 0, len(o.LocalStorage))}
		for name, value := range o.LocalStorage {
			origin.LocalStorage = append(origin.LocalStorage, pw.NameValue{Name: name, Value: value})
		}
		state.Origins = append(state.Origins, origin)
	}
	return state
}
