package drivertest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"log" //nolint:depguard // net/http takes no other logger
	"math/big"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A site is the origin behind every host name: plain, over TLS with a key that the browser is told to trust, and
// over TLS with one that it is not.
type site struct {
	plain, trusted, untrusted *httptest.Server

	spki string       // of the trusted key
	hits atomic.Int64 // requests that reached it
	stop chan struct{}
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{stop: make(chan struct{})}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.hits.Add(1)
		w.Header().Set("Cache-Control", "no-store")
		s.serve(w, r)
	})
	s.plain = newServer(handler)
	s.plain.Start()
	s.trusted = newServer(handler)
	s.trusted.StartTLS()
	s.untrusted = newServer(handler)
	s.untrusted.TLS = &tls.Config{Certificates: []tls.Certificate{newCertificate(t)}, MinVersion: tls.VersionTLS12}
	s.untrusted.StartTLS()
	hash := sha256.Sum256(s.trusted.Certificate().RawSubjectPublicKeyInfo)
	s.spki = base64.StdEncoding.EncodeToString(hash[:])
	t.Cleanup(func() {
		close(s.stop)
		for _, server := range []*httptest.Server{s.plain, s.trusted, s.untrusted} {
			server.CloseClientConnections()
			server.Close()
		}
	})
	return s
}

func newServer(h http.Handler) *httptest.Server {
	server := httptest.NewUnstartedServer(h)
	server.Config.ErrorLog = quiet()
	return server
}

// quiet drops what net/http has to say about connections that were cut on purpose.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// newCertificate signs itself.
func newCertificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"untrusted.test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// document writes an HTML page.
func document(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, "<!DOCTYPE html><html lang=en><head><title>Page</title></head><body>"+body+"</body></html>") //nolint:gosec // a site for tests
}

// hold waits until the client has gone or the test has ended.
func (s *site) hold(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-s.stop:
	}
}

// serve misbehaves as the path says.
func (s *site) serve(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if page, ok := pages[r.URL.Path]; ok {
		document(w, page)
		return
	}
	switch r.URL.Path {
	case "/ok":
		document(w, `<h1 id="marker">Fine</h1><a id="link" href="/ok?next">next</a>`)
	case "/headers":
		w.Header().Add("X-Twice", "one")
		w.Header().Add("X-Twice", "two")
		w.Header().Add("Set-Cookie", "first=1")
		w.Header().Add("Set-Cookie", "second=2; HttpOnly")
		document(w, "<p>headers</p>")
	case "/echo":
		document(w, fmt.Sprintf("<pre id=cookie>%s</pre><pre id=language>%s</pre><pre id=agent>%s</pre>",
			r.Header.Get("Cookie"), r.Header.Get("Accept-Language"), r.Header.Get("User-Agent")))
	case "/status":
		w.Header().Set("Content-Type", "text/html")
		code, _ := strconv.Atoi(query.Get("code"))
		w.WriteHeader(code)
		if body := query.Get("body"); body != "" {
			document(w, body)
		}
	case "/redirect":
		n, _ := strconv.Atoi(query.Get("n"))
		if n == 0 {
			document(w, "<h1>arrived</h1>")
			return
		}
		http.Redirect(w, r, fmt.Sprintf("/redirect?n=%d", n-1), http.StatusFound)
	case "/loop":
		n, _ := strconv.Atoi(query.Get("n"))
		http.Redirect(w, r, fmt.Sprintf("/loop?n=%d", n+1), http.StatusFound)
	case "/reset":
		reset(w)
	case "/cut":
		w.Header().Set("Content-Length", "100000")
		document(w, strings.Repeat("<p>half</p>", 100))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case "/never":
		s.hold(r)
	case "/drip":
		document(w, "<h1>begun</h1>")
		_ = http.NewResponseController(w).Flush()
		s.hold(r)
	case "/file.zip":
		w.Header().Set("Content-Type", "application/zip")
		w.Header().Set("Content-Disposition", `attachment; filename="report.zip"`)
		_, _ = io.WriteString(w, "PK\x03\x04 not really")
	case "/file.bin":
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write([]byte{0, 1, 2, 3})
	case "/cached.js":
		w.Header().Set("Cache-Control", "public, max-age=3600")
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = io.WriteString(w, "window.cached = true")
	case "/login":
		s.login(w, r)
	case "/huge":
		n, _ := strconv.Atoi(query.Get("kib"))
		document(w, strings.Repeat("<p>"+strings.Repeat("é", 508)+"</p>\n", n))
	default:
		http.NotFound(w, r)
	}
}

// login sets cookies of every sort and writes localStorage.
func (s *site) login(w http.ResponseWriter, r *http.Request) {
	value := r.URL.Query().Get("as")
	for _, c := range []*http.Cookie{
		{Name: "session", Value: value, Path: "/"},                                                   //nolint:gosec // every sort
		{Name: "hidden", Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode}, //nolint:gosec // every sort
		{Name: "lasting", Value: value, Path: "/", MaxAge: 3600, SameSite: http.SameSiteLaxMode},     //nolint:gosec // every sort
		{Name: "wide", Value: value, Path: "/", Domain: "shop.test"},                                 //nolint:gosec // every sort
	} {
		http.SetCookie(w, c)
	}
	document(w, `<script>localStorage.setItem("who", `+strconv.Quote(value)+`)</script><script src="/cached.js"></script>`)
}
