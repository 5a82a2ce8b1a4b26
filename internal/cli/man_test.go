package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Every command has a page of its own that says all of its flags, and roff reads it
// without a complaint.
func TestManPages(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "man1")
	if status := Run(context.Background(), []string{"man", folder}, io.Discard, os.Stderr); status != ExitDone {
		t.Fatalf("exit status %d", status)
	}
	root := newRoot(nil)
	root.InitDefaultCompletionCmd()
	all := commands(root)
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != len(all) {
		t.Fatalf("%d pages of %d commands, %v", len(files), len(all), err)
	}
	for _, c := range all {
		name := filepath.Join(folder, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1")
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(page), `\`, "")
		for _, f := range strings.Fields(c.Flags().FlagUsages()) {
			if strings.HasPrefix(f, "--") && !strings.Contains(text, f) {
				t.Errorf("%s says nothing of %s", filepath.Base(name), f)
			}
		}
		if groff, err := exec.LookPath("groff"); err == nil {
			said, err := exec.Command(groff, "-man", "-ww", "-z", "-Tutf8", name).CombinedOutput()
			if err != nil || len(said) > 0 {
				t.Errorf("%s: %v %s", filepath.Base(name), err, said)
			}
		}
	}
	var printed, again bytes.Buffer
	for _, w := range []io.Writer{&printed, &again} {
		if status := Run(context.Background(), []string{"man"}, w, os.Stderr); status != ExitDone {
			t.Fatalf("exit status %d", status)
		}
	}
	if printed.String() != again.String() || !strings.Contains(printed.String(), ".TH") {
		t.Error("the page is none, or not the same each time")
	}
}

func TestManRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[int][]string{ExitUsage: {"man", "a", "b"}, ExitUnmeasured: {"man", filepath.Join(file, "x")}} {
		var said bytes.Buffer
		if status := Run(context.Background(), args, io.Discard, &said); status != want || strings.Count(said.String(), "\n") != 1 {
			t.Errorf("%q: exit status %d, want %d: %s", args, status, want, said.String())
		}
	}
}

// What a shell is offered for words and for flags' values.
func TestCompletion(t *testing.T) {
	for line, want := range map[string]string{
		"lab rx":                       "rx-context",
		"tests udp_":                   "udp_rr",
		"lab --format m":               "markdown",
		"compare --color n":            "never",
		"run x --tests tcp_c":          "tcp_crr",
		"ab --lab e":                   "ether",
		"show --store nowhere.db some": ":0", // files too, and no run
	} {
		var out bytes.Buffer
		args := append([]string{"__complete"}, strings.Fields(line)...)
		if status := Run(context.Background(), args, &out, io.Discard); status != ExitDone || !strings.Contains(out.String(), want) {
			t.Errorf("%q: exit status %d, %q, want %q", line, status, out.String(), want)
		}
	}
	if _, err := os.Stat("nowhere.db"); err == nil {
		t.Error("completion made a store")
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		var out bytes.Buffer
		if status := Run(context.Background(), []string{"completion", shell}, &out, io.Discard); status != ExitDone || !strings.Contains(out.String(), "netdelta") {
			t.Errorf("%s: exit status %d", shell, status)
		}
	}
}
