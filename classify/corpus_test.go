package classify_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/classify"
)

// corpusEnv names a folder of labelled pages: manifest.tsv with the columns file, label, vendor, status and url,
// and the files. Such pages belong to others and are in no repository, so the test is for those who have them.
const corpusEnv = "CLASSIFY_CORPUS"

const (
	leastRecall      = 0.98  // of pages labelled challenge or block
	mostFalseAlarms  = 0.002 // of pages labelled ok
	shownMisjudgings = 40
)

func TestCorpus(t *testing.T) {
	dir := os.Getenv(corpusEnv) //nolint:forbidigo // where somebody else's pages lie on this machine
	if dir == "" {
		t.Skipf("%s names no corpus", corpusEnv)
	}
	c, err := classify.New(classify.Options{})
	require.NoError(t, err)
	total, hits, alarms := map[string]int{}, 0, 0
	classes := map[string]map[classify.Class]int{}
	for _, row := range manifest(t, dir) {
		v := judgeRow(t, c, dir, row)
		label := row["label"]
		total[label]++
		if classes[label] == nil {
			classes[label] = map[classify.Class]int{}
		}
		classes[label][v.Class]++
		wall := v.Stage == classify.StageChallenge || v.Class == classify.Forbidden || v.Class == classify.RateLimited
		switch {
		case label == "challenge" || label == "block":
			if wall {
				hits++
			}
			if v.Stage != classify.StageChallenge || v.Vendor == nil || strings.ReplaceAll(*v.Vendor, "_", "-") != row["vendor"] {
				t.Logf("vendor %-12s %s: %s %v %+v", row["vendor"], row["file"], v.Class, deref(v.Vendor), v.Signals)
			}
		case label == "ok" && (v.Stage == classify.StageChallenge || v.Stage == classify.StageHTTP):
			alarms++
			t.Logf("false alarm %s: %s %+v", row["file"], v.Class, v.Signals)
		}
	}
	for label, n := range total {
		t.Logf("%-10s %4d %v", label, n, classes[label])
	}
	walls := total["challenge"] + total["block"]
	recall, rate := float64(hits)/float64(walls), float64(alarms)/float64(total["ok"])
	t.Logf("wall recall %.4f of %d, false alarms %.4f of %d", recall, walls, rate, total["ok"])
	require.GreaterOrEqual(t, recall, leastRecall)
	require.LessOrEqual(t, rate, mostFalseAlarms)
}

func judgeRow(t *testing.T, c *classify.Classifier, dir string, row map[string]string) classify.Verdict {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, row["file"]))
	require.NoError(t, err)
	status := 200
	if n, err := strconv.Atoi(row["status"]); err == nil {
		status = n
	}
	url := row["url"]
	if url == "" {
		url = "https://page.test/"
	}
	return c.Classify(classify.Evidence{
		HTTP: &classify.Exchange{Status: status, URL: url},
		Page: &classify.Page{URL: url, HTML: classify.Decode(raw, "")},
	}).Verdict
}

func manifest(t *testing.T, dir string) []map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "manifest.tsv"))
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	r := csv.NewReader(f)
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = '\t', true, -1
	lines, err := r.ReadAll()
	require.NoError(t, err)
	var rows []map[string]string
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, cell := range line {
			row[lines[0][i]] = cell
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b map[string]string) int { return strings.Compare(a["file"], b["file"]) })
	return rows
}

func deref(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}
