package gateway

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/harness/provider"
)

// FuzzRequestHead holds a request that is let through to what net/http reads in the bytes that go on: two readers
// of one head must not see two requests.
func FuzzRequestHead(f *testing.F) {
	for _, s := range []string{
		"GET http://shop.test/ HTTP/1.1\r\nHost: shop.test\r\n\r\n",
		"\r\nPOST http://shop.test:81?a HTTP/1.0\nContent-Length: 3\nConnection: X, close\nX: y\n\n",
		"GET http://[::1]/ HTTP/1.1\r\nTransfer-Encoding: Chunked\r\nConnection: upgrade\r\nUpgrade: a\r\n\r\n",
		"CONNECT a:1 HTTP/1.1\r\nA:b\rc\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		raw, err := readHead(bufio.NewReader(bytes.NewReader(data)))
		if err != nil {
			return
		}
		h, err := parseRequest(raw)
		if err != nil {
			return
		}
		target, path, err := h.absolute()
		if err != nil || h.method == http.MethodConnect {
			return
		}
		out := requestHead(h, provider.Route{Kind: provider.Direct}, target, path)
		require.LessOrEqual(t, bytes.Count(out, []byte("\n")), bytes.Count(raw, []byte("\n"))+1) // Host may be added
		require.Equal(t, len(out)-4, bytes.Index(out, []byte("\r\n\r\n")), "one head, and no more")
		require.NotContains(t, strings.ToLower(string(out)), "\nproxy-")
		again, err := parseRequest(out)
		require.NoError(t, err)
		require.Equal(t, requestFraming(h), requestFraming(again))
	})
}

// FuzzConnectReply feeds the CONNECT client whatever a gateway may say.
func FuzzConnectReply(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\n\r\ntunnel", "HTTP/1.0 407 TRAFFIC_EXHAUSTED\r\nProxy Connection: x\r\n\r\n",
		"HTTP/1.1 100\r\n\r\nHTTP/1.1 502 x\r\nX-Fixture-Error: no_exit\r\nProxy-Status: a; error=dns_error\r\n\r\n",
		"HTTP/1.1 999\n\n", "HTTP/9", "\n\n\n",
	} {
		f.Add([]byte(s))
	}
	def, err := provider.Lookup("limpet-fixture")
	if err != nil {
		f.Fatal(err)
	}
	errs, err := provider.NewErrorCatalogue(def.Errors)
	if err != nil {
		f.Fatal(err)
	}
	route := provider.Route{Source: "s", Kind: provider.Connect, Errors: errs, ExitAddrHeader: def.ExitAddrHeader}
	f.Fuzz(func(t *testing.T, data []byte) {
		in := bufio.NewReader(bytes.NewReader(data))
		r := &record{}
		answer, flt := connect(io.Discard, in, r, route, "shop.test:443")
		if flt != nil {
			require.NotEmpty(t, flt.class)
			require.NotEmpty(t, flt.detail)
			return
		}
		require.True(t, answer.status >= 200 && answer.status <= 299)
		// What follows the head is the origin's, to the last byte.
		rest, err := io.ReadAll(in)
		require.NoError(t, err)
		require.True(t, bytes.HasSuffix(data, rest))
		require.Equal(t, byte('\n'), data[len(data)-len(rest)-1])
	})
}

// FuzzBody holds the copied body to net/http's reading of it.
func FuzzBody(f *testing.F) {
	f.Add([]byte("3\r\nabc\r\n0\r\n\r\nrest"))
	f.Add([]byte("0003;a=b\nabc\n0\nT: x\n\nrest"))
	f.Add([]byte("ffffffffffffffff\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var out bytes.Buffer
		err := copyBody(&out, bufio.NewReader(bytes.NewReader(data)), framing{kind: byChunks}, make([]byte, 16))
		require.True(t, bytes.HasPrefix(data, out.Bytes()), "nothing is changed on the way")
		if err != nil {
			return
		}
		r, err := http.ReadResponse(bufio.NewReader(io.MultiReader(
			strings.NewReader("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), &out)), nil)
		require.NoError(t, err)
		defer r.Body.Close()
		if _, err := io.ReadAll(r.Body); err != nil {
			require.NotErrorIs(t, err, io.ErrUnexpectedEOF, "ended before the body did")
		}
	})
}

func TestPeerTable(t *testing.T) {
	const table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n" +
		"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1\n" +
		"   1: 0100007F:A3F2 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 2\n"
	uid, ok := uidOf(bufio.NewScanner(strings.NewReader(table)), "0100007F:A3F2", "0100007F:1F90")
	require.True(t, ok)
	require.Equal(t, 1000, uid)
	_, ok = uidOf(bufio.NewScanner(strings.NewReader(table)), "0100007F:1F90", "0100007F:A3F2")
	require.False(t, ok)
}
