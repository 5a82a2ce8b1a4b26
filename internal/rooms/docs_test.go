package rooms

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var quoted = regexp.MustCompile("`([^`]+)`")

// documented reads the table of rooms: each room's layer, as printed. A row
// without a layer is of the one above it.
func documented(text string) map[string]string {
	rooms := map[string]string{}
	layer := ""
	for line := range strings.Lines(text) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			continue
		}
		if l := strings.TrimSpace(cells[1]); l != "" {
			layer = l
		}
		for _, m := range quoted.FindAllStringSubmatch(cells[2], -1) {
			rooms[m[1]] = layer
		}
	}
	return rooms
}

// TestRoomsAreDocumented compares the layers with the table in
// docs/architecture.md.
func TestRoomsAreDocumented(t *testing.T) {
	const file = "docs/architecture.md"
	text, err := os.ReadFile("../../" + file)
	if err != nil {
		t.Fatal(err)
	}
	rooms := documented(string(text))
	for _, layer := range layers {
		for _, room := range layer.rooms {
			switch in, ok := rooms[room]; {
			case !ok:
				t.Errorf("%s: its table does not name room %s", file, room)
			case !strings.EqualFold(in, layer.name):
				t.Errorf("%s: its table has room %s in layer %s, it is in %s", file, room, in, layer.name)
			}
			delete(rooms, room)
		}
	}
	for room := range rooms {
		t.Errorf("%s: its table names room %s, which is in no layer", file, room)
	}
}

func TestDocumented(t *testing.T) {
	got := documented("| layer | room | owns |\n|---|---|---|\n| pure | `a` | x of `y` |\n| | `b`, `b/c` | z |\n`d`\n| top | `e` | |\n")
	want := map[string]string{"a": "pure", "b": "pure", "b/c": "pure", "e": "top"}
	if len(got) != len(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for room, layer := range want {
		if got[room] != layer {
			t.Errorf("room %s is in layer %q, want %q", room, got[room], layer)
		}
	}
}
