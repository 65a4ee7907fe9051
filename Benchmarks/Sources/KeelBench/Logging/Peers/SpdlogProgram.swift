import Foundation

/// A program that logs with spdlog, compiled with the system's C++ compiler on first use.
final class SpdlogProgram: Sendable {
    private let folder: WorkFolder

    @concurrent
    init(_ options: Options) async throws {
        folder = try WorkFolder("spdlog", in: options.folder)
        let source = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "spdlog-records.cpp").path
        guard try await ProgramRun("c++", ["--version"]).status == 0 else {
            throw NotRun("there is no C++ compiler of the name c++")
        }
        // With the compiled library of Debian and Homebrew, not header-only.
        let definitions = ["-DSPDLOG_COMPILED_LIB", "-DSPDLOG_FMT_EXTERNAL"]
        let run = try await ProgramRun(
            "c++",
            ["-std=c++17", "-O2", "-o", folder.path("spdlog-records"), source] + definitions
                + Self.homebrew + ["-lspdlog", "-lfmt", "-pthread"]
        )
        guard run.status == 0 else {
            throw NotRun(
                run.output.contains("spdlog/") || run.output.contains("-lspdlog")
                    ? "spdlog is missing (Debian: libspdlog-dev)" : "c++: \(run.lastLine)"
            )
        }
    }

    /// Homebrew's library folder, which compilers do not search by default.
    private static var homebrew: [String] {
        ["/opt/homebrew", "/usr/local"]
            .filter { FileManager.default.fileExists(atPath: "\($0)/include/spdlog") }
            .flatMap { ["-I\($0)/include", "-L\($0)/lib"] }
    }

    /// Returns the microseconds of a record.
    @concurrent
    func run(_ file: String, count: Int, warmUp: Int) async throws -> Double {
        try await ProgramRun(folder.path("spdlog-records"), [file, "\(count)", "\(warmUp)"])
            .number()
    }
}
