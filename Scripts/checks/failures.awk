# Prints the lines of a test run's output that tell why it failed, and what follows each: the compiler's and
# swift-testing's own marks, crashes, and the tests that run-tests.py names, which no limit cuts off.
# Known issues fail nothing.

/recorded a known issue/ { next }
/PASSED ONLY|STALLED|==> Failed/ { names = 12 }
/error:|✘|recorded an issue|Fatal error|Crash:|signal code/ { if (following < 3) following = 3 }
names > 0 { print; names--; next }
following > 0 { following--; if (lines++ < 100) print }
