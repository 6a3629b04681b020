package trace_test

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/drivers"
	"github.com/limpet-dev/limpet/harness/trace"
)

// canaries are secrets of every kind that an attempt may meet, by where they are met.
func canaries() map[string]string {
	return map[string]string{
		"given, typed into a form":      "canary-typed-Zq81!x/&",
		"given, proxy password":         "canary:proxy@pass#Zq82",
		"request cookie":                "canarycookieZq83",
		"set-cookie":                    "canarysetcookieZq84",
		"authorization token":           "canarybearerZq85",
		"basic password":                "canarybasicZq86",
		"api key header":                "canaryapikeyZq87",
		"query parameter":               "canaryqueryZq88",
		"redirect target":               "canaryredirectZq89",
		"user info of an address":       "canaryuserinfoZq90",
		"password field of a page":      "canaryfieldZq91",
		"csrf field of a page":          "canarycsrfZq92",
		"member of a script's JSON":     "canaryscriptZq93",
		"parameter of a console line":   "canaryconsoleZq94",
		"error of a step":               "canaryerrorZq95",
		"member of the gateway's JSON":  "canarygatewayZq96",
		"address of a link":             "canarylinkZq97",
		"data attribute":                "canarydataZq98",
		"meta element":                  "canarymetaZq99",
		"json web token of a log line":  "eyJhbGciOiJIUzI1NiJ9.eyJjYW5hcnkiOiJacTcwIn0.canaryjwtZq70",
		"parameter of a step's address": "canarystepZq71",
	}
}

func poisoned() *trace.Recorder {
	c := canaries()
	rec := trace.NewRecorder(trace.Limits{})
	now := time.Now()
	basic := base64.StdEncoding.EncodeToString([]byte("ada:" + c["basic password"]))
	// The console says the cookie before any header has shown it.
	rec.Record(drivers.Event{Kind: drivers.EventConsole, At: now, Type: "log", Text: "cookie is " + c["request cookie"] + " token=" + c["parameter of a console line"]})
	step := rec.Begin("goto", map[string]string{"url": "https://shop.test/?session_id=" + c["parameter of a step's address"]})
	rec.Record(drivers.Event{
		Kind: drivers.EventRequest, At: now, RequestID: "1", Method: "GET", Type: "document", MainFrame: true,
		URL: "https://ada:" + c["user info of an address"] + "@shop.test/cb?access_token=" + c["query parameter"] + "&x=1",
		Header: drivers.Header{
			"cookie": "sid=" + c["request cookie"], "authorization": "Bearer " + c["authorization token"],
			"x-api-key": c["api key header"], "proxy-authorization": "Basic " + basic,
		},
	})
	rec.Record(drivers.Event{
		Kind: drivers.EventResponse, At: now.Add(40 * time.Millisecond), RequestID: "1", Status: 302, MIMEType: "text/html",
		Header: drivers.Header{"set-cookie": "sid=" + c["set-cookie"] + "; HttpOnly", "location": "/next?signature=" + c["redirect target"]},
	})
	rec.Record(drivers.Event{Kind: drivers.EventFinished, At: now.Add(50 * time.Millisecond), RequestID: "1", Bytes: 1200})
	rec.Record(drivers.Event{Kind: drivers.EventFailed, At: now, RequestID: "2", URL: "https://gate/" + c["given, proxy password"], Text: "net::ERR_TUNNEL_CONNECTION_FAILED " + c["basic password"]})
	rec.Record(drivers.Event{Kind: drivers.EventPageError, At: now, Text: "bad token " + c["authorization token"] + " or " + basic})
	rec.Record(drivers.Event{Kind: drivers.EventDialog, At: now, Type: "alert", Text: "hello " + c["set-cookie"]})
	rec.Record(drivers.Event{Kind: drivers.EventPopup, At: now, URL: "https://shop.test/?key=" + c["query parameter"]})
	rec.Record(drivers.Event{Kind: drivers.EventNavigated, At: now, MainFrame: true, URL: "https://shop.test/?sig=" + c["query parameter"]})
	rec.Log("refused " + c["json web token of a log line"])
	rec.End(step, errors.New("goto: Authorization: Bearer "+c["error of a step"]))
	fill := rec.Begin("fill", map[string]string{"selector": "#pass", "value": c["given, typed into a form"]})
	rec.End(fill, nil)
	rec.AttachHTML("dom", "text/html", []byte(`<!doctype html><html><head><title>Shop</title>
		<meta name="csrf-token" content="`+c["meta element"]+`"></head><body onload="alert(1)"><h1>Hello</h1>
		<form action="/login?token=`+c["address of a link"]+`"><input type="password" value="`+c["password field of a page"]+`">
		<input type="hidden" name="csrf_token" value="`+c["csrf field of a page"]+`"></form>
		<div data-access-token="`+c["data attribute"]+`" data-sitekey="public">typed `+c["given, typed into a form"]+` and `+c["set-cookie"]+`</div>
		<script>window.state = {"refreshToken":"`+c["member of a script's JSON"]+`"}</script>
		<p>cut here `+c["given, typed into a form"][:12]))
	return rec
}

