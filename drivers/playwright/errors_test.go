package playwright //nolint:testpackage // the translation of library errors is a pure function and not exported

import (
	"errors"
	"fmt"
	"testing"

	pw "github.com/mxschmitt/playwright-go"
	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/drivers"
)

// The texts are those of playwright-core 1.64.1 through playwright-go v0.6401.0.
func TestReadTellsLibraryErrorsApart(t *testing.T) {
	library := func(text string) error { return fmt.Errorf("%w: %w", pw.ErrPlaywright, errors.New(text)) }
	late := func(text string) error { return fmt.Errorf("%w: %w: %s", pw.ErrPlaywright, pw.ErrTimeout, text) }
	for name, c := range map[string]struct {
		err  error
		want fault
	}{
		"a network error": {
			library("net::ERR_TUNNEL_CONNECTION_FAILED at https://user:hunter2@shop.test/\nCall log:\n  - navigating to"),
			fault{kind: drivers.Navigation, net: "net::ERR_TUNNEL_CONNECTION_FAILED"},
		},
		"a download":              {library("Download is starting"), fault{kind: drivers.Download, why: "the address answered with a file"}},
		"an address that is none": {library("Protocol error (Page.navigate): Cannot navigate to invalid URL"), fault{kind: drivers.Navigation, net: "net::ERR_INVALID_URL"}},
		"a crash":                 {library("Target crashed"), fault{kind: drivers.Crashed, why: "the renderer crashed"}},
		"a closed tab":            {fmt.Errorf("%w: gone", pw.ErrTargetClosed), fault{kind: drivers.Closed, why: "the target is closed"}},
		"a lost connection":       {errors.New("Connection closed"), fault{kind: drivers.Closed, why: "the target is closed"}},
		"a panic of the library":  {errors.New("the library panicked: nil"), fault{kind: drivers.Closed, why: "the target is closed"}},
		"a document that went":    {library("Execution context was destroyed, most likely because of a navigation"), fault{kind: drivers.Script, why: errDocumentGone.Error()}},
		"a timeout": {
			late("Timeout 30ms exceeded.\nCall log:\n  - <input value=\"hunter2\"> element is not visible\n"),
			fault{kind: drivers.Timeout, why: "element is not visible"},
		},
		"an unknown text": {library("odd at http://user:hunter2@shop.test\nsecond line"), fault{why: "odd at http://shop.test"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := read(c.err)
			require.Equal(t, c.want, got)
			require.NotContains(t, got.why, "hunter2")
		})
	}
}

func TestProtocolNames(t *testing.T) {
	for version, want := range map[string]string{"HTTP/1.1": "http/1.1", "HTTP/2.0": "h2", "h2": "h2", "": ""} {
		require.Equal(t, want, protocolName(version))
	}
}

func TestNodeMajor(t *testing.T) {
	for version, want := range map[string]int{"v20.20.2": 20, "v8.0.0": 8, "": 0, "nonsense": 0} {
		require.Equal(t, want, nodeMajor(version))
	}
}
