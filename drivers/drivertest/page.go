package drivertest

import (
	"bytes"
	"image"
	"image/png"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/drivers"
)

func itoa(n int) string { return strconv.Itoa(n) }

// snapshot visits a path, lets it settle and reads it.
func (s *suite) snapshot(t *testing.T, path string, maxBytes int) *drivers.Snapshot {
	t.Helper()
	v := s.open(t)
	v.visit(t, "http://shop.test"+path)
	_, err := v.Settle(within(t, patience), drivers.SettleOptions{})
	require.NoError(t, err)
	snapshot, err := v.Snapshot(within(t, patience), maxBytes)
	require.NoError(t, err)
	require.True(t, utf8.ValidString(snapshot.HTML))
	return snapshot
}

func (s *suite) testSnapshots(t *testing.T) {
	t.Helper()
	t.Run("of a plain page", func(t *testing.T) {
		got := s.snapshot(t, "/ok", 0)
		require.Equal(t, "http://shop.test/ok", got.URL)
		require.Equal(t, "Page", got.Title)
		require.Equal(t, "en", got.Lang)
		require.Equal(t, "text/html", got.ContentType)
		require.True(t, strings.HasPrefix(got.HTML, "<!DOCTYPE html>\n<html lang=\"en\">"), got.HTML)
		require.Contains(t, got.HTML, `<h1 id="marker">Fine</h1>`)
		require.Len(t, got.HTML, got.HTMLBytes)
		require.False(t, got.Truncated)
		require.False(t, got.ErrorPage)
		require.Equal(t, "Fine next", strings.Join(strings.Fields(got.VisibleText), " "))
		require.Equal(t, len("Fine next"), got.VisibleLen)
		require.Empty(t, got.Frames)
	})
	t.Run("with shadow trees and frames", func(t *testing.T) {
		got := s.snapshot(t, "/shadow", 0)
		require.Contains(t, got.HTML, `<article id="card"><template shadowrootmode="open"><p class="price">19.99 inside</p>`)
		require.Contains(t, got.HTML, `<div id="deep"><template shadowrootmode="open"><b>deeper still</b></template></div>`)
		require.True(t, strings.HasSuffix(got.HTML, "</body></html>"), got.HTML)
		require.Equal(t, 1, strings.Count(got.VisibleText, "19.99 inside"), got.VisibleText)
		require.Equal(t, 1, strings.Count(got.VisibleText, "deeper still"), got.VisibleText)
		require.Len(t, got.Frames, 2)
		require.Equal(t, "http://shop.test/frame", got.Frames[0].URL)
		require.True(t, got.Frames[0].Visible)
		require.InDelta(t, 300, got.Frames[0].Width, 10)
		require.Contains(t, got.Frames[0].HTML, "framed words")
		require.False(t, got.Frames[1].Visible)
	})
	t.Run("of a huge page is cut", func(t *testing.T) {
		got := s.snapshot(t, "/huge?kib=3000", 1<<20)
		require.True(t, got.Truncated)
		require.LessOrEqual(t, len(got.HTML), 1<<20)
		require.Greater(t, len(got.HTML), 1<<20-4)
		require.InDelta(t, 3000<<10, got.HTMLBytes, 16<<10)
		require.LessOrEqual(t, utf8.RuneCountInString(got.VisibleText), 64<<10)
		require.Greater(t, got.VisibleLen, 1<<20)
	})
	t.Run("of a deep page", func(t *testing.T) {
		require.Contains(t, s.snapshot(t, "/nested", 0).VisibleText, "the bottom")
	})
	t.Run("of an empty page", func(t *testing.T) {
		v := s.open(t)
		got, err := v.Snapshot(within(t, patience), 0)
		require.NoError(t, err)
		require.Equal(t, "about:blank", got.URL)
		require.Empty(t, got.VisibleText)
	})
}

