import Foundation

/// Counts the instructions that a program executes outside the kernel.
enum InstructionCounter: Sendable {
    /// The processor's own counter, through Linux's `perf`.
    case perf
    /// Valgrind's cachegrind, for machines without such a counter, such as most virtual ones.
    case valgrind

    /// Returns the first tool that works on this machine.
    @concurrent
    static func find() async throws -> InstructionCounter {
        var reasons: [String] = []
        for tool in [InstructionCounter.perf, .valgrind] {
            do {
                _ = try await tool.count("/bin/echo", [])
                return tool
            } catch let absence as NotRun {
                reasons.append(absence.reason)
            }
        }
        throw NotRun("nothing counts instructions here: \(reasons.joined(separator: "; "))")
    }

    /// Runs a program to its end and returns the number of instructions.
    @concurrent
    func count(_ program: String, _ arguments: [String]) async throws -> Double {
        let file = FileManager.default.temporaryDirectory
            .appending(path: "keel-bench-\(UUID().uuidString).count")
        defer { try? FileManager.default.removeItem(at: file) }
        let (tool, options) = command(file.path)
        let run =
            switch self {
            case .perf: try await ProgramRun(tool, options + [program] + arguments)
            case .valgrind: try await Valgrind.run(options, program, arguments)
            }
        guard run.status == 0 else {
            throw NotRun("\(tool) ended with \(run.status): \(run.lastLine)")
        }
        guard let instructions = Self.count(in: try String(contentsOf: file, encoding: .utf8))
        else {
            throw NotRun("\(tool) counts no instructions")
        }
        return instructions
    }

    private func command(_ file: String) -> (tool: String, options: [String]) {
        switch self {
        case .perf:
            ("perf", ["stat", "-x", ",", "-e", "instructions:u", "-o", file, "--"])
        case .valgrind:
            (
                "valgrind",
                ["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=\(file)"]
            )
        }
    }

    /// Reads `123,,instructions:u,…` of perf, or `summary: 123` of cachegrind.
    private static func count(in text: String) -> Double? {
        for line in text.split(separator: "\n") {
            if line.contains("instructions:u") {
                return line.split(separator: ",").first.flatMap { Double($0) }
            }
            if line.hasPrefix("summary:") {
                return line.split(separator: " ").dropFirst().first.flatMap { Double($0) }
            }
        }
        return nil
    }
}

enum Valgrind {
    /// Runs a program to its end under the tool named by the options.
    @concurrent
    static func run(
        _ options: [String],
        _ program: String,
        _ arguments: [String]
    ) async throws -> ProgramRun {
        // Valgrind up to 3.19 fails while reading the debugging information of large Swift programs.
        let bare = FileManager.default.temporaryDirectory
            .appending(path: "keel-bench-\(UUID().uuidString).program").path
        defer { try? FileManager.default.removeItem(atPath: bare) }
        let strip = try await ProgramRun("strip", ["-o", bare, program])
        guard strip.status == 0 else {
            throw NotRun("strip ended with \(strip.status): \(strip.lastLine)")
        }
        return try await ProgramRun("valgrind", options + [bare] + arguments)
    }
}

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
