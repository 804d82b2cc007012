// Goroutines for stacks.c, which calls them: each runs in user code on a small stack, where signals find it.
package main

import "C"

func down(n, x int) int {
	if n == 0 {
		return x & 1
	}
	return down(n-1, x+1) + 1
}

//export run_goroutines
func run_goroutines() C.int {
	ended := make(chan int)
	for n := 0; n < 8; n++ {
		go func() {
			for i := 0; i < 2000; i++ {
				answer := make(chan int)
				go func() { answer <- down(20, i) }()
				<-answer
			}
			ended <- 1
		}()
	}
	sum := 0
	for n := 0; n < 8; n++ {
		sum += <-ended
	}
	return C.int(sum)
}

func main() {}
