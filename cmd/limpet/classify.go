package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/andybalholm/cascadia"
	"github.com/spf13/cobra"

	"github.com/limpet-dev/limpet/classify"
)

// maxPageBytes is how much of a saved page is read: far more than the largest page seen (1.96 MB).
const maxPageBytes = 64 << 20

func (a *app) classifyCommand() *cobra.Command {
	var status int
	var headers []string
	var address, marker string
	cmd := &cobra.Command{
		Use:   "classify FILE|URL|-",
		Short: "The verdict on a saved page, and why",
		Long: "Judges a saved page, standard input (-), or the page at a URL, which is visited in a browser with a direct exit.\n" +
			"Headers that are not given count as unknown, not as absent.",
		Example: "  limpet classify page.html --status 403 --header 'cf-mitigated: challenge'\n" +
			"  curl -s https://example.com | limpet classify - --url https://example.com --json",
		Args: oneArg("a file, a URL or -"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if isURL(args[0]) {
				return a.classifyLive(cmd.Context(), args[0], marker)
			}
			raw, err := a.readPage(args[0])
			if err != nil {
				return err
			}
			header, err := parseHeaders(headers)
			if err != nil {
				return err
			}
			if status != 0 && (status < 100 || status > 999) {
				return &hintError{err: fmt.Errorf("status %d is none of HTTP", status), hint: "give a status from 100 to 999, such as --status 403"}
			}
			if marker != "" {
				if _, err := cascadia.ParseGroup(marker); err != nil {
					return &hintError{err: fmt.Errorf("--marker %q is not a CSS selector: %w", marker, err), hint: "--marker '#name'"}
				}
			}
			return a.judge(savedEvidence(raw, status, header, address, marker))
		},
	}
	f := cmd.Flags()
	f.IntVar(&status, "status", 0, "HTTP status of the page (default 200)")
	f.StringArrayVar(&headers, "header", nil, "response header, `'Name: value'`; may be repeated")
	f.StringVar(&address, "url", "", "`address` of the page")
	f.StringVar(&marker, "marker", "", "`CSS` selector without which the page is not useful")
	return cmd
}

func (a *app) readPage(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(io.LimitReader(a.in, maxPageBytes))
	}
	f, err := os.Open(name) //nolint:gosec // to read the file that the user names is the command's purpose
	if err != nil {
		return nil, &hintError{err: fmt.Errorf("page not read: %w", err), hint: "give the path of a saved page, a URL, or - for standard input"}
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxPageBytes))
	if err != nil {
		return nil, &hintError{err: fmt.Errorf("page not read: %w", err), hint: "give a file, not a folder"}
	}
	return raw, nil
}

func parseHeaders(lines []string) (map[string]string, error) {
	header := map[string]string{}
	for _, l := range lines {
		name, value, ok := strings.Cut(l, ":")
		name = strings.ToLower(strings.TrimSpace(name))
		if !ok || name == "" || strings.ContainsAny(name, " \t") {
			return nil, &hintError{err: fmt.Errorf("header %q has no name before a colon", l), hint: "write --header 'Name: value'"}
		}
		value = strings.TrimSpace(value)
		if earlier, ok := header[name]; ok {
			sep := ", "
			if name == "set-cookie" {
				sep = "\n"
			}
			value = earlier + sep + value
		}
		header[name] = value
	}
	return header, nil
}

// savedEvidence is the evidence of a page from a file: nothing is known of its transport.
func savedEvidence(raw []byte, status int, header map[string]string, address, marker string) classify.Evidence {
	if status == 0 {
		status = 200
	}
	html := classify.Decode(raw, header["content-type"])
	ev := classify.Evidence{
		HTTP: &classify.Exchange{Status: status, Header: header, MIMEType: mimeType(header["content-type"]), URL: address, Requested: address},
		Page: &classify.Page{URL: address, HTML: html},
		Now:  time.Now(),
	}
	if marker != "" {
		ev.Expect = &classify.Expectation{Marker: marker}
	}
	return ev
}

func mimeType(contentType string) string {
	if contentType == "" {
		return "text/html"
	}
	m, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(m))
}

// judge prints the verdict on ev.
func (a *app) judge(ev classify.Evidence) error {
	c, err := classify.New(classify.Options{})
	if err != nil {
		return err
	}
	return a.printJudgement(c.Classify(ev))
}

func (a *app) printJudgement(j classify.Judgement) error {
	if a.common.json {
		enc := json.NewEncoder(a.out)
		enc.SetEscapeHTML(false)
		return enc.Encode(struct {
			Verdict classify.Verdict  `json:"verdict"`
			Records []classify.Record `json:"records,omitempty"`
		}{j.Verdict, j.Records})
	}
	_, err := io.WriteString(a.out, classify.Explain(j))
	return err
}

func isURL(s string) bool { return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") }
