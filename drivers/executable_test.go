package drivers_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/drivers"
)

func TestFindExecutableTakesANamedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "my-chromium")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700))
	got, err := drivers.FindExecutable(path)
	require.NoError(t, err)
	require.Equal(t, path, got)
}

func TestFindExecutableSaysWhatToDo(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain.txt")
	require.NoError(t, os.WriteFile(plain, nil, 0o600))
	cases := map[string]struct{ kind, want string }{
		"a path that does not exist":       {filepath.Join(t.TempDir(), "none"), "no such file or directory: correct browser.executable"},
		"a file that cannot be executed":   {plain, "not an executable file: correct browser.executable"},
		"a folder":                         {t.TempDir(), "not an executable file"},
		"a name that is none of the kinds": {"netscape", "unknown browser: use chromium-headless-shell, chromium or a path"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := drivers.FindExecutable(c.kind)
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, c.kind)
			require.Equal(t, drivers.LaunchFailed, drivers.KindOf(err))
		})
	}
}

func TestFindExecutableNamesThePackageToInstall(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := drivers.FindExecutable(drivers.Chromium)
	require.ErrorIs(t, err, drivers.ErrNoBrowser)
	require.ErrorContains(t, err, "install Debian's package chromium-headless-shell")
}

func TestFlagsFailClosed(t *testing.T) {
	flags := drivers.Flags(drivers.LaunchOptions{})
	require.Subset(t, flags, []string{
		"--proxy-server=http://127.0.0.1:9",
		"--proxy-bypass-list=<-loopback>",
		"--webrtc-ip-handling-policy=disable_non_proxied_udp",
		"--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
	})
	for _, flag := range flags {
		require.NotContains(t, flag, "spki")
	}
	require.Contains(t, drivers.Flags(drivers.LaunchOptions{TrustSPKI: []string{"a=", "b="}}),
		"--ignore-certificate-errors-spki-list=a=,b=")
}