func TestNoCanaryReachesAnArchive(t *testing.T) {
	c := canaries()
	path := filepath.Join(t.TempDir(), "traces", "job-1.zip")
	err := trace.Write(path, trace.Meta{
		Job: "job", Attempt: 1, Driver: "chromedp", Started: time.Now(), Failed: true,
		Verdict: map[string]any{"final_url": "https://shop.test/?token=" + c["query parameter"]},
		Gateway: []map[string]any{{"Detail": "auth " + c["given, proxy password"], "password": c["member of the gateway's JSON"]}},
	}, poisoned(), trace.NewRedactor([]string{c["given, typed into a form"], c["given, proxy password"]}))
	require.NoError(t, err)

	files := unzip(t, path)
	require.Subset(t, slices.Collect(maps.Keys(files)), []string{
		"trace.trace", "trace.network", "limpet/verdict.json", "limpet/gateway.json", "limpet/dom.html", "limpet/network.har", "limpet/meta.json",
	})
	for name, content := range files {
		for kind, secret := range c {
			for how, form := range disguises(t, secret) {
				require.NotContains(t, string(content), form, "%s: %s as %s", name, kind, how)
			}
		}
		require.NotContains(t, string(content), c["given, typed into a form"][:8], "%s: half a secret", name)
	}
	require.Contains(t, string(files["trace.network"]), "x=1", "what is no secret stays")
	require.Contains(t, string(files["limpet/dom.html"]), `data-sitekey="public"`)
	require.NotContains(t, string(files["limpet/dom.html"]), "onload")
}

func TestTheArchiveHasTheLinesOfTheFormat(t *testing.T) {
	rec := trace.NewRecorder(trace.Limits{})
	start := time.Now()
	step := rec.Begin("goto", map[string]string{"url": "https://shop.test/"})
	rec.Record(drivers.Event{Kind: drivers.EventNavigated, At: start, MainFrame: true, URL: "https://shop.test/"})
	// A redirect: the same request id asks twice.
	rec.Record(drivers.Event{Kind: drivers.EventRequest, At: start, RequestID: "1", Method: "GET", URL: "https://shop.test/a"})
	rec.Record(drivers.Event{Kind: drivers.EventResponse, At: start.Add(10 * time.Millisecond), RequestID: "1", Status: 302, Header: drivers.Header{"location": "/b"}})
	rec.Record(drivers.Event{Kind: drivers.EventRequest, At: start.Add(11 * time.Millisecond), RequestID: "1", Method: "GET", URL: "https://shop.test/b"})
	rec.Record(drivers.Event{Kind: drivers.EventResponse, At: start.Add(30 * time.Millisecond), RequestID: "1", Status: 200, MIMEType: "text/html"})
	rec.Record(drivers.Event{Kind: drivers.EventFinished, At: start.Add(35 * time.Millisecond), RequestID: "1", Bytes: 77})
	rec.AttachHTML("dom", "text/html", []byte(`<html lang=en><body class="a"><svg viewBox="0 0 1 1"></svg>Hi</body></html>`))
	rec.AttachScreenshot("end", "image/png", picture(t, 40, 30))
	rec.End(step, nil)
	running := rec.Begin("click", map[string]string{"selector": "#buy"})
	require.NotZero(t, running)

	path := filepath.Join(t.TempDir(), "j-1.zip")
	meta := trace.Meta{Job: "j", Attempt: 1, Outcome: "captcha: review", Failed: true, Started: start, Verdict: map[string]string{"class": "captcha"}}
	require.NoError(t, trace.Write(path, meta, rec, trace.NewRedactor(nil)))
	files := unzip(t, path)

	lines := jsonLines(t, files["trace.trace"])
	require.Equal(t, "context-options", lines[0]["type"])
	require.EqualValues(t, 8, lines[0]["version"])
	begun := map[string]bool{}
	kinds := map[string]int{}
	for _, l := range lines {
		kinds[l["type"].(string)]++
		id, _ := l["callId"].(string)
		switch l["type"] {
		case "before":
			begun[id] = true
		case "after", "log":
			require.True(t, begun[id], "the viewer needs %s to begin first", id)
		case "screencast-frame":
			require.EqualValues(t, 40, l["width"])
			require.Contains(t, files, "resources/"+l["sha1"].(string))
		}
	}
	require.Equal(t, 3, kinds["before"], "two steps and the verdict")
	require.Equal(t, 3, kinds["after"], "a running step ends where the archive does")
	require.Equal(t, 2, kinds["frame-snapshot"], "after the step and at the verdict")

	network := jsonLines(t, files["trace.network"])
	require.Len(t, network, 2)
	first, second := network[0]["snapshot"].(map[string]any), network[1]["snapshot"].(map[string]any)
	require.EqualValues(t, 302, first["response"].(map[string]any)["status"])
	require.EqualValues(t, 200, second["response"].(map[string]any)["status"])
	require.InDelta(t, 24, second["time"], 1)
	require.Contains(t, string(files["trace.trace"]), `["HTML",{"lang":"en"},["HEAD",{},["BASE",{"href":"https://shop.test/"}]`)
	require.Equal(t, files["limpet/screenshot.png"], picture(t, 40, 30))
}

