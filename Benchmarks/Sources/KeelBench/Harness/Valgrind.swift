import Foundation

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
