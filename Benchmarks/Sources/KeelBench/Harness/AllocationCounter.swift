/// Counts a program's memory allocations.
enum AllocationCounter {
    /// Runs a program to its end under valgrind, whose allocator counts, and returns the number of allocations.
    @concurrent
    static func count(_ program: String, _ arguments: [String]) async throws -> Double {
        // Checks for uninitialized memory are off, because they are slow.
        let options = ["--tool=memcheck", "--undef-value-errors=no", "--leak-check=no"]
        let run = try await Valgrind.run(options, program, arguments)
        guard run.status == 0 else {
            throw NotRun("valgrind ended with \(run.status): \(run.lastLine)")
        }
        guard let count = count(in: run.output) else {
            throw NotRun("valgrind counts no allocations")
        }
        return count
    }

    /// Reads `==7== total heap usage: 1,234 allocs, 1,200 frees, 56,789 bytes allocated`.
    private static func count(in text: String) -> Double? {
        let line = text.split(separator: "\n").last { $0.contains("total heap usage:") }
        let words = line?.split(separator: " ") ?? []
        guard let place = words.firstIndex(of: "allocs,"), place > 0 else { return nil }
        return Double(words[place - 1].filter { $0 != "," })
    }
}