func TestAnEmptyRecordingIsAnArchiveToo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j-1.zip")
	require.NoError(t, trace.Write(path, trace.Meta{Job: "j", Attempt: 1}, trace.NewRecorder(trace.Limits{}), trace.NewRedactor(nil)))
	require.Contains(t, unzip(t, path), "trace.trace")
}

func TestAPageThatNoParserTakesIsKeptWithoutItsSnapshot(t *testing.T) {
	rec := trace.NewRecorder(trace.Limits{})
	rec.AttachHTML("dom", "text/html", []byte(strings.Repeat("<div>", 5000)+"deep"))
	path := filepath.Join(t.TempDir(), "j-1.zip")
	require.NoError(t, trace.Write(path, trace.Meta{Job: "j", Attempt: 1}, rec, trace.NewRedactor(nil)))
	require.Contains(t, string(unzip(t, path)["limpet/dom.html"]), "deep")
}

func TestAFailedWriteLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	rec := trace.NewRecorder(trace.Limits{})
	err := trace.Write(filepath.Join(dir, "j-1.zip"), trace.Meta{Verdict: func() {}}, rec, trace.NewRedactor(nil))
	require.ErrorContains(t, err, "j-1.zip")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func unzip(t *testing.T, path string) map[string][]byte {
	t.Helper()
	z, err := zip.OpenReader(path)
	require.NoError(t, err)
	defer z.Close()
	files := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		require.NoError(t, err)
		files[f.Name], err = io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, r.Close())
	}
	return files
}

func jsonLines(t *testing.T, b []byte) []map[string]any {
	t.Helper()
	var lines []map[string]any
	for l := range bytes.Lines(b) {
		var v map[string]any
		require.NoError(t, json.Unmarshal(l, &v))
		lines = append(lines, v)
	}
	return lines
}

func picture(t *testing.T, width, height int) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			img.Set(x, y, color.RGBA{R: uint8(x * 255 / width), G: uint8(y * 255 / height), B: 120, A: 255})
		}
	}
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, img))
	return b.Bytes()
}

// A page of 2 MB, half of it script, is as large as the largest of the classifier's corpus.
func BenchmarkWriteLargePage(b *testing.B) {
	script := strings.Repeat(`{"sku":"a-1","price":12.5,"image":"https://cdn.shop.test/a.jpg?w=1&h=2","note":"plain text"},`, 10_000)
	body := strings.Repeat(`<div class="card" data-sku="a-1"><a href="/product/a-1?ref=list">Oak table</a><p>Plain text: solid oak.</p></div>`, 10_000)
	page := "<html><body><script>var s=[" + script + "]</script>" + body + "</body></html>"
	rec := trace.NewRecorder(trace.Limits{})
	rec.AttachHTML("dom", "text/html", []byte(page))
	red := trace.NewRedactor([]string{"one-secret", "another-secret"})
	path := filepath.Join(b.TempDir(), "t.zip")
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		if err := trace.Write(path, trace.Meta{}, rec, red); err != nil {
			b.Fatal(err)
		}
	}
}
