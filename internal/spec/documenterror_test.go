package spec

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// Every error has its line, its column, and a caret below the place, which the
// examples mark with a ^ in a line of its own.
func TestDocumentErrors(t *testing.T) {
	const ok = "factors: {gro: {set: gro, levels: [on, off]}}\n"
	for _, c := range []struct{ text, want, place string }{
		{"factors:\n  gro: {set: grow, levels: [on, off]}\n", "factor gro: unknown knob \"grow\": valid are gro, ",
			"line 2, column 14\n  gro: {set: grow, levels: [on, off]}\n             ^"},
		{"factors:\n  gro: {set: gro, levels: [on, offf]}\n", `factor gro: level offf: knob gro: "offf" is none: valid are on, off`,
			"line 2, column 32\n  gro: {set: gro, levels: [on, offf]}\n                               ^"},
		{"factors:\n  gro: {set: gro, levels: [on, off], baseline: of}\n", `baseline "of" is none of its levels on, off`,
			"line 2, column 48\n  gro: {set: gro, levels: [on, off], baseline: of}\n                                               ^"},
		{"factors:\n  gro: {set: gro, levels: [on, on]}\n", "level on is named twice",
			"line 2, column 32\n  gro: {set: gro, levels: [on, on]}\n                               ^"},
		{"factors:\n  gro: {set: gro@here, levels: [on, off]}\n", `end "here" is none: valid are local, remote, both`,
			"line 2, column 14\n  gro: {set: gro@here, levels: [on, off]}\n             ^"},
		{"factors:\n  b:\n    levels:\n      x: {gro: on, tso: on}\n      y: {gro: off}\n", "factor b: level y does not say what tso@local is, which level x sets",
			"line 5, column 7\n      y: {gro: off}\n      ^"},
		{"factors:\n  b:\n    levels:\n      x: {gro: on}\n      y: {gro: offf}\n", `level y: knob gro: "offf" is none`,
			"line 5, column 16\n      y: {gro: offf}\n               ^"},
		{"factors:\n  a: {set: gro, levels: [on, off]}\n  b: {set: gro@local, levels: [on, off]}\n", "factors a and b both set gro@local",
			"line 3, column 3\n  b: {set: gro@local, levels: [on, off]}\n  ^"},
		{"factors:\n  a: {set: gro, levels: [on, off], slowly: true}\n", `it has no key "slowly": valid are slow, `,
			"line 2, column 36\n  a: {set: gro, levels: [on, off], slowly: true}\n                                   ^"},
		{"factors:\n  a: {set: qdisc, levels: [fq, fq limit 10]}\n", "a level with such a value needs a name",
			"line 2, column 32\n  a: {set: qdisc, levels: [fq, fq limit 10]}\n                               ^"},
		{"factors:\n  a: {set: command, levels: [./x, ./y]}\n", "commands need names",
			"line 2, column 29\n  a: {set: command, levels: [./x, ./y]}\n                            ^"},
		{"factors:\n  a: {set: command, levels: {x: {restore: ./y}, y: ./z}}\n", "apply is empty",
			"line 2, column 33\n  a: {set: command, levels: {x: {restore: ./y}, y: ./z}}\n                                ^"},
		{"factors:\n  a: {set: gro, levels: [on, off-again]}\n", "level off-again is off a second time, and there is no off",
			"line 2, column 30\n  a: {set: gro, levels: [on, off-again]}\n                             ^"},
		{"factors:\n  a: {set: param.send, levels: [write, uring]}\ntests: icmp_echo\n", "no test of the plan takes send",
			"line 2, column 3\n  a: {set: param.send, levels: [write, uring]}\n  ^"},
		{"factors:\n  a: {set: link-mtu, levels: [1500, 9000]}\n", "link-mtu is of a lab's link, and the plan has no lab",
			"line 2, column 3\n  a: {set: link-mtu, levels: [1500, 9000]}\n  ^"},
		{ok + "tests:\n  - udp_rr\n  - udp_r size=1\n", `unknown test "udp_r"`, "line 4, column 5\n  - udp_r size=1\n    ^"},
		{ok + "tests: [udp_rr, tcp_rr, udp_rr size=1]\n", `test "udp_rr size=1" is named twice`,
			"line 2, column 25\ntests: [udp_rr, tcp_rr, udp_rr size=1]\n                        ^"},
		{ok + "sizes: [1, 0]\n", "sizes: size 0 is out of range", "line 2, column 12\nsizes: [1, 0]\n           ^"},
		{ok + "time: 500\n", `time is a number with a unit, as in 500ms, 1.5s or 10m, not "500"`, "line 2, column 7\ntime: 500\n      ^"},
		{ok + "time: 5ms\n", "time 5ms is out of range: 50ms to 1h0m0s", "line 2, column 7\ntime: 5ms\n      ^"},
		{ok + "blocks: 0\n", "blocks 0 is out of range", "line 2, column 9\nblocks: 0\n        ^"},
		{ok + "blocks: 5\nprecision: 1%\n", "blocks 5 leave a run to a precision no room", "line 2, column 9\nblocks: 5\n        ^"},
		{ok + "margin: 0.02\n", "margin is a percentage with its sign", "line 2, column 9\nmargin: 0.02\n        ^"},
		{"factors: {}\n", "gro: {set: gro, levels: [on, off]}}, not an empty mapping", "line 1, column 10\nfactors: {}\n         ^"},
		{"factors:\n\tgro: {set: gro, levels: [on, off]}\n", "a line is indented with blanks, not tabs", "line 2, column 1\n\tgro: {set: gro, levels: [on, off]}\n^"},
		{ok + "seed: -1\n", `seed "-1" is no whole number`, "line 2, column 7\nseed: -1\n      ^"},
		{ok + "metrics: [rtt_p50, a/b]\n", `metric "a/b" is no name`, "line 2, column 20\nmetrics: [rtt_p50, a/b]\n                   ^"},
		{ok + "block: 5\n", `a plan has no key "block": valid are blocks, `, "line 2, column 1\nblock: 5\n^"},
		{ok + "blocks: 5\nblocks: 6\n", `"blocks" already defined`, "line 3, column 1\nblocks: 6\n^"},
		{ok + "lab: {link: wire}\n", `link: "wire" is none: valid are veth, ether`, "line 2, column 13\nlab: {link: wire}\n            ^"},
		{ok + "lab: {}\nhosts: {remote: x}\n", "hosts or a lab, not both", "line 2, column 6\nlab: {}\n     ^"},
		{ok + "hosts: {cpu-local: x}\n", `cpu-local: "x" is no list of CPUs`, "line 2, column 20\nhosts: {cpu-local: x}\n                   ^"},
		{ok + "fraction: 1/2\n", "fraction 1/2 of 1 factors is too small to tell their effects apart: the smallest is all of them",
			"line 2, column 11\nfraction: 1/2\n          ^"},
		{ok + "variants:\n  - {gro: on}\n  - {gro: of}\n", `"of" is no level of factor gro`, "line 4, column 11\n  - {gro: of}\n          ^"},
		{ok + "variants:\n  - {gro: on}\n  - {grow: off}\n", `there is no factor "grow"`, "line 4, column 6\n  - {grow: off}\n     ^"},
		{ok + "variants:\n  - {gro: on}\n  - {gro: on}\n", `variant "gro=on" is chosen twice`, "line 4, column 5\n  - {gro: on}\n    ^"},
		{ok + "soak: &x true\n", "an anchor (&) is no part of a plan", "line 2, column 7\nsoak: &x true\n      ^"},
		{ok + "soak: *x\n", "an alias (*)", "line 2, column 7\nsoak: *x\n      ^"},
		{ok + "soak: [true\n", "", "line 2, column 7\nsoak: [true\n      ^"},
		{ok + "question: \"größe\x01\"\nsoak: x\n", "question has control characters", "line 2, column 11\nquestion: \"größe?\"\n          ^"},
		{ok + "größe: x\n", `no key "größe"`, "line 2, column 1\ngröße: x\n^"},
		{"factors: {größe: {set: gro, levels: [on, off]}}", "has 'ö' in it", "line 1, column 11\nfactors: {größe: {set: gro, levels: [on, off]}}\n          ^"},
		{ok + "a\xff: x\n", "there is no text: a plan file is UTF-8", "line 2, column 2\na\ufffd: x\n ^"},
		{"", "the file is empty", "line 1, column 1\n\n^"},
		{"- x\n", "a plan is a mapping of name, question, ", "line 1, column 1\n- x\n^"},
		{"name: x\n", "no factor named: nothing would vary", "line 1, column 1\nname: x\n^"},
		{ok + "---\nx: y\n", "a second document", "line 3, column 2\nx: y\n ^"},
	} {
		_, err := ParseDocument([]byte(c.text))
		if err == nil {
			t.Errorf("%q is accepted", c.text)
			continue
		}
		first, excerpt, _ := strings.Cut(err.Error(), "\n")
		place, message, _ := strings.Cut(first, ": ")
		if place+"\n"+excerpt != c.place || !strings.Contains(message, c.want) {
			t.Errorf("%q:\n%v\nwant %q at\n%s", c.text, err, c.want, c.place)
		}
	}
}