func (s *suite) testActions(t *testing.T) {
	t.Helper()
	v := s.open(t)
	log := func(t *testing.T) string {
		t.Helper()
		return eval[string](t, v, "(() => { const l = document.querySelector('#log'), s = l.textContent; l.textContent = ''; return s; })()")
	}
	v.visit(t, "http://shop.test/form")
	for name, c := range map[string]struct{ selector, want string }{
		"a button, as a person would":         {"#go", "go true\n"},
		"an element that is shown later":      {"#late", "late\n"},
		"an element in a shadow tree":         {"#inner", "inner\n"},
		"an element below the fold, scrolled": {"#far", "far\n"},
	} {
		t.Run("click "+name, func(t *testing.T) {
			require.NoError(t, v.Click(within(t, patience), c.selector))
			require.Equal(t, c.want, log(t))
		})
	}
	t.Run("hover", func(t *testing.T) {
		require.NoError(t, v.Hover(within(t, patience), "#hover"))
		require.Contains(t, log(t), "hover\n")
	})
	t.Run("fill fires input and change", func(t *testing.T) {
		require.NoError(t, v.Fill(within(t, patience), "#name", "Ada \"quoted\" ü"))
		require.Equal(t, "Ada \"quoted\" ü", eval[string](t, v, "document.querySelector('#name').value"))
		require.Equal(t, "input\nchange\n", log(t))
		require.NoError(t, v.Fill(within(t, patience), "#name", ""))
		require.Empty(t, eval[string](t, v, "document.querySelector('#name').value"))
		require.NoError(t, v.Fill(within(t, patience), "#note", "two\nlines"))
		require.Equal(t, "two\nlines", eval[string](t, v, "document.querySelector('#note').value"))
		require.NoError(t, v.Fill(within(t, patience), "#rich", "new"))
		require.Equal(t, "new", eval[string](t, v, "document.querySelector('#rich').textContent"))
		require.NoError(t, v.Fill(within(t, patience), "#day", "2026-12-24"))
		log(t)
	})
	t.Run("select by value and by label", func(t *testing.T) {
		require.NoError(t, v.Select(within(t, patience), "#size", "m"))
		require.Equal(t, "m", eval[string](t, v, "document.querySelector('#size').value"))
		require.NoError(t, v.Select(within(t, patience), "#size", "Small"))
		require.Equal(t, "s", eval[string](t, v, "document.querySelector('#size').value"))
		require.NoError(t, v.Select(within(t, patience), "#many", "a", "C"))
		require.Equal(t, "a,c", eval[string](t, v, "[...document.querySelector('#many').selectedOptions].map(o => o.value).join()"))
		require.Equal(t, "size\nsize\n", log(t))
	})
	t.Run("press types, edits and submits", func(t *testing.T) {
		require.NoError(t, v.Press(within(t, patience), "#name", "a"))
		require.NoError(t, v.Press(within(t, patience), "", "B"))
		require.Equal(t, "aB", eval[string](t, v, "document.querySelector('#name').value"))
		require.NoError(t, v.Press(within(t, patience), "", "Backspace"))
		require.Equal(t, "a", eval[string](t, v, "document.querySelector('#name').value"))
		log(t)
		require.NoError(t, v.Press(within(t, patience), "#name", "Enter"))
		require.Contains(t, log(t), "submit\n")
		require.NoError(t, v.Press(within(t, patience), "#name", "Tab"))
		require.Equal(t, "note", eval[string](t, v, "document.activeElement.id"))
		require.Error(t, v.Press(within(t, patience), "#name", "NoSuchKey"))
	})
	t.Run("scroll", func(t *testing.T) {
		require.NoError(t, v.Scroll(within(t, patience), "", 0, -10000))
		require.NoError(t, v.Scroll(within(t, patience), "", 0, 500))
		require.Equal(t, 500, eval[int](t, v, "scrollY"))
		require.NoError(t, v.Scroll(within(t, patience), "#far", 0, 0))
		require.True(t, eval[bool](t, v, "document.querySelector('#far').getBoundingClientRect().bottom <= innerHeight"))
	})
	for name, c := range map[string]struct {
		act  func() error
		want string
	}{
		"nothing matches":      {func() error { return v.Click(within(t, 2*time.Second), "#nowhere") }, "no element matches"},
		"it is disabled":       {func() error { return v.Click(within(t, 2*time.Second), "#off") }, "disabled"},
		"something covers it":  {func() error { return v.Click(within(t, 2*time.Second), "#under") }, "covered by div#cover"},
		"it takes no text":     {func() error { return v.Fill(within(t, 2*time.Second), "#check", "x") }, "checkbox"},
		"it is read-only":      {func() error { return v.Fill(within(t, 2*time.Second), "#readonly", "x") }, "read-only"},
		"it is no date":        {func() error { return v.Fill(within(t, 2*time.Second), "#day", "hunter2") }, "valid date"},
		"there is no option":   {func() error { return v.Select(within(t, 2*time.Second), "#size", "XXL") }, "XXL"},
		"an option is off":     {func() error { return v.Select(within(t, 2*time.Second), "#size", "l") }, "disabled"},
		"it takes one option":  {func() error { return v.Select(within(t, 2*time.Second), "#size", "s", "m") }, "one option"},
		"nothing can be shown": {func() error { return v.Scroll(within(t, 2*time.Second), "#nowhere", 0, 0) }, "no element matches"},
	} {
		t.Run("an action says why not: "+name, func(t *testing.T) {
			requirePrompt(t, func() {
				err := c.act()
				e := failure(t, drivers.Element, err)
				require.ErrorContains(t, err, c.want)
				require.NotContains(t, err.Error(), "hunter2")
				require.NotEmpty(t, e.What)
			})
		})
	}
	t.Run("a selector that is none is a script error", func(t *testing.T) {
		requireKind(t, drivers.Script, v.Click(within(t, patience), "a[["))
	})
}

