#if os(Linux) || os(macOS)
package import Foundation

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Trials that run a program and kill it.
package enum CrashTrial {
    /// Finds a program that the package builds beside the tests.
    ///
    /// - Throws: `CocoaError` with the code `fileNoSuchFile` if it was not built.
    package static func program(_ name: String) throws -> URL {
        var folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        for _ in 0..<6 {
            let candidate = folder.appending(path: name)
            if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
            folder.deleteLastPathComponent()
        }
        throw CocoaError(.fileNoSuchFile)
    }

    /// Runs a program and kills it with `SIGKILL`.
    ///
    /// - Parameters:
    ///   - name: The name of the program.
    ///   - arguments: The arguments of the program.
    ///   - delay: The time until the kill, counted from the first output.
    ///   - waitsForLife: Whether to wait for the first output. Without the wait, some trials end during startup,
    ///     which is most of a short run.
    /// - Returns: The numbers that the program printed, one per line; nil if it exited by itself.
    /// - Throws: The error of starting the process, or `CancellationError`.
    package static func run<Number: FixedWidthInteger>(
        _ name: String,
        _ arguments: [String],
        killedAfter delay: Duration,
        waitsForLife: Bool
    ) async throws -> [Number]? {
        let process = Process()
        process.executableURL = try program(name)
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let handle = output.fileHandleForReading
        var text = Data()
        if waitsForLife { text += handle.availableData }
        // Real time, because a real process has to be killed at an arbitrary moment.
        try await Task.sleep(for: delay)
        kill(process.processIdentifier, SIGKILL)
        text += handle.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationReason == .uncaughtSignal else { return nil }
        return String(decoding: text, as: UTF8.self).split(separator: "\n")
            .compactMap { Number($0) }
    }
}
#endif