// The error that the documentation shows is the one that there is.
func TestDocumentedError(t *testing.T) {
	text, err := os.ReadFile("../../docs/plans.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, plan := range examples(t) {
		if !strings.HasPrefix(name, "name: gro-and") || name == "everything" {
			continue
		}
		_, err := ParseDocument([]byte(strings.Replace(plan, "gso@local, levels: [on, off]", "gso@local, levels: [on, offf]", 1)))
		if err == nil || !strings.Contains(string(text), "```\n"+err.Error()+"\n```") {
			t.Errorf("the documentation does not have the error\n%v", err)
		}
	}
}

func TestLongLinesAreCut(t *testing.T) {
	_, err := ParseDocument([]byte("x: 1 # " + strings.Repeat("ü", 5000)))
	lines := strings.Split(fmt.Sprint(err), "\n")
	if len(lines) != 3 || utf8.RuneCountInString(lines[1]) != maxExcerpt || lines[2] != "^" {
		t.Errorf("got %q", lines)
	}
	source, caret := excerpt(strings.Repeat("a", 500)+"b"+strings.Repeat("c", 500), 501)
	if source[strings.IndexByte(caret, '^')] != 'b' {
		t.Errorf("got\n%s\n%s", source, caret)
	}
	if _, caret := excerpt("\t\ta", 3); caret != "\t\t^" {
		t.Errorf("tabs: got %q", caret)
	}
}

