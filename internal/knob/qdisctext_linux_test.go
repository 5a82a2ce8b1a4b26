package knob

import (
	"maps"
	"testing"

	"pgregory.net/rapid"
)

// The kernel keeps CoDel's times in units of 1024 ns and tells whole us: what it
// told, handed back as restoring does it, gives the same units.
func TestCodelTimesComeBack(t *testing.T) {
	units := func(us uint32) uint32 { return uint32(uint64(us) * 1000 >> 10) }
	tell := func(units uint32) uint32 { return uint32(uint64(units) << 10 / 1000) }
	rapid.Check(t, func(t *rapid.T) {
		asked := rapid.Uint32Range(0, 1<<31).Draw(t, "us")
		kept := units(asked)
		if got := codelTime(asked); got != tell(kept) {
			t.Fatalf("%d us are told as %d, not %d", asked, got, tell(kept))
		}
		if again := units(tell(kept) + 1); again != kept {
			t.Fatalf("%d us are kept as %d, and restored as %d", asked, kept, again)
		}
	})
}

func TestQdiscOptionsComeBack(t *testing.T) {
	for _, asked := range []string{"fq limit 1000 quantum 3028", "fq_codel target 5000 interval 100000 flows 64 ecn 1", "codel target 1", "pfifo limit 3", "mq", "noqueue"} {
		q, k, err := parseQdisc(asked)
		if err != nil {
			t.Fatal(err)
		}
		// As the kernel tells it.
		q.raw, q.handle = k.optionsOf(q.numbers), 0x80010000
		if q.numbers, err = k.numbersOf(q.raw); err != nil {
			t.Fatal(err)
		}
		for _, o := range k.options {
			if n, ok := q.numbers[o.name]; ok && o.codel {
				q.numbers[o.name] = codelTime(n)
			}
		}
		q.raw = k.optionsOf(q.numbers)
		read := q.text()
		if !equalQdisc(read, asked) || !equalQdisc(read, read) {
			t.Errorf("%q reads %q, which is not it", asked, read)
		}
		back, err := parseQdiscWas(read)
		if err != nil || back.text() != read || back.handle != q.handle || !maps.Equal(back.numbers, q.numbers) {
			t.Errorf("%q came back as %q, %v", read, back.text(), err)
		}
		options, err := k.restoring(back)
		if err != nil {
			t.Fatal(err)
		}
		is, err := k.numbersOf(append(options, make([]byte, 0)...))
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range k.options {
			n, told := q.numbers[o.name]
			want := n
			if o.codel && told {
				want++
			}
			if is[o.name] != want {
				t.Errorf("%s: %s is restored as %d, want %d", asked, o.name, is[o.name], want)
			}
		}
	}
}

func TestEqualQdisc(t *testing.T) {
	for _, c := range []struct {
		read, asked string
		want        bool
	}{
		{"noqueue default", "noqueue", true},
		{"noqueue default", "default", true},
		{"pfifo_fast default", "noqueue default", true}, // restored: the kernel's choice again
		{"pfifo default", "pfifo limit 5", false},
		{"noqueue handle 8001:", "default", false},
		{"pfifo limit 5 handle 8001:", "pfifo", true},
		{"pfifo limit 5 handle 8001:", "pfifo limit 6", false},
		{"pfifo limit 5 handle 8001:", "pfifo limit 5 handle 8002:", false},
		{"pfifo limit 5 handle 8001:", "bfifo limit 5", false},
		{"codel target 4999 handle 8001:", "codel target 5000", true},
		{"fq limit 10 handle 8001: raw 0800", "fq quantum 3", false},
		{"", "pfifo", false},
		{"pfifo limit", "pfifo", false},
	} {
		if got := equalQdisc(c.read, c.asked); got != c.want {
			t.Errorf("%q for %q: %v", c.read, c.asked, got)
		}
	}
}

func TestQdiscText(t *testing.T) {
	for _, bad := range []string{"", "pfifo limit", "pfifo limit x", "pfifo limit 4294967296", "pfifo limit 1 limit 2", "cake", "mq limit 3"} {
		if q, _, err := parseQdisc(bad); err == nil {
			t.Errorf("%q is %+v", bad, q)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`(pfifo|fq|mq|x)?( (limit|handle|raw|below|lasting|default|[0-9a-f:]{0,6}))*`).Draw(t, "text")
		if q, err := parseQdiscWas(text); err == nil {
			_ = q.text()
		}
		equalQdisc(text, text)
		if k, err := qdiscKindOf("fq"); err == nil {
			_, _ = k.again([]byte(text))
			_, _ = k.numbersOf([]byte(text))
		}
	})
}
