package result

// Unwatched are the trials in which nothing was watched, whose figures can be compared
// with others'; and the rest.
func Unwatched(trials []Trial) (plain, watched []Trial) {
	some := false
	for i := range trials {
		some = some || trials[i].Test.Watched()
	}
	if !some {
		return trials, nil
	}
	for _, t := range trials {
		if t.Test.Watched() {
			watched = append(watched, t)
		} else {
			plain = append(plain, t)
		}
	}
	return plain, watched
}