func (s *suite) testWaits(t *testing.T) {
	t.Helper()
	v := s.open(t)
	t.Run("for an element that shows later", func(t *testing.T) {
		v.visit(t, "http://shop.test/form")
		require.NoError(t, v.WaitVisible(within(t, patience), "#late"))
	})
	t.Run("for an element of the next document", func(t *testing.T) {
		v.visit(t, "http://shop.test/hop")
		require.NoError(t, v.WaitVisible(within(t, patience), "#marker"))
	})
	t.Run("for an element that never shows", func(t *testing.T) {
		requirePrompt(t, func() {
			err := v.WaitVisible(within(t, 2*time.Second), "#none")
			e := failure(t, drivers.Element, err)
			require.Equal(t, "#none", e.What)
		})
	})
	t.Run("for an address that a script sets", func(t *testing.T) {
		v.visit(t, "http://shop.test/push")
		require.NoError(t, v.WaitURL(within(t, patience), "http://shop.test/pushed?*"))
		require.Equal(t, "http://shop.test/pushed?x=1", eval[string](t, v, "location.href"))
	})
	t.Run("for an address in the next document", func(t *testing.T) {
		v.visit(t, "http://shop.test/hop")
		require.NoError(t, v.WaitURL(within(t, patience), "*hopped"))
	})
	t.Run("for an address that never comes", func(t *testing.T) {
		requirePrompt(t, func() {
			err := v.WaitURL(within(t, 2*time.Second), "*/nowhere")
			requireKind(t, drivers.Timeout, err)
		})
	})
}

func (s *suite) testEvaluate(t *testing.T) {
	t.Helper()
	v := s.open(t)
	v.visit(t, "http://shop.test/ok")
	type pair struct {
		A int
		B []string
	}
	require.Equal(t, pair{1, []string{"x", "ü"}}, eval[pair](t, v, "({a: 1, b: ['x', 'ü']})"))
	require.Equal(t, "later", eval[string](t, v, "new Promise(done => setTimeout(done, 50, 'later'))"))
	require.Equal(t, 3, eval[int](t, v, "(async () => 3)()"))
	require.Nil(t, eval[any](t, v, "null"))
	require.NoError(t, v.Evaluate(within(t, patience), "undefined", nil))
	require.NoError(t, v.Evaluate(within(t, patience), "document.body", nil))
	for name, expression := range map[string]string{
		"throws":              "(() => { throw new Error('it broke'); })()",
		"rejects":             "Promise.reject(new Error('it broke'))",
		"is no script":        "this is no it broke script",
		"throws what is none": "(() => { throw 'it broke'; })()",
	} {
		t.Run("a script that "+name, func(t *testing.T) {
			err := v.Evaluate(within(t, patience), expression, nil)
			requireKind(t, drivers.Script, err)
			if name != "is no script" {
				require.ErrorContains(t, err, "it broke")
			}
		})
	}
	t.Run("a value of another type", func(t *testing.T) {
		var n int
		requireKind(t, drivers.Script, v.Evaluate(within(t, patience), "'text'", &n))
	})
}

func (s *suite) testScreenshots(t *testing.T) {
	t.Helper()
	shoot := func(t *testing.T, path string, full bool) image.Config {
		t.Helper()
		v := s.openWith(t, s.browser, drivers.ContextOptions{Viewport: drivers.Size{Width: 400, Height: 300}})
		v.visit(t, "http://shop.test"+path)
		data, err := v.Screenshot(within(t, patience), full)
		require.NoError(t, err)
		config, err := png.DecodeConfig(bytes.NewReader(data))
		require.NoError(t, err)
		return config
	}
	t.Run("of the viewport", func(t *testing.T) {
		config := shoot(t, "/tall", false)
		require.Equal(t, [2]int{400, 300}, [2]int{config.Width, config.Height})
	})
	t.Run("of the document", func(t *testing.T) {
		require.Greater(t, shoot(t, "/form", true).Height, 3000)
	})
	t.Run("of a document that is too tall", func(t *testing.T) {
		require.Equal(t, drivers.MaxScreenshotSide, shoot(t, "/tall", true).Height)
	})
}
