package results

import (
	"bytes"
	"regexp"
)

// foreigners are files that people mistake for results, by how they begin or a line that they have.
var foreigners = []struct {
	is   *regexp.Regexp
	what string
}{
	{regexp.MustCompile(`(?i)^\s*<!doctype html`), "a page, as -o html=PATH writes it: use the result that it was made of"},
	{regexp.MustCompile(`^\s*(<\?xml[^>]*>\s*)?<testsuites?\b`), "a JUnit report: use the result that it was made of"},
	{regexp.MustCompile(`(?m)^Benchmark\S+\s+\d+\s`), "output of Go benchmarks, which benchstat reads: use the result that it was made of"},
	{regexp.MustCompile(`(?m)^#?\[?(StartTime|Histogram log format)`), "a log of histograms: use the result that it was made of"},
	{regexp.MustCompile(`(?m)^\s*(tickTime|clientPort|initLimit)\s*=`), "a configuration of ZooKeeper: name the server with --backend zookeeper://HOST:PORT"},
	{regexp.MustCompile(`^ZKLG`), "a transaction log of ZooKeeper"},
	{regexp.MustCompile(`^ZKSN`), "a snapshot of ZooKeeper"},
	{regexp.MustCompile(`^(\xd4\xc3\xb2\xa1|\xa1\xb2\xc3\xd4|\x4d\x3c\xb2\xa1|\x0a\x0d\x0d\x0a)`), "captured packets, which stampede observe --pcap reads"},
	{regexp.MustCompile(`(?m)^version:\s*\d+\s*$`), "a file of scenarios, which stampede run -f reads"},
}

// foreign says what the text is, if that is known and no result; "" otherwise.
func foreign(text []byte) string {
	text = bytes.ToValidUTF8(text[:min(len(text), 4096)], []byte{'?'})
	for _, f := range foreigners {
		if f.is.Match(text) {
			return f.what
		}
	}
	return ""
}
