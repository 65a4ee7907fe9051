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
