package e2e_test

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Credentials, cookies and typed secrets are in nothing that a run leaves.
func TestNoSecretIsLeftAnywhere(t *testing.T) {
	eachDriver(t, func(t *testing.T, w *world) {
		t.Helper()
		o := w.run(t.Context(), t, 2, w.load(t, header("  trace: { failed: true, sample: 1 }")+`  - id: orders
    identity: { key: eve }
    steps:
      - goto: https://shop.test/login
      - fill: { selector: "#user", value: "{{env.SHOP_USER}}" }
      - fill: { selector: "#pass", secret: "{{env.SHOP_PASS}}" }
      - click: { selector: "button[type=submit]" }
      - wait: { selector: tr.order }
    expect: { marker: h1.orders, records: { each: tr.order, fields: { id: td.id } } }
`+product("wall", "bob", "https://wall.test/product/p-1?fault=captcha")))
		p := w.set.Config()
		secrets := map[string]string{"provider password": p.ProviderPass, "shop password": p.ShopPass}
		for _, v := range w.set.Shop.AllVisits() {
			for name, value := range v.Cookies {
				if name != "visitor" { // which is the exit's address, and no secret
					secrets["cookie "+name] = value
				}
			}
		}
		require.Greater(t, len(secrets), 2, "the login made a cookie")
		files := contents(t, o.out)
		require.Greater(t, len(files), 10)
		for what, s := range secrets {
			for _, form := range []string{s, url.QueryEscape(s), base64.StdEncoding.EncodeToString([]byte(s)), base64.StdEncoding.EncodeToString([]byte(p.ProviderUser + ":" + s))} {
				for name, raw := range files {
					require.NotContains(t, string(raw), form, "%s in %s", what, name)
				}
			}
		}
	})
}

// contents reads every file below dir, and what is in its archives.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		all[path] = raw
		if filepath.Ext(path) != ".zip" {
			return nil
		}
		z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				return err
			}
			if all[path+"!"+f.Name], err = io.ReadAll(r); err != nil {
				return err
			}
		}
		return nil
	}))
	return all
}