// What would hang or exhaust a parser is refused, and soon.
func TestHostileDocuments(t *testing.T) {
	for _, unit := range []string{"[", "{", "- ", "? ", "a: ", "{a: ", "[[a],", "!x ", "&a ", "|\n", "'", "\"", "a:\n", "- - \n", "#\n", "\t", "%", "--- \n", ": ", "<<: *a\n", "\"\\", "a: |\n  x\n", "\r"} {
		for _, n := range []int{1000, MaxDocument / 16} {
			text := strings.Repeat(unit, n/len(unit)+1)
			start := time.Now()
			if _, err := ParseDocument([]byte(text)); err == nil {
				t.Errorf("%q, many times, is a plan", unit)
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("%q, %d bytes: %v", unit, n, took)
			}
		}
	}
	var deep strings.Builder
	for i := range 400 {
		deep.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	if _, err := ParseDocument([]byte(deep.String())); err == nil || !strings.Contains(err.Error(), "beyond column") {
		t.Errorf("deep blocks: got %.80s", fmt.Sprint(err))
	}
	var wide strings.Builder
	for i := range maxTokens / 4 {
		fmt.Fprintf(&wide, "k%d: v\n", i)
	}
	start := time.Now()
	if _, err := ParseDocument([]byte(wide.String())); err == nil || time.Since(start) > 20*time.Second {
		t.Errorf("many keys: %v after %v", err, time.Since(start))
	}
	if _, err := ParseDocument(make([]byte, MaxDocument+1)); err == nil {
		t.Error("a file beyond the limit is a plan")
	}
}

func FuzzParseDocument(f *testing.F) {
	f.Add([]byte(everything))
	f.Add([]byte("factors: {gro: {set: gro, levels: [on, off]}}\nvariants: [{gro: on}, {gro: off}]"))
	f.Add([]byte("lab: {link: ether}\nfactors:\n  a: {levels: {x: {link: veth}, y: {link: ether}, y-again: }}\n"))
	f.Add([]byte("a: |\n x\nb: >-\n  y\n? z"))
	f.Add([]byte("factors: {a: {set: gro, levels: [on, off]}, b: {set: tso, levels: [on, off]}, c: {set: sg, levels: [on, off]}}\nfraction: 1/2"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := ParseDocument(data)
		if err != nil {
			if lines := strings.Split(err.Error(), "\n"); len(lines) != 3 || !strings.HasPrefix(lines[0], "line ") || !strings.HasSuffix(lines[2], "^") {
				t.Errorf("the error is not of three lines: %q", err.Error())
			}
			return
		}
		if err := d.Plan.Validate(); err != nil {
			t.Errorf("the plan is not valid: %v", err)
		}
	})
}
